"""The figures on serving, experts, configurations, chips and failures.

What they draw obeys its own arithmetic.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flopbook.architectures.shape import shape
from flopbook.hardware.chip import chip
from scripts.website.figures import (
    attention_groups,
    cache_cuts,
    cache_pages,
    cache_transfer,
    causal_split,
    configuration_map,
    configuration_memory,
    exchange_reach,
    expert_dispatch,
    experts_read,
    figure_of,
    matrix_cuts,
    memory_levels,
    network_shapes,
    power_path,
    systolic_array,
)
from scripts.website.pages.prose import render


def test_pages_waste_less_than_one_page_for_each_sequence() -> None:
    """And reserving wastes more."""
    held, pages = sum(cache_pages.HELD), len(cache_pages.HELD)
    assert held / cache_pages.paged() - held <= (cache_pages.PAGE - 1) * pages
    assert cache_pages.reserved() < cache_pages.paged() <= 1


def test_every_cut_of_a_cache_but_that_of_one_vector_leaves_a_rank_its_share() -> None:
    """And the picture fills as many squares, or stripes where heads are cut, as the rank holds."""
    heads, ranks = cache_cuts.HEADS, cache_cuts.RANKS
    whole = cache_cuts.SEQUENCES * cache_cuts.TOKENS * heads
    shares = {cut: len(cache_cuts.held(cut)) / whole for cut, _ in cache_cuts.CUTS}
    assert shares.pop("not at all") == 1
    assert set(shares.values()) == {1 / ranks}
    filled = "".join(cache_cuts.figure().parts).count("fb-c1")
    squares = whole // heads
    assert filled == squares // ranks * heads + squares + 2 * squares // ranks


def test_a_cut_along_both_sides_sends_what_the_chapter_derives() -> None:
    """4 D bytes of a token along one side, 2 (2 D / X + 3 F / Y) along both."""
    llama = shape(matrix_cuts.MODEL)
    (one, chips), (across, along) = matrix_cuts.CUTS
    assert one == 1 and across * along == chips
    assert matrix_cuts.sent((one, chips), llama) == pytest.approx(4 * llama.d_model)
    least = 2 * (2 * llama.d_model / across + 3 * llama.d_ff / along)
    assert matrix_cuts.sent((across, along), llama) == pytest.approx(least)
    for cut in matrix_cuts.CUTS:
        hidden, outputs = matrix_cuts.sums(cut, llama)
        assert hidden.chips * outputs.chips == chips


def test_a_replica_has_a_frame_for_each_group_and_a_box_for_each_rank() -> None:
    drawn = "".join(attention_groups.figure().parts)
    assert drawn.count("fb-hollow") == drawn.count("its own cache") == attention_groups.GROUPS
    assert drawn.count("fb-c8") == attention_groups.GROUPS * attention_groups.RANKS


@pytest.mark.parametrize("groups", [1, 2, 8])
@pytest.mark.parametrize(("read", "message"), [(8.0, 2.0), (8.0, 8.0), (8.0, 24.0)])
def test_a_cache_is_late_by_its_last_group_or_by_what_the_network_is_slower(
    read: float, message: float, groups: int
) -> None:
    late = cache_transfer.arrival(cache_transfer.sent(read, message, groups))
    assert late == pytest.approx(max(message / groups, message - read * (1 - 1 / groups)))


def test_the_frontier_begins_alone_and_ends_with_what_fits() -> None:
    """More sequences are never slower together nor faster each."""
    drawn = figure_of("batch-frontier")
    assert "batch 1:" in "".join(drawn.parts) and "fit" in drawn.description


def test_folding_shares_causal_work_evenly() -> None:
    """Both ways compute every block once, and half of those on the diagonal."""
    blocks = causal_split.CHUNKS**2 / 2
    plain, even = causal_split.work(causal_split.in_pieces), causal_split.work(causal_split.folded)
    assert sum(plain) == sum(even) == blocks and len(set(even)) == 1
    assert plain == sorted(plain) and plain[-1] > even[0] > plain[0]
    # Four chips: 3.5 squares of a quarter against half a one, 1.75 times the mean.
    assert plain[-1] / plain[0] == 3.5 / 0.5 and plain[-1] / even[0] == 7 / 4


def test_every_copy_of_a_token_arrives() -> None:
    """Rows of the traffic are tokens times experts visited.

    Columns are what the experts of a chip get.
    """
    table, loads = expert_dispatch.traffic(), expert_dispatch.loads()
    assert [sum(row) for row in table] == [6] * expert_dispatch.CHIPS
    for to in range(expert_dispatch.CHIPS):
        mine = [n for n in range(expert_dispatch.EXPERTS) if expert_dispatch.owner(n) == to]
        assert sum(row[to] for row in table) == sum(loads[n] for n in mine) and len(mine) == 2
    assert all(a != b for tokens in expert_dispatch.ROUTES for a, b in tokens)


def test_one_token_reads_what_it_visits_and_many_read_all() -> None:
    assert experts_read.share_read(256, 8, 1) == pytest.approx(8 / 256)
    assert experts_read.share_read(8, 2, 1000) == pytest.approx(1)
    assert experts_read.share_read(1, 1, 1) == 1


@pytest.mark.parametrize("sizes", [(8, 2), (128, 8), (256, 8)])
def test_a_dot_lies_on_the_line_where_half_is_read(sizes: tuple[float, float]) -> None:
    assert experts_read.share_read(*sizes, experts_read.half_read(*sizes)) == pytest.approx(0.5)


def test_each_division_needs_less_memory_and_only_the_last_fits() -> None:
    """Llama 3 405B as it was trained fits into 80 GB without recomputation.

    llamateam2024herd.
    """
    held = configuration_memory.totals()
    assert held == sorted(held, reverse=True)
    assert [total <= chip(configuration_memory.CHIP).memory() for total in held] == [False] * 4 + [
        True
    ]


def test_the_ways_multiply_to_the_chips() -> None:
    """Two of the divisions fit, as the chapter says; the one that was used waits least."""
    found = list(configuration_map.configurations())
    assert found and all(one.tp * one.pp * one.dp == configuration_map.CHIPS for one in found)
    assert all(0 <= one.idle < 1 for one in found)
    memory = chip(configuration_memory.CHIP).memory()
    fitting = [one for one in found if one.bytes <= memory]
    best = min(fitting, key=lambda one: one.idle)
    assert len(fitting) == 2
    assert (best.tp, best.pp) == configuration_map.CHOSEN


@pytest.mark.parametrize(("side", "rows"), [(4, 3), (128, 8), (1, 1)])
def test_a_systolic_array_is_done_when_the_last_row_has_passed(side: int, rows: int) -> None:
    assert systolic_array.cycles(side, rows) == rows + 2 * (side - 1)


def test_every_cell_sees_every_row_once() -> None:
    done = [systolic_array.busy(cycle) for cycle in range(systolic_array.cycles())]
    assert (
        sum(done) == systolic_array.ROWS * systolic_array.SIDE**2
        and done == done[::-1]
        and min(done) > 0
    )
    assert systolic_array.busy(systolic_array.cycles()) == 0


def test_levels_of_memory_come_in_order() -> None:
    """From registers of 132 x 256 KiB to 8 x 80 GB.

    Shared memory is the one exception, smaller than the registers.
    """
    sizes = [level.bytes for level in memory_levels.levels()]
    assert sizes[0] == pytest.approx(132 * 256 * 2**10) and sizes[-1] == pytest.approx(640e9)
    assert sizes[1:] == sorted(sizes[1:])
    assert max(sizes[:3]) < 2 * min(sizes[:3]) and sizes[3] > 1000 * sizes[2], "as the caption says"


def test_levels_of_memory_are_dots_where_the_scale_has_no_zero() -> None:
    """A bar would draw a step of 1,500 as three times the length; arrows mark the two steps."""
    shapes = memory_levels.figure().parts
    assert not any("<rect" in shape for shape in shapes)
    assert sum("<circle" in shape for shape in shapes) == len(memory_levels.levels())


def test_the_chapter_gives_a_link_of_the_torus_one_rate() -> None:
    """Six links make what the chip has in all, in the text as in the drawing."""
    page = Path(__file__).resolve().parents[3] / "docs" / "handbook" / "accelerators.md"
    text = render(
        page.read_text(encoding="utf-8"),
        "handbook/accelerators.md",
        page.name,
        {"form": lambda *_: ""},
    )
    plain = " ".join(re.sub(r"</?span[^>]*>", "", text).split())
    assert "100 GB/s a link" in plain and "At 100 GB/s one way each, they carry 51 TB/s" in plain


def test_networks_are_what_they_are_called() -> None:
    """A mesh of n by n has 2n(n - 1) links, a torus 2n squared; a switch one for each chip."""
    side = network_shapes.SIDE
    flat, closed, star = (
        network_shapes.mesh(False),
        network_shapes.mesh(True),
        network_shapes.switch(),
    )
    assert (len(flat), len(closed), len(star)) == (2 * side * (side - 1), 2 * side**2, side**2)
    assert [network_shapes.furthest(links) for links in (flat, closed, star)] == [
        2 * (side - 1),
        side,
        2,
    ]
    assert [network_shapes.across(links) for links in (flat, closed, star)] == [
        side,
        2 * side,
        side**2 // 2,
    ]


def test_figures_on_drafts_and_failures_take_their_times() -> None:
    """Options change what is drawn."""
    assert (
        figure_of("draft-speedup", draft_time=0.5).description
        != figure_of("draft-speedup").description
    )
    assert (
        figure_of("checkpoint-interval", save=300.0).description
        != figure_of("checkpoint-interval").description
    )
    assert "419" in figure_of("failures-by-chips").description


def test_an_exchange_slows_with_the_side_of_a_torus_and_past_the_ports_of_a_switch() -> None:
    """Twice the side, twice the time; within a domain hardly any change, past it a jump."""
    torus = dict(exchange_reach.on_torus())
    assert torus[8**3] == pytest.approx(2 * torus[4**3], rel=0.01)
    assert torus[16**3] == pytest.approx(2 * torus[8**3], rel=0.01)
    rack = dict(exchange_reach.at_switch(exchange_reach.RACK, exchange_reach.RACKS))
    assert rack[72] < 1.15 * rack[8] and rack[144] > 8 * rack[72]
    node = dict(exchange_reach.at_switch(exchange_reach.NODE, exchange_reach.NODES))
    card, wide = 50e9, exchange_reach.SENT
    assert node[8192] == pytest.approx(wide / card, rel=0.02) == rack[8064]
    title = figure_of("exchange-reach").title
    assert "9 times as long" in title and "17" in title


def test_power_is_lost_on_its_way_and_named_where() -> None:
    grid, server, chips = power_path.stages()
    assert grid.watts == pytest.approx(1.1 * server.watts) and chips.watts == pytest.approx(5600)
    assert server.watts == pytest.approx(10_200) and grid.taken_by and server.taken_by
    drawn = figure_of("power-path")
    assert f"{100 * chips.watts / grid.watts:.0f} reach the GPUs" in drawn.title
    assert drawn.narrow and drawn.narrow.width < 350
