"""Tiled products: laws of what is moved and what fits, and the counts of a loop that is run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import tile_traffic

SIDES = st.integers(1, 40)
POWERS = st.integers(0, 8).map(lambda exponent: 2**exponent)
PRODUCT: dict[str, Any] = {"m": 8, "n": 8, "k": 8, "tile": 4}


def moved(m: int, n: int, k: int, tile: float, width: float = 2.0) -> float:
    return tile_traffic(m=m, n=n, k=k, tile=tile, bytes_per_param=width)["bytes"]


@given(SIDES, SIDES, SIDES, st.integers(1, 50))
def test_no_tile_moves_less_than_each_matrix_once(m: int, n: int, k: int, tile: int) -> None:
    """And one tile for the whole result moves exactly that, as the calculator counts it."""
    least = calculate("arithmetic-intensity", m=m, n=n, k=k)["bytes"]
    assert moved(m, n, k, tile) >= least
    assert moved(m, n, k, max(m, n)) == least


@given(SIDES, SIDES, SIDES, POWERS)
def test_a_larger_tile_never_moves_more(m: int, n: int, k: int, tile: int) -> None:
    assert moved(m, n, k, 2 * tile) <= moved(m, n, k, tile)


@given(SIDES, SIDES, SIDES, st.integers(1, 50))
def test_bytes_are_those_of_a_loop_that_fetches(m: int, n: int, k: int, tile: int) -> None:
    """Each tile fetches its strips, less what sticks out, and writes its results."""
    strips = sum(
        (min(tile, m - i) + min(tile, n - j)) * k
        for i in range(0, m, tile)
        for j in range(0, n, tile)
    )
    assert moved(m, n, k, tile) == 2 * (strips + m * n)


@given(st.integers(1, 6).map(lambda exponent: 2**exponent), POWERS)
def test_the_bytes_are_those_of_the_chapter(side: int, tile: int) -> None:
    """b (2 n^3 / t + n^2) for square matrices that the tile divides."""
    side = max(side, tile)
    assert moved(side, side, side, tile) == 2 * (2 * side**3 / tile + side**2)


def test_a_long_product_has_the_intensity_of_its_tiles() -> None:
    """t / b, less what the result costs: 64 for a side of 128 in bf16."""
    long = tile_traffic(m=256, n=128, k=10**8, tile=128)
    assert long["intensity"] == 128 / 2
    assert 2 * 256 * 128 * 10**8 / long["bytes"] == pytest.approx(long["intensity"], rel=1e-5)


@given(st.floats(600, 1e9), st.sampled_from([1.0, 2.0, 4.0]), st.sampled_from([16.0, 32.0, 64.0]))
def test_the_largest_tile_fits_and_the_next_does_not(
    memory: float, width: float, depth: float
) -> None:
    kernel = {"m": 1, "n": 1, "k": 1, "bytes_per_param": width, "depth": depth}
    side = tile_traffic(**kernel, tile=1, near_memory=memory)["largest_tile"]
    assert side.is_integer()
    if side:
        assert tile_traffic(**kernel, tile=side)["tile_bytes"] <= memory * (1 + 1e-12)
    assert tile_traffic(**kernel, tile=side + 1)["tile_bytes"] > memory * (1 - 1e-12)


def test_a_tile_holds_its_sums_and_two_pairs_of_slices() -> None:
    """128 by 128 sums of 4 bytes, and four slices of 128 by 64 in 2 bytes: 128 KiB in all."""
    kernel = tile_traffic(m=128, n=128, k=64, tile=128, near_memory=128 * 1024)
    assert kernel["tile_bytes"] == 128 * 128 * 4 + 4 * 128 * 64 * 2 == 128 * 1024
    assert kernel["largest_tile"] == 128


def test_tiles_of_128_do_not_feed_an_h100_from_memory() -> None:
    """128 by 128 in 16 bits is 64 FLOP/byte; the chip asks for more than four times that.

    nvidia2023matrix gives tiles and their efficiency.
    """
    ridge = calculate("ridge-point", chip="h100-sxm")["flop_per_byte"]
    assert tile_traffic(m=8192, n=8192, k=8192, tile=128)["intensity"] == 64 < ridge / 4


def test_without_a_memory_the_largest_tile_is_open() -> None:
    assert calculate("tile-traffic", m=8, n=8, k=8, tile=4)["largest_tile"] is None


def test_the_width_follows_the_number_format() -> None:
    narrow, wide = (
        calculate("tile-traffic", **PRODUCT, dtype=name)["bytes"] for name in ("fp8", "bf16")
    )
    assert wide == 2 * narrow


def test_arrays_equal_floats() -> None:
    tiles = np.array([1.0, 3.0, 128.0])
    curve = tile_traffic(**{**PRODUCT, "tile": tiles, "near_memory": 1e5})
    for name, column in curve.items():
        single = [
            tile_traffic(**{**PRODUCT, "tile": t, "near_memory": 1e5})[name] for t in tiles.tolist()
        ]
        assert np.broadcast_to(column, 3).tolist() == single, name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"m": 0}, "m is 0, expected at least 1"),
        ({"k": 1.5}, "expected a whole number"),
        ({"tile": 0}, "tile is 0, expected at least 1"),
        ({"depth": -1}, "depth is -1, expected at least 1"),
        ({"near_memory": 0}, "near_memory is 0, expected more than 0"),
        ({"bytes_per_param": math.nan}, "bytes_per_param is not a number"),
    ],
)
def test_refused_values_say_what_was_expected(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        tile_traffic(**{**PRODUCT, **wrong})
