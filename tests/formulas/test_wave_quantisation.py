"""Waves of tiles: counted as they are dealt out, full where everything divides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate
from flopbook.errors import FlopbookError
from flopbook.formulas import wave_quantisation

SIDES, TILES = st.integers(1, 40), st.integers(1, 8)
PRODUCT: dict[str, Any] = {"m": 1536, "n": 1408, "tile_m": 128, "tile_n": 128, "processors": 132}


@given(SIDES, SIDES, TILES, TILES, st.integers(1, 30))
def test_waves_are_counted_as_they_are_dealt_out(
    m: int, n: int, rows: int, columns: int, processors: int
) -> None:
    """Against a list of tiles that processors take one after the other."""
    tiles = [(i, j) for i in range(0, m, rows) for j in range(0, n, columns)]
    waves = [tiles[first : first + processors] for first in range(0, len(tiles), processors)]
    useful = sum((min(i + rows, m) - i) * (min(j + columns, n) - j) for i, j in tiles)
    product = wave_quantisation(m=m, n=n, tile_m=rows, tile_n=columns, processors=processors)
    assert (product["tiles"], product["waves"], useful) == (len(tiles), len(waves), m * n)
    slots = len(waves) * processors
    assert product["useful_share"] == pytest.approx(useful / (slots * rows * columns))
    assert product["wave_share"] == pytest.approx(len(tiles) / slots)


@given(SIDES, SIDES, TILES, TILES, st.integers(1, 30))
def test_both_losses_multiply(m: int, n: int, rows: int, columns: int, processors: int) -> None:
    product = wave_quantisation(m=m, n=n, tile_m=rows, tile_n=columns, processors=processors)
    shares = product["tile_share"] * product["wave_share"]
    assert product["useful_share"] == pytest.approx(shares)
    assert 0 < product["useful_share"] <= 1


def test_one_tile_too_many_costs_a_wave() -> None:
    """132 tiles on 132 processors, and a row more (nvidia2023matrix, on wave quantisation)."""
    assert wave_quantisation(**PRODUCT)["useful_share"] == 1
    wider = wave_quantisation(**{**PRODUCT, "n": 13 * 128, "m": 11 * 128})
    assert wider["waves"] == 2 and wider["useful_share"] == pytest.approx(143 / 264)


@given(st.integers(1, 1000), st.integers(1, 64))
def test_lanes_of_a_vector_are_rows_of_a_tile(count: int, lanes: int) -> None:
    """Full where they divide the loop; with a single lane none is ever masked."""

    def share(count: int, lanes: int) -> float:
        loop = wave_quantisation(m=count, n=1, tile_m=lanes, tile_n=1, processors=1)
        return loop["useful_share"]

    assert 0 < share(count, lanes) <= 1
    assert share(count * lanes, lanes) == share(count, 1) == 1


def test_arrays_equal_floats() -> None:
    sides = np.array([64.0, 1000.0, 4224.0])
    curve = wave_quantisation(**{**PRODUCT, "m": sides})
    for name, column in curve.items():
        single = [wave_quantisation(**{**PRODUCT, "m": m})[name] for m in sides.tolist()]
        assert column.tolist() == single, name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"processors": 0}, "processors is 0, expected at least 1"),
        ({"tile_m": -1}, "tile_m is -1, expected at least 1"),
        ({"n": 1.5}, "expected a whole number"),
    ],
)
def test_refused_values_say_what_was_expected(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        wave_quantisation(**{**PRODUCT, **wrong})


def test_cut_tiles_fill_the_last_wave() -> None:
    """224 tiles on 132 processors: two waves, 40 of 264 places of which are empty."""
    told = calculate("wave-quantisation", m=1, n=28672, tile_m=64, tile_n=128, processors=132)
    assert told.omitted["last_wave_filled"].share == pytest.approx(264 / 224 - 1)
    even = calculate(
        "wave-quantisation", m=128, n=128 * 264, tile_m=128, tile_n=128, processors=132
    )
    assert not even.omitted
