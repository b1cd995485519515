"""Bytes of kernels in tiles: laws of what is moved, what fits and who works, and the counts of a
loop that is run.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.kernels.tiles import (
    attention_bytes,
    lane_share,
    largest_tile,
    product_bytes,
    score_bytes,
    tile_memory,
    wave_share,
)

SIDES = st.integers(1, 40)
POWERS = st.integers(0, 8).map(lambda n: 2**n)


@given(SIDES, SIDES, SIDES, st.integers(1, 50))
def test_no_tile_moves_less_than_each_matrix_once(m: int, n: int, k: int, tile: int) -> None:
    """And one tile for the whole result moves exactly that, as the calculator counts it."""
    least = calculate("arithmetic-intensity", m=m, n=n, k=k)["bytes"]
    assert product_bytes(m, n, k, tile) >= least
    assert product_bytes(m, n, k, max(m, n)) == least


@given(SIDES, SIDES, SIDES, POWERS)
def test_a_larger_tile_never_moves_more(m: int, n: int, k: int, tile: int) -> None:
    assert product_bytes(m, n, k, 2 * tile) <= product_bytes(m, n, k, tile)


@given(st.integers(1, 6).map(lambda n: 2**n), POWERS)
def test_the_bytes_are_those_of_the_formula(side: int, tile: int) -> None:
    """b (2 n^3 / t + n^2) for square matrices that the tile divides."""
    side = max(side, tile)
    assert product_bytes(side, side, side, tile, 2) == 2 * (2 * side**3 / tile + side**2)


@given(st.floats(600, 1e9), st.sampled_from([1.0, 2.0, 4.0]))
def test_the_largest_tile_fits_and_twice_its_side_does_not(memory: float, width: float) -> None:
    tile = largest_tile(memory, 32, width)
    assert tile_memory(tile, 32, width) <= memory < tile_memory(2 * tile, 32, width)
    assert math.log2(tile).is_integer()


def test_a_tile_holds_its_sums_and_two_pairs_of_slices() -> None:
    """128 by 128 sums of 4 bytes, and four slices of 128 by 64 in 2 bytes: 128 KiB in all."""
    assert tile_memory(128, 64, 2) == 128 * 128 * 4 + 4 * 128 * 64 * 2 == 128 * 1024


@given(SIDES, SIDES, st.integers(1, 8), st.integers(1, 8), st.integers(1, 30))
def test_waves_are_counted_as_they_are_dealt_out(
    m: int, n: int, rows: int, columns: int, units: int
) -> None:
    """Against a list of tiles that processors take one after the other."""
    tiles = [(i, j) for i in range(0, m, rows) for j in range(0, n, columns)]
    waves = [tiles[first : first + units] for first in range(0, len(tiles), units)]
    wanted = sum((min(i + rows, m) - i) * (min(j + columns, n) - j) for i, j in tiles)
    assert wanted == m * n
    assert wave_share(m, n, rows, columns, units) == pytest.approx(
        wanted / (len(waves) * units * rows * columns)
    )
    assert 0 < wave_share(m, n, rows, columns, units) <= 1


def test_one_tile_too_many_costs_a_wave() -> None:
    """132 tiles on 132 processors, and a row more (nvidia2023matrix, section on wave quantisation)."""
    assert wave_share(11 * 128, 12 * 128, 128, 128, 132) == 1
    assert wave_share(11 * 128, 13 * 128, 128, 128, 132) == pytest.approx(143 / 264)


@given(st.integers(1, 1000), st.integers(1, 64))
def test_lanes_are_full_where_they_divide_the_loop(count: int, lanes: int) -> None:
    assert 0 < lane_share(count, lanes) <= 1
    assert lane_share(count * lanes, lanes) == 1
    assert lane_share(count, 1) == 1


@given(POWERS, st.integers(1, 8), st.integers(1, 4))
def test_fused_attention_reads_no_less_than_the_calculator_says(
    seq: int, kv_heads: int, group: int
) -> None:
    """One pass as `arithmetic-intensity` counts a prompt; a block of all tokens with a key head
    each is that, too.
    """
    heads = kv_heads * group
    said = calculate(
        "arithmetic-intensity", op="prefill", m=seq, n=seq, k=64, heads=heads, kv_heads=kv_heads
    )
    assert attention_bytes(seq, heads, kv_heads, 64) == said["bytes"]
    assert attention_bytes(seq, heads, heads, 64, seq) == attention_bytes(seq, heads, heads, 64)
    for block in (1, 16, 128):
        assert attention_bytes(seq, heads, kv_heads, 64, block) >= said["bytes"]


def test_scores_are_four_passes_of_a_square() -> None:
    """GPT-2 medium, 64 sequences of 1,024 tokens: 2.15 GB a pass (dao2022flashattention, figure 2)."""
    assert score_bytes(1024, 16 * 64) == 4 * 2 * 1024**2 * 16 * 64
    assert score_bytes(2048, 1) == 4 * score_bytes(1024, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: product_bytes(0, 1, 1, 1),
        lambda: product_bytes(1, 1, 1, 0),
        lambda: largest_tile(100),
        lambda: wave_share(1, 1, 1, 1, 0),
        lambda: wave_share(1, 1, -1, 1, 1),
        lambda: lane_share(4, 0),
        lambda: tile_memory(16, -1),
    ],
)
def test_what_cannot_be_is_refused(wrong) -> None:
    with pytest.raises(FlopbookError, match=r"above zero|no tile fits"):
        wrong()
