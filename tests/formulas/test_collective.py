"""Collectives: the closed forms against pieces moved one by one, and against published times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.errors import FlopbookError, UnknownName
from flopbook.formulas import collective
from tests.support.cases import every
from tests.support.networks import (
    Torus,
    check_gather,
    check_scatter,
    exchange,
    gather,
    loads,
    two_levels,
)

BASE: dict[str, Any] = {"bytes": 1e9, "link_bandwidth": 45e9}
FAST = {"bytes": 1e9, "link_bandwidth": 450e9, "topology": "switch"}
GATHERS = ("all-gather", "reduce-scatter", "all-reduce")
OPS = (*GATHERS, "all-to-all", "permute")
NETWORKS: tuple[dict[str, Any], ...] = (
    {"topology": "ring"},
    {"topology": "ring", "wrap": "no"},
    {"topology": "ring", "links_per_axis": 1},
    {"topology": "torus", "axes": 3},
    {"topology": "torus", "axes": 2, "wrap": "no"},
    {"topology": "switch"},
    {"topology": "two-level", "chips_per_node": 8, "scaleout_bandwidth": 50e9},
)
KINDS = [(True, True), (False, True), (True, False)]  # closed both ways, open, closed one way
kinds = st.sampled_from(KINDS)


def options(torus: Torus) -> dict[str, Any]:
    """The options that describe a simulated network."""
    inputs: dict[str, Any] = {
        "chips": math.prod(torus.sides),
        "wrap": "yes" if torus.closed else "no",
        "links_per_axis": 2 if torus.both else 1,
        "topology": "torus" if len(torus.sides) > 1 else "ring",
        "axes": len(torus.sides),
    }
    # The last side follows from the chips.
    return inputs | dict(zip(("side_x", "side_y"), torus.sides[:-1], strict=False))


def balance(sides: tuple[int, ...]) -> tuple[float, ...]:
    """Weights of the orders x-y and y-x with which both axes carry the same."""
    if len(set(sides)) == 1:
        return (1 / len(sides),) * len(sides)
    x, y = sides
    # Load of an axis: (1 - 1/side) x (all of what comes last on it, 1/other side of what comes
    # first).
    first, rest = (1 - 1 / x) * (1 / y - 1), (1 - 1 / x)
    other, other_rest = (1 - 1 / y) * (1 - 1 / x), (1 - 1 / y) / x
    weight = (other_rest - rest) / (first - other)
    assert 0 <= weight <= 1
    return (weight, 1 - weight)


def assert_gathers(torus: Torus) -> None:
    """Steps and the busiest link of a simulated gather and its reverse are those of the formula."""
    messages = gather(torus)
    check_gather(torus, messages)
    check_scatter(torus, messages)
    counted = loads(messages, 1e9, math.prod(torus.sides), balance(torus.sides))
    steps = max((message.step for message in messages), default=0)
    for op in GATHERS:
        out, times = collective(**BASE, **options(torus), op=op), 2 if op == "all-reduce" else 1
        assert out["bytes_per_link"] == pytest.approx(
            times * max(counted.values(), default=0), rel=1e-9
        )
        assert out["steps"] == times * steps


@given(st.integers(1, 24), kinds)
@settings(deadline=None)
def test_gather_and_scatter_on_a_ring_and_a_line(chips: int, kind: tuple[bool, bool]) -> None:
    assert_gathers(Torus((chips,), *kind))


@given(st.tuples(st.integers(2, 7), st.integers(2, 7)), kinds)
@settings(deadline=None, max_examples=25)
def test_gather_and_scatter_on_two_axes(sides: tuple[int, int], kind: tuple[bool, bool]) -> None:
    """With shares cut to fit, axes of any two lengths reach the bound."""
    assert_gathers(Torus(sides, *kind))


@every("kind", KINDS)
@every("side", [2, 3, 4])
def test_gather_and_scatter_on_three_axes(side: int, kind: tuple[bool, bool]) -> None:
    assert_gathers(Torus((side,) * 3, *kind))


@given(st.lists(st.integers(2, 5), min_size=1, max_size=3), kinds)
@settings(deadline=None, max_examples=30)
def test_all_to_all_on_axes_of_any_length(sides: list[int], kind: tuple[bool, bool]) -> None:
    torus = Torus(tuple(sides), *kind)
    counted, longest = exchange(torus, 1e9)
    out = collective(**BASE, **options(torus), op="all-to-all")
    assert out["bytes_per_link"] == pytest.approx(max(counted.values()), rel=1e-9)
    assert out["steps"] == longest


@given(
    st.integers(1, 6), st.integers(1, 8), st.sampled_from(["all-gather", "all-to-all", "permute"])
)
def test_ports_of_a_switch_and_of_two_levels(nodes: int, per_node: int, op: str) -> None:
    inside, outside = two_levels(op, nodes, per_node, 1e9)
    levels = {"topology": "two-level", "chips_per_node": per_node, "scaleout_bandwidth": 50e9}
    out = collective(**BASE, **levels, chips=nodes * per_node, op=op)
    # In a shift the busiest port of the node is one that does not lead out of it.
    assert out["bytes_per_link"] == pytest.approx(inside, rel=1e-9)
    assert out["scaleout_bytes"] == pytest.approx(outside, rel=1e-9)
    if nodes == 1:
        switch = collective(**BASE, topology="switch", chips=per_node, op=op)
        assert switch == out


def test_a_permute_passes_each_share_on_by_one() -> None:
    assert collective(**BASE, chips=8, op="permute")["steps"] == 1
    # On a line the last one goes back past all the others.
    line = collective(**BASE, chips=8, op="permute", wrap="no")
    assert line["steps"] == 7 and line["bytes_per_link"] == 1e9 / 8


@every("op", OPS)
@every("network", NETWORKS)
def test_laws_that_hold_everywhere(op: str, network: dict[str, Any]) -> None:
    fixed = {"link_bandwidth": 45e9, "chips": 64, "op": op, **network}
    small, large, huge = (collective(bytes=n, **fixed) for n in (1.0, 1e12, 2e12))
    assert small["latency_seconds"] == pytest.approx(1e-6 * small["steps"])
    for out in (small, large, huge):
        assert out["seconds"] == pytest.approx(out["latency_seconds"] + out["bandwidth_seconds"])
    assert huge["bandwidth_seconds"] == pytest.approx(2 * large["bandwidth_seconds"])
    crossing = collective(bytes=large["crossover_bytes"], **fixed)
    assert crossing["latency_seconds"] == pytest.approx(crossing["bandwidth_seconds"])
    assert crossing["crossover_bytes"] == pytest.approx(large["crossover_bytes"])
    slower = {
        name: fixed[name] / 2 for name in ("link_bandwidth", "scaleout_bandwidth") if name in fixed
    }
    assert collective(bytes=1e12, **{**fixed, **slower})["bandwidth_seconds"] == pytest.approx(
        2 * large["bandwidth_seconds"]
    )
    assert collective(bytes=1.0, **fixed, latency=2e-6)["latency_seconds"] == pytest.approx(
        2 * small["latency_seconds"]
    )


@every("network", NETWORKS)
def test_an_all_reduce_is_a_scatter_and_a_gather(network: dict[str, Any]) -> None:
    gathered, scattered, reduced = (
        collective(**BASE, chips=64, op=op, **network)["seconds"] for op in GATHERS
    )
    assert reduced == pytest.approx(gathered + scattered)


@every("op", OPS)
@every("network", NETWORKS[:3] + NETWORKS[5:6])
def test_one_chip_alone_moves_nothing(op: str, network: dict[str, Any]) -> None:
    out = collective(**BASE, chips=1, op=op, **network)
    assert (out["seconds"], out["bytes_per_link"], out["steps"]) == (0, 0, 0)
    assert out["bus_bandwidth"] == out["crossover_bytes"] == math.inf


@every("op", OPS)
def test_bus_bandwidth_at_a_switch_is_the_port(op: str) -> None:
    """So defined by the tests of NCCL (nvidia2026nccltests), whatever the number of chips."""
    for chips in (2, 3, 8, 72):
        out = collective(**FAST, chips=chips, op=op, latency=1e-12)
        assert out["bus_bandwidth"] == pytest.approx(450e9)


def test_ratios_of_the_scaling_book_for_long_rings() -> None:
    """Gather V/W with W of both links, all-reduce twice, all-to-all a quarter; one way a half:
    austin2025sharding.
    """
    for one_way, quotient in (({}, 4), ({"links_per_axis": 1}, 2)):
        gathered, reduced, exchanged = (
            collective(**BASE, chips=2**16, op=op, **one_way)["bandwidth_seconds"]
            for op in ("all-gather", "all-reduce", "all-to-all")
        )
        assert gathered == pytest.approx(1e9 / (45e9 * (1 if one_way else 2)), rel=1e-4)
        assert reduced == pytest.approx(2 * gathered) and exchanged == pytest.approx(
            gathered / quotient, rel=1e-4
        )
    open_, closed = (
        collective(**BASE, chips=1024, op="all-gather", wrap=w)["bandwidth_seconds"]
        for w in ("no", "yes")
    )
    assert open_ == pytest.approx(2 * closed)


def test_times_of_the_scaling_book() -> None:
    """austin2025sharding: quiz 2 (560 us on an open axis of 4; 680 us measured), questions 2 and 3.

    The book leaves out the factor (X - 1)/X of an exact ring; with it, 23, 46 and 190 us become
    17.5, 43.7 and 140.
    """
    line = {"chips": 4, "wrap": "no", "link_bandwidth": 45e9, "op": "all-gather"}
    slow = collective(bytes=2 * 2048 * 8192, **line)
    assert slow["bandwidth_seconds"] == pytest.approx(560e-6, rel=2e-3)
    assert slow["bandwidth_seconds"] < slow["seconds"] < 680e-6
    assert collective(bytes=256, **line)["seconds"] == pytest.approx(3e-6, rel=2e-3)
    assert collective(bytes=256, chips=4, link_bandwidth=45e9, op="all-gather")[
        "seconds"
    ] == pytest.approx(2e-6, rel=2e-3)
    array = 2 * 1024 * 4096
    asked = (
        ("all-gather", array / 4, 4, 1, 23e-6),
        ("all-gather", array, 16, 2, 46e-6),
        ("all-reduce", array, 4, 1, 190e-6),
    )
    for op, size, chips, axes, printed in asked:
        out = collective(
            bytes=size, chips=chips, axes=axes, topology="torus", link_bandwidth=45e9, op=op
        )
        assert out["bandwidth_seconds"] * chips / (chips - 1) == pytest.approx(printed, rel=0.03)


def test_an_all_reduce_is_not_priced_at_half() -> None:
    """A peer (calculon) gives S/w, 0.0445 s, for an all-reduce between 512 chips.

    A ring takes 2(n-1)/n S/w, 0.0887 s.

    It also counts one latency in all, not one for each hop.
    """
    wrong = 0.04445
    ring = {"link_bandwidth": 50e9, "chips": 512, "links_per_axis": 1, "op": "all-reduce"}
    assert collective(bytes=wrong * 50e9, **ring)["bandwidth_seconds"] == pytest.approx(
        0.0887, rel=1e-3
    )
    assert collective(bytes=1, **ring)["steps"] == 2 * 511


def test_the_slower_level_counts() -> None:
    """Sixteen nodes of eight: 450 GB/s inside, 50 outside.

    Chips of equal place share what leaves the node.
    """
    fixed = {
        "chips": 128,
        "chips_per_node": 8,
        "link_bandwidth": 450e9,
        "topology": "two-level",
        "op": "all-gather",
    }
    slow = collective(bytes=8e9, **fixed, scaleout_bandwidth=50e9)
    across, within = 8e9 / 8 * 15 / 16 / 50e9, 8e9 * 7 / 8 / 450e9
    assert slow["bandwidth_seconds"] == pytest.approx(across)
    fast = collective(bytes=8e9, **fixed, scaleout_bandwidth=400e9)
    assert fast["bandwidth_seconds"] == pytest.approx(within)
    in_turn = collective(bytes=8e9, **fixed, scaleout_bandwidth=50e9, level_overlap="no")
    assert in_turn["bandwidth_seconds"] == pytest.approx(across + within)


def test_sides_that_are_not_given_are_as_even_as_can_be() -> None:
    """12 chips on three axes are 2 x 2 x 3.

    4 are 2 x 1 x 2, and the axis of one chip has no link to share in.
    """
    torus = {"topology": "torus", "axes": 3}
    twelve = collective(**BASE, **torus, chips=12, op="all-to-all")
    assert twelve["steps"] == 3 and twelve == collective(
        **BASE, **torus, chips=12, side_x=2, side_y=2, op="all-to-all"
    )
    for op in OPS:
        square = collective(**BASE, topology="torus", axes=2, chips=4, op=op)
        assert collective(**BASE, **torus, chips=4, op=op) == square
        assert collective(**BASE, **torus, chips=2, op=op) == collective(**BASE, chips=2, op=op)


WRONG = [
    ({"chips": 60, "topology": "torus", "axes": 3}, "60 chips do not fill a torus"),
    ({"chips": 64, "topology": "torus", "axes": 2, "side_x": 5}, "64 chips do not fill a torus"),
    ({"chips": 64, "topology": "torus", "axes": 4}, "expected 1 to 3 on a torus"),
    ({"chips": 64, "side_x": 8}, "side-x and side-y belong to a torus"),
    (
        {"chips": 64, "topology": "torus", "axes": 2, "side_y": 8},
        "side-y belongs to a torus of three axes",
    ),
    (
        {"chips": 8, "wrap": "no", "links_per_axis": 1},
        "an axis of one link per chip has to be closed",
    ),
    ({"chips": 8, "topology": "two-level", "chips_per_node": 8}, "need --scaleout-bandwidth"),
    ({"chips": 8, "topology": "two-level", "scaleout_bandwidth": 1e9}, "need --chips-per-node"),
    (
        {"chips": 12, "topology": "two-level", "scaleout_bandwidth": 1e9, "chips_per_node": 8},
        "is not a multiple of --chips-per-node",
    ),
    ({"chips": 0}, "chips is 0"),
    ({"chips": 2.5}, "expected a whole number"),
    ({"chips": -4}, "chips is -4"),
    ({"chips": 16, "chips_per_node": 8}, "need --scaleout-bandwidth"),
    ({"chips": 8, "topology": "ring", "reduction": "switch"}, "--reduction switch is for"),
    (
        {"chips": 8, "topology": "switch", "op": "all-gather", "reduction": "switch"},
        "--reduction switch is for",
    ),
    ({"chips": 10, "topology": "torus", "axes": 2}, "10 chips do not fill a torus"),
    ({"chips": 8960, "topology": "torus", "axes": 3}, "8960 chips do not fill a torus"),
    ({"chips": 8, "efficiency": 1.5}, "efficiency is 1.5"),
    ({"chips": 8, "bytes": 0}, "bytes is 0"),
    ({"chips": 8, "bytes": math.nan}, "bytes is not a number"),
    ({"chips": 8, "link_bandwidth": math.inf}, "link_bandwidth is inf"),
    ({"chips": 8, "latency": 0}, "latency is 0"),
    ({"chips": 8, "bytes": 1e400}, "bytes is inf"),
    ({"chips": 8, "links_per_axis": 3}, "links_per_axis is 3"),
]


@every("changed, message", WRONG)
def test_wrong_networks_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        collective(**{**BASE, **changed})


@given(st.floats(1, 1e15), st.floats(1, 100), st.sampled_from(NETWORKS), st.sampled_from(OPS))
def test_more_bytes_are_never_faster(
    size: float, factor: float, network: dict[str, Any], op: str
) -> None:
    software = {"startup": 1e-5, "ramp": 2e-6, "efficiency": 0.8}
    fixed = {"link_bandwidth": 45e9, "chips": 64, "op": op, **network, **software}
    few, many = (collective(bytes=n, **fixed)["seconds"] for n in (size, size * factor))
    assert few <= many * (1 + 1e-12)
    # The time lies above the ideal one, and above the transfer at the rate that is reached.
    ideal = collective(bytes=size, **{**fixed, "startup": 0.0, "ramp": 0.0, "efficiency": 1.0})
    assert few >= ideal["seconds"]


@given(st.floats(1, 1e15), st.sampled_from(OPS), st.integers(1, 8), st.integers(1, 8))
def test_two_levels_are_never_faster_than_one(
    size: float, op: str, domains: int, inside: int
) -> None:
    """A network beyond that is slower than the links cannot help; one domain is one level."""
    fixed = {"bytes": size, "link_bandwidth": 450e9, "topology": "switch", "op": op}
    chips = domains * inside
    one = collective(**fixed, chips=chips)
    slow = {"chips_per_node": inside, "scaleout_bandwidth": 50e9}
    two = collective(**fixed, **slow, chips=chips)
    turns = collective(**fixed, **slow, chips=chips, level_overlap="no")
    assert two["seconds"] <= turns["seconds"] * (1 + 1e-12)
    if inside > 1:
        assert turns["seconds"] >= one["seconds"] * (1 - 1e-12)
    if domains == 1:
        assert two == one


def test_software_costs_a_launch_a_ramp_and_a_share_of_the_rate() -> None:
    """T = startup + latency + 2 sqrt(ramp x transfer) + transfer, transfer at the rate reached."""
    fixed = {**FAST, "chips": 8, "op": "all-gather"}
    out = collective(**fixed, startup=1e-4, ramp=1e-5, efficiency=0.5)
    transfer = 1e9 * 7 / 8 / 225e9
    assert out["seconds"] == pytest.approx(1e-4 + 1e-6 + 2 * math.sqrt(1e-5 * transfer) + transfer)
    assert out["latency_seconds"] == pytest.approx(1.01e-4)
    assert out["bandwidth_seconds"] == pytest.approx(transfer / 2)
    # The rate beyond the domain is taken as printed.
    levels = {"chips_per_node": 8, "scaleout_bandwidth": 50e9, "startup": 0.0}
    far = collective(**{**fixed, "chips": 64}, **levels, efficiency=0.5)
    assert far["seconds"] == pytest.approx(2e-6 + max(transfer, 1e9 / 8 * 7 / 8 / 50e9))


def test_unknown_words_offer_the_nearest() -> None:
    with pytest.raises(UnknownName, match="unknown op 'all-gater'; nearest: all-gather"):
        collective(**BASE, chips=8, op="all-gater")
    assert collective(**BASE, chips=8, op="ALL-GATHER")["steps"] == 4


def test_arrays_give_what_numbers_give() -> None:
    sizes, chips = np.logspace(0, 12, 7)[:, None], np.array([1.0, 2.0, 64.0, 4096.0])[None, :]
    for op in OPS:
        for network in NETWORKS[:3] + NETWORKS[5:6]:
            fixed = {"link_bandwidth": 45e9, "op": op, **network}
            grid = collective(bytes=sizes, chips=chips, **fixed)
            for i, size in enumerate(sizes[:, 0]):
                for j, count in enumerate(chips[0]):
                    point = collective(bytes=float(size), chips=float(count), **fixed)
                    assert grid.keys() == point.keys()
                    for name, answers in grid.items():
                        assert np.broadcast_to(answers, (7, 4))[i, j] == point[name]


def test_the_sizes_of_published_slices_fit() -> None:
    """A v5p slice of 16 x 20 x 28 (8,960 chips): an all-to-all waits for the axis of 28."""
    pod = {"topology": "torus", "axes": 3, "side_x": 16, "side_y": 20, "chips": 8960}
    out = collective(**BASE, **pod, op="all-to-all")
    assert out["steps"] == 8 + 10 + 14 and out["bytes_per_link"] == pytest.approx(
        1e9 / 8960 * 28 / 8
    )
