"""The figures on kernels: tiles, lanes, waves, attention, and what is hidden behind what."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import tile_traffic as traffic
from scripts.website.figures import (
    attention_traffic,
    figure_of,
    kernel_timeline,
    simd_lanes,
    tile_traffic,
)
from scripts.website.figures.kernel_timeline import buffered, launched
from scripts.website.figures.overlap import Bar, idle_share
from scripts.website.figures.wave_quantisation import units

TIMES = st.floats(0.01, 10)


def end(bars: list[Bar]) -> float:
    return max(bar.end for bar in bars)


def test_tiles_are_the_largest_that_fit() -> None:
    """228 KiB of an SM, 64 KiB of a compute unit, 64 MiB of a core: 128, 64 and 2,048."""
    marks = tile_traffic.marks()
    assert [mark.memory for mark in marks] == [64 * 2**10, 228 * 2**10, 64 * 2**20]
    assert [mark.tile for mark in marks] == [64, 128, 2048]
    for mark in marks:
        one, twice = (traffic(m=1, n=1, k=1, tile=n * mark.tile)["tile_bytes"] for n in (1, 2))
        assert one <= mark.memory < twice


def test_a_memory_that_is_too_small_holds_no_tile() -> None:
    with pytest.raises(FlopbookError, match="no tile fits into 100 bytes"):
        tile_traffic.largest_tile(100)


def test_all_tiles_of_a_chip_fetch_as_one() -> None:
    """132 tiles of 128 have the area of one of 1,471.

    Alone they move more than memory can deliver, together less.
    """
    together, (_, alone, _) = tile_traffic.shared(), tile_traffic.marks()
    assert together.tile**2 == pytest.approx(132 * alone.tile**2) and together.memory == 50 * 2**20
    side = tile_traffic.SIDE
    moved = [traffic(m=side, n=side, k=side, tile=one.tile)["bytes"] for one in (alone, together)]
    assert moved[0] > tile_traffic.allowed() > moved[1]


def test_the_level_is_what_memory_delivers_during_the_arithmetic() -> None:
    """Operations over it are the ridge point."""
    ridge = calculate("ridge-point", chip=tile_traffic.CHIP)["flop_per_byte"]
    assert 2 * tile_traffic.SIDE**3 / tile_traffic.allowed() == pytest.approx(ridge)


def test_lanes_do_every_round_once_and_in_order() -> None:
    """The mask is off at the end only."""
    drawn = [lane for lanes in simd_lanes.rounds() for lane in lanes]
    assert [lane for lane in drawn if lane is not None] == list(range(simd_lanes.COUNT))
    assert drawn.index(None) == simd_lanes.COUNT
    assert "3 instructions instead of 19" in figure_of("simd-lanes").description
    assert simd_lanes.rounds(8, 4) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_waves_are_of_the_processors_of_the_chip() -> None:
    """132 in the white paper (nvidia2022hopper)."""
    assert units() == 132 and "132 processors" in figure_of("wave-quantisation").description


@pytest.mark.parametrize("seq", attention_traffic.LENGTHS)
def test_fusing_never_moves_more(seq: int) -> None:
    """Three kernels, no cache, all read once: in this order at every length that is drawn."""
    unfused, blocks, once = attention_traffic.moved(seq)
    assert unfused > blocks > once


def test_attention_grows_with_the_square_unless_all_is_read_once() -> None:
    grown = [
        b / a
        for a, b in zip(
            attention_traffic.moved(65536), attention_traffic.moved(131072), strict=True
        )
    ]
    assert grown[:2] == pytest.approx([4, 4], rel=0.01) and grown[2] == 2


@given(st.integers(1, 12), TIMES, TIMES)
def test_buffers_take_what_the_formulas_say(tiles: int, copy: float, work: float) -> None:
    """N (c + w) with one, c + (N - 1) max(c, w) + w with two, and no less with three."""
    one, two, three = (buffered(count, tiles, copy, work) for count in (1, 2, 3))
    assert end(one) == pytest.approx(tiles * (copy + work))
    assert (
        end(two)
        == pytest.approx(copy + (tiles - 1) * max(copy, work) + work)
        == pytest.approx(end(three))
    )


@given(st.integers(1, 3), st.integers(1, 12), TIMES, TIMES)
def test_a_tile_is_worked_on_after_its_copy_and_lanes_do_one_thing_at_a_time(
    buffers: int, tiles: int, copy: float, work: float
) -> None:
    bars = buffered(buffers, tiles, copy, work)
    copies, works = ([bar for bar in bars if bar.lane == lane] for lane in (0, 1))
    assert all(a.end <= b.start + 1e-9 for lane in (copies, works) for a, b in pairwise(lane))
    assert all(a.end <= b.start + 1e-9 for a, b in zip(copies, works, strict=True))
    for tile in range(buffers, tiles):  # its buffer is free
        assert copies[tile].start >= works[tile - buffers].end - 1e-9


@given(st.integers(1, 12), TIMES, TIMES)
def test_starts_hide_behind_longer_kernels_only(kernels: int, launch: float, run: float) -> None:
    """One by one the slower side sets the pace; together one start is paid."""
    assert end(launched(kernels, launch, run)) == pytest.approx(
        launch + (kernels - 1) * max(launch, run) + run
    )
    assert end(launched(kernels, launch, run, together=True)) == pytest.approx(
        launch + kernels * run
    )


def test_a_timeline_has_two_kinds() -> None:
    assert "44%" not in figure_of("kernel-timeline").title
    assert figure_of("kernel-timeline", kind="launches").description.count("done after") == 3
    with pytest.raises(UnknownName, match="buffers"):
        figure_of("kernel-timeline", kind="buffer")


def test_a_lane_without_bars_is_idle() -> None:
    bars = [Bar(0, 0, 1, "a", "c0"), Bar(0, 2, 4, "b", "c0")]
    assert idle_share(bars) == 0.25 and idle_share(bars, 1) == 1
    assert kernel_timeline.COPY < kernel_timeline.WORK, (
        "the caption says that all copies but the first are hidden"
    )
