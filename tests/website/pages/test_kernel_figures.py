"""The figures on kernels: tiles, lanes, waves, attention, and what is hidden behind what."""

from __future__ import annotations

import re
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
    flash_blocks,
    kernel_timeline,
    simd_lanes,
    tile_order,
    tile_traffic,
)
from scripts.website.figures.kernel_timeline import (
    DECODED,
    attended,
    buffered,
    decoded,
    in_parts,
    launched,
)
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
    assert "44 %" not in figure_of("kernel-timeline").title
    assert figure_of("kernel-timeline", kind="launches").description.count("done after") == 3
    with pytest.raises(UnknownName, match="buffers"):
        figure_of("kernel-timeline", kind="buffer")


def test_groups_of_warps_never_share_a_lane_and_do_the_same_work() -> None:
    for groups in (1, 2):
        bars = attended(groups)
        assert len(bars) == 3 * kernel_timeline.BLOCKS
        for lane in (0, 1):
            spans = sorted((bar.start, bar.end) for bar in bars if bar.lane == lane)
            assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    alone, paired = (max(bar.end for bar in attended(groups)) for groups in (1, 2))
    assert alone == 4 * 1.5 and paired < 0.75 * alone


def test_parts_take_the_longer_of_the_two_a_part_of_the_shorter_and_what_they_cost() -> None:
    for parts, cost in ((1, 0.0), (4, 0.04), (16, 0.04)):
        end = max(bar.end for bar in in_parts(parts, cost))
        assert end == pytest.approx(1 + 0.8 / parts + parts * cost)
    title = figure_of("kernel-timeline", kind="parts").title
    assert "24 % less" in title and title.endswith("6 %")


@given(st.integers(1, 6), TIMES, st.floats(0, 1))
def test_halves_read_twice_and_hide_all_exchanges_but_the_last_half(
    layers: int, work: float, share: float
) -> None:
    """An exchange of up to two readings and the work hides; undivided all three add up."""
    exchange = share * (2 + work)
    whole, halves = (decoded(parts, work, exchange, layers) for parts in (1, 2))
    assert end(whole) == pytest.approx(layers * (1 + work + exchange))
    assert end(halves) == pytest.approx(layers * (2 + work) + exchange / 2)


def test_halves_of_the_picture_pay_with_many_sequences_alone() -> None:
    """They pay where the exchange takes longer than one more reading, which takes 1."""
    few, many = ([end(decoded(parts, *times)) for parts in (1, 2)] for times in DECODED.values())
    assert few[1] > few[0] and many[1] < many[0]
    assert [exchange > 1 for _, exchange in DECODED.values()] == [False, True]
    drawn = figure_of("kernel-timeline", kind="halves")
    assert "19 % less" in drawn.title and "39 % more" in drawn.title
    assert drawn.description.count("done after") == 4


def test_the_title_of_two_groups_in_turn_says_their_shares() -> None:
    assert idle_share(attended(1), 1) == pytest.approx(1 / 3)
    assert idle_share(attended(2), 1) == 0


def test_a_lane_without_bars_is_idle() -> None:
    bars = [Bar(0, 0, 1, "a", "c0"), Bar(0, 2, 4, "b", "c0")]
    assert idle_share(bars) == 0.25 and idle_share(bars, 1) == 1
    assert kernel_timeline.COPY < kernel_timeline.WORK, (
        "the caption says that all copies but the first are hidden"
    )


def test_a_wave_as_a_block_reads_fewer_strips_than_in_one_row() -> None:
    """132 tiles either way; orange areas go with strips, since both panels have one scale."""
    assert {rows * columns for rows, columns in tile_order.ORDERS} == {132}
    assert [tile_order.strips(*order) for order in tile_order.ORDERS] == [133, 23]
    drawn = figure_of("tile-order")
    orange = [_area(part) for part in drawn.parts if "fb-c6" in part][:4]
    assert sum(orange[:2]) / sum(orange[2:]) == pytest.approx(133 / 23, rel=0.01)
    assert figure_of("tile-order").narrow


def test_one_block_of_scores_is_on_the_chip_and_those_before_it_are_gone() -> None:
    drawn = figure_of("flash-blocks")
    fills = [sum(f"fb-{kind}" in part for part in drawn.parts) for kind in ("c0", "c1", "c5")]
    assert fills == [2, 1, flash_blocks.PASSES]  # queries and scores; keys; what is done
    cells = flash_blocks.QUERIES * (flash_blocks.KEYS + 1) + flash_blocks.KEYS
    assert sum("fb-hollow" in part for part in drawn.parts) == cells - sum(fills)


def test_the_traffic_of_tiles_says_of_which_product_it_is() -> None:
    assert "two matrices of side 8,192" in figure_of("tile-traffic").caption


def _area(part: str) -> float:
    found = re.search(r'width="([\d.]+)" height="([\d.]+)"', part)
    assert found
    return float(found[1]) * float(found[2])
