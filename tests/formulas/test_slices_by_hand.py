"""Sides of slices, their rings and their traffic, held against loops over chips and links.

Slices of TPUs as in austin2025sharding: whole sides, as equal as possible, else powers of two; an
axis is a ring where it is wrapped, and a line where it is not.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from flopbook.formulas.collectives import amounts, collective, slice_hops, traffic
from flopbook.formulas.slices import (
    chips_fill_a_slice,
    chips_fill_the_torus,
    meshes_have_a_size,
    one_way_rings_close,
    second_side_needs_three_axes,
    sides_belong_to_a_torus,
    slice_links,
    slice_sides,
    torus_has_three_axes,
)
from flopbook.quantities.ops import inf

near = pytest.approx
COUNTS = (*range(1, 330), 384, 512, 640, 768, 1000, 1024, 2048, 4096, 4913, 5120, 6144, 8960)


def side_of(chips: float, axes: int) -> float:
    """The rounded root where it divides the chips, else the largest power of two, at most 16."""
    root = chips ** (1 / axes)
    rounded = int(root + 0.5)
    power = max((each for each in (2, 4, 8, 16) if each <= root), default=1)
    return rounded if rounded and chips % rounded == 0 else power


def sides_of(chips: float, axes: int) -> tuple[float, float, float]:
    """Sides of a slice by hand; axes that it does not have are one chip long."""
    if axes == 1:
        return chips, 1, 1
    first = side_of(chips, axes)
    if axes == 2:
        return first, chips / first, 1
    second = side_of(chips / first, 2)
    return first, second, chips / first / second


def is_whole(*sides: float) -> bool:
    return all(side % 1 == 0 for side in sides)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_sides_are_as_equal_as_whole_numbers_can_be(axes: int) -> None:
    for chips in COUNTS:
        found = slice_sides(chips=chips, topology="torus", axes=axes)
        first, second, third = sides_of(chips, axes)
        assert (found["first"], found["dims"], found["known"]) == (near(first), axes, chips)
        assert (found["second"], found["third"]) == (near(second), near(third)), chips


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("rule", [chips_fill_the_torus, chips_fill_a_slice])
def test_chips_that_make_no_slice_are_refused(axes: int, rule: Any) -> None:
    """Whole sides of which none is more than twice the first."""
    for chips in COUNTS:
        first, second, third = sides_of(chips, axes)
        fills = is_whole(second, third) and (axes == 1 or max(second, third) <= 2 * first)
        assert rule.function(chips, axes, inf, inf, "torus", inf) == fills, chips
        assert rule.function(chips, axes, inf, inf, "switch", inf)


@pytest.mark.parametrize("rule", [chips_fill_the_torus, chips_fill_a_slice])
def test_sides_that_are_given_may_be_as_long_as_they_like(rule: Any) -> None:
    fills = rule.function
    assert fills(32, 2, 1, inf, "torus", inf) and fills(32, 2, 16, inf, "torus", inf)
    assert fills(32, 3, 2, 16, "torus", inf) and fills(32, 3, 2, inf, "torus", inf)
    assert not fills(32, 2, 3, inf, "torus", inf) and not fills(32, 3, 2, 5, "torus", inf)
    assert not fills(32, 2, 64, inf, "torus", inf) and not fills(32, 3, 2, 32, "torus", inf)
    assert not fills(32, 3, 64, 1, "torus", inf)


def test_a_whole_domain_needs_no_shape() -> None:
    """Only where its links alone count; the torus of a collective has to have sides."""
    assert chips_fill_a_slice.function(29, 2, inf, inf, "torus", 29)
    assert chips_fill_a_slice.function(31, 2, inf, inf, "torus", 29)
    assert not chips_fill_a_slice.function(29, 2, inf, inf, "torus", 30)
    assert not chips_fill_the_torus.function(29, 2, inf, inf, "torus", 29)
    assert chips_fill_the_torus.function(29, 2, inf, inf, "torus", 16)
    assert chips_fill_the_torus.function(inf, 2, inf, inf, "torus", inf)


def test_axes_and_sides_belong_together() -> None:
    assert torus_has_three_axes.function(3, 64, "torus")
    assert not torus_has_three_axes.function(4, 64, "torus")
    assert torus_has_three_axes.function(4, inf, "torus")
    assert torus_has_three_axes.function(4, 64, "switch")
    assert sides_belong_to_a_torus.function(inf, inf, "ring", 1)
    assert sides_belong_to_a_torus.function(4, inf, "torus", 2)
    assert not sides_belong_to_a_torus.function(4, inf, "torus", 1)
    assert not sides_belong_to_a_torus.function(inf, 4, "torus", 1)
    assert not sides_belong_to_a_torus.function(4, inf, "ring", 2)
    assert second_side_needs_three_axes.function(4, 3)
    assert not second_side_needs_three_axes.function(4, 2)
    assert second_side_needs_three_axes.function(inf, 2)


def test_lines_of_one_link_lead_nowhere() -> None:
    closes = one_way_rings_close.function
    assert closes("ring", "yes", 1) and closes("torus", "no", 2) and closes("switch", "no", 1)
    assert not closes("ring", "no", 1) and not closes("torus", "no", 1)


def test_a_mesh_has_a_size() -> None:
    has_size = meshes_have_a_size.function
    assert has_size("mesh", 8, inf) and has_size("mesh", inf, 8) and has_size("ring", inf, inf)
    assert not has_size("mesh", inf, inf)


def test_a_slice_is_what_a_domain_holds() -> None:
    found = slice_sides(chips=100, topology="torus", axes=2, chips_per_node=16)
    assert (found["inside"], found["first"], found["second"]) == (16, 4, 4)
    open_size = slice_sides(chips=inf, topology="torus", axes=2, chips_per_node=16)
    assert (open_size["inside"], open_size["known"]) == (16, 1)
    flat = slice_sides(chips=12, topology="switch", axes=3)
    assert (flat["dims"], flat["first"], flat["third"]) == (1, 12, 1)
    chosen = slice_sides(chips=64, topology="torus", axes=3, side_x=2, side_y=4)
    assert (chosen["first"], chosen["second"], chosen["third"]) == (2, 4, 8)
    assert slice_sides(chips=81, topology="torus", axes=4)["dims"] == 3


SIDES = [*itertools.product((1, 2, 4, 8), repeat=3)]


def ways(side: int, others: tuple[int, ...], wrap: str, links: int, ring: int) -> int:
    """Links of a chip along one axis, of those that make a ring with it."""
    closed = {
        "yes": True,
        "no": False,
        "axis": side % ring == 0,
        "cube": all(each % ring == 0 for each in (side, *others)),
    }[wrap]
    return links if closed else 1


@pytest.mark.parametrize("wrap", ["yes", "no", "axis", "cube"])
@pytest.mark.parametrize("links", [1, 2, 4])
def test_links_of_a_slice(wrap: str, links: int) -> None:
    """An axis of one chip has none; of the others each ring has all its links, a line has one."""
    for sides in SIDES:
        first, second, third = sides
        dims = max(axis for axis, side in enumerate(sides, start=1) if side > 1 or axis == 1)
        shape = sides[:dims]
        found = slice_links(
            topology="torus", axes=dims, links_per_axis=links, chips_per_node=10**6,
            inside=first * second * third, dims=dims, first=first, second=second, third=third,
            wrap=wrap, ring_side=4,
        )  # fmt: skip
        each = [ways(side, tuple(shape), wrap, links, 4) for side in shape]
        found_ways = [found[name] for name in ("ways_x", "ways_y", "ways_z")]
        assert found_ways[:dims] == each, (sides, wrap)
        used = sum(way for way, side in zip(each, shape, strict=True) if side > 1)
        assert found["lanes"] == max(used, 1), (sides, wrap)


def test_links_of_a_whole_domain_and_of_other_networks() -> None:
    shape: dict[str, Any] = {"dims": 2, "first": 4, "second": 4, "third": 1, "axes": 2}
    whole = {**shape, "links_per_axis": 2, "chips_per_node": 16, "inside": 16}
    assert slice_links(topology="torus", **whole)["lanes"] == 4
    assert slice_links(topology="torus", **whole, wrap="no")["lanes"] == 2
    assert slice_links(topology="torus", **{**whole, "inside": 15}, wrap="no")["lanes"] == 2
    for topology, lanes in (("switch", 1), ("two-level", 1), ("mesh", 15)):
        assert slice_links(topology=topology, **whole)["lanes"] == lanes
    for inside, lanes in ((1, 1), (2, 1), (3, 2), (inf, 1)):
        few = {**whole, "inside": inside}
        assert slice_links(topology="mesh", **few)["lanes"] == lanes


def hops(**options: Any) -> dict[str, Any]:
    return slice_hops(**{"second": 1, "third": 1, "ways_y": 1, "ways_z": 1, **options})


def load(side: int, is_ring: bool) -> float:
    """Blocks on the busiest link of an axis, one way, when each chip sends one to every other.

    On a ring each way round takes half of the blocks, those to the far side half of the time.
    """
    loads = dict.fromkeys(range(side), 0.0)
    for sender, receiver in itertools.product(range(side), repeat=2):
        if not is_ring:
            for link in range(sender, receiver):
                loads[link] += 1
            continue
        there = (receiver - sender) % side
        is_halfway = 2 * there == side
        share = 0.5 if is_halfway else float(2 * there < side)
        for step in range(there):
            loads[(sender + step) % side] += share
    return max(loads.values())


@pytest.mark.parametrize("side", [2, 3, 4, 7, 8, 16])
def test_blocks_of_an_all_to_all_on_the_busiest_link(side: int) -> None:
    """Over the blocks that each chip has. Of an even ring half goes either way, exactly."""
    line = hops(links_per_axis=2, first=side, ways_x=1)["crowd"]
    assert line == near(load(side, is_ring=False) / side)
    ring = hops(links_per_axis=2, first=side, ways_x=2)["crowd"]
    if side % 2 == 0:
        assert ring == near(load(side, is_ring=True) / side)
    one_way = hops(links_per_axis=1, first=side, ways_x=1)["crowd"]
    assert one_way == (side - 1) / 2


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("side", [1, 2, 3, 8])
def test_hops_across_an_axis_and_to_the_next_chip(axis: str, side: int) -> None:
    """Half of a ring, all of a line; the last chip of a line is far from the first."""
    name = {"x": "first", "y": "second", "z": "third"}[axis]
    sizes = {"first": 1, "ways_x": 1, name: side}
    ring = hops(links_per_axis=2, **{**sizes, f"ways_{axis}": 2})
    assert ring["hops"] == side // 2
    line = hops(links_per_axis=2, **sizes)
    assert (line["hops"], line["to_next"]) == (side - 1, side - 1)
    turning = hops(links_per_axis=1, **sizes)
    assert (turning["hops"], turning["to_next"]) == (side - 1, min(side - 1, 1))
    # The other two axes are rings of one chip, which are nowhere.
    assert hops(links_per_axis=2, **{**sizes, f"ways_{axis}": 2})["to_next"] == min(side - 1, 1)


def test_axes_add_up_and_the_longest_one_decides() -> None:
    sizes = {"first": 4, "second": 8, "third": 2, "ways_x": 2, "ways_y": 2, "ways_z": 2}
    found = slice_hops(links_per_axis=2, **sizes)
    assert (found["hops"], found["to_next"], found["crowd"]) == (2 + 4 + 1, 1, near(16 / 16))
    turned = slice_hops(links_per_axis=1, **{**sizes, "ways_x": 1, "ways_y": 1, "ways_z": 1})
    assert turned["crowd"] == 7 / 2


@pytest.mark.parametrize(
    ("op", "gathered", "twice"),
    [("all-gather", 90, 1), ("all-reduce", 90, 2), ("all-to-all", 90, 1), ("permute", 10, 1)],
)
def test_what_a_chip_lacks(op: str, gathered: int, twice: int) -> None:
    """Of 100 bytes on ten chips."""
    found = amounts(bytes=100, chips=10, op=op)
    assert (found["share"], found["gathered"], found["twice"]) == (10, near(gathered), twice)
    assert amounts(bytes=100, chips=1, op=op)["gathered"] == 0


# 96 bytes over 16 chips, eight of them in a domain: 6 bytes each, two domains.
PLACED: dict[str, Any] = {
    **{"bytes": 96, "chips": 16, "share": 6, "inside": 8},
    **{"lanes": 4, "hops": 5, "to_next": 3, "crowd": 2},
}
LINK = {
    ("all-gather", "torus"): 84 / 4,
    ("all-gather", "switch"): 84,
    ("all-gather", "mesh"): 84 / 4,
    ("all-to-all", "torus"): 6 * 8 / 16 * 2,
    ("all-to-all", "two-level"): 6 * 7 / 16,
    ("all-to-all", "mesh"): 6 * 7 / 16 / 4,
    ("permute", "torus"): 6,
    ("permute", "switch"): 6,
    ("permute", "mesh"): 6,
}


@pytest.mark.parametrize(("op", "topology"), LINK)
def test_bytes_on_a_link(op: str, topology: str) -> None:
    found = traffic(**PLACED, op=op, topology=topology)
    assert found["on_link"] == near(LINK[op, topology])
    beyond = {"all-to-all": 96 / 8 / 2 * 8 / 16, "permute": 6}.get(op, 96 / 8 / 2)
    assert (found["domains"], found["out"]) == (2, near(beyond))
    on_axis = 3 if op == "permute" else 5
    assert found["along"] == (on_axis if topology == "torus" else 1)


@pytest.mark.parametrize("op", ["all-gather", "permute", "all-to-all"])
def test_one_chip_sends_nothing(op: str) -> None:
    alone = {**PLACED, "chips": 1, "inside": 1, "share": 96, "crowd": 0}
    for topology in ("switch", "torus", "mesh"):
        found = traffic(**alone, op=op, topology=topology)
        assert found["on_link"] == found["out"] == 0
    assert traffic(**alone, op=op, topology="switch")["along"] == 0
    summed = traffic(**alone, op="all-reduce", topology="switch", reduction="switch")
    assert summed["on_link"] == 0


def test_a_switch_that_adds_up_receives_once() -> None:
    found = traffic(**PLACED, op="all-reduce", topology="switch", reduction="switch")
    assert found["on_link"] == near(96 * (1 + 1 / 8) / 2)
    pair = traffic(
        **{**PLACED, "inside": 2}, op="all-reduce", topology="switch", reduction="switch"
    )
    assert pair["on_link"] == near(96 * 1.5 / 2)


def test_the_time_of_two_levels() -> None:
    """16 chips in two domains: 2 x 84 bytes on each port at 10 a second, 2 x 6 beyond at 1."""
    options: dict[str, Any] = {
        **{"bytes": 96, "chips": 16, "op": "all-reduce", "topology": "switch"},
        **{"chips_per_node": 8, "link_bandwidth": 10, "scaleout_bandwidth": 1, "latency": 1},
    }
    found = collective(**options)
    assert found["steps"] == found["latency_seconds"] == 4
    assert found["bandwidth_seconds"] == near(max(16.8, 12))
    assert found["seconds"] == near(4 + 16.8)
    assert found["scaleout_bytes"] == 12
    assert found["bus_bandwidth"] == near(180 / 20.8)
    assert found["crossover_bytes"] == near(96 * 4 / 16.8)
    assert found["one_ring_seconds"] == near(180)
    after = collective(**options, level_overlap="no")
    assert after["bandwidth_seconds"] == near(28.8)
    slow = collective(**options, efficiency=0.5, startup=0.5, ramp=0.1)
    assert slow["bandwidth_seconds"] == near(16.8)
    assert slow["seconds"] == near(0.5 + 4 + 2 * (0.1 * 33.6) ** 0.5 + 33.6)
    both = collective(**options, efficiency=0.5, level_overlap="no")
    assert both["seconds"] == near(4 + 33.6 + 12)
    alone = collective(**{**options, "chips": 1}, startup=0.5)
    assert (alone["seconds"], alone["bus_bandwidth"]) == (0, inf)
    assert alone["crossover_bytes"] == alone["one_ring_seconds"] == inf
    exchange = collective(**{**options, "op": "all-to-all"})
    assert exchange["bus_bandwidth"] == near(90 / 16 / exchange["seconds"])
    summed = collective(**options, reduction="switch", reduction_efficiency=0.5)
    assert summed["bytes_per_link"] == near(96 * 9 / 8)
    assert summed["seconds"] == near(4 + max(10.8 / 0.5, 12))
