"""Collectives on chips of the catalogue: their topology, their domain, what software reaches."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from tests.support.samples import World, claim

# Bus bandwidth measured on eight GPUs at a switch, GB/s: bekman2026network. The last ones add up in
# the switch.
MEASURED = [
    ("a100-sxm-80gb", "all-reduce", 2**34, "chips", 234.89),
    ("a100-sxm-80gb", "all-reduce", 2**20, "chips", 18.0),
    ("h200-sxm", "all-reduce", 2**34, "chips", 367.2),
    ("h200-sxm", "all-gather", 2**34, "chips", 361.4),
    ("h200-sxm", "reduce-scatter", 2**34, "chips", 362.9),
    ("b200", "all-reduce", 2**33, "chips", 682.2),
    ("h200-sxm", "all-reduce", 2**34, "switch", 480.0),
    ("b200", "all-reduce", 2**33, "switch", 838.0),
]


@pytest.mark.parametrize(("chip", "op", "size", "reduction", "measured"), MEASURED)
def test_measured_bus_bandwidths_are_met(
    chip: str, op: str, size: float, reduction: str, measured: float
) -> None:
    """Within 10 percent from 8 GiB, within 40 percent at 1 MiB; the printed rates are a bound."""
    fixed = {"chip": chip, "chips": 8, "op": op, "bytes": size, "reduction": reduction}
    reached = calculate("collective", **fixed)["bus_bandwidth"]
    assert reached == pytest.approx(measured * 1e9, rel=0.1 if size > 2**30 else 0.4)
    ideal = {"startup": 0, "ramp": 0, "efficiency": 1, "reduction_efficiency": 1}
    assert measured * 1e9 < calculate("collective", **fixed, **ideal)["bus_bandwidth"]


@pytest.mark.parametrize(("chips", "measured"), [(5, 414.2), (6, 435.6), (7, 460.0), (8, 473.1)])
def test_sums_in_the_switch_by_number_of_gpus(chips: int, measured: float) -> None:
    """V(1 + 1/N) a chip: eight GPUs gain more than five, as measured on H200: bekman2026network."""
    out = calculate("collective", chip="h200-sxm", chips=chips, bytes=2**33, reduction="switch")
    assert out["bus_bandwidth"] == pytest.approx(measured * 1e9, rel=0.03)
    assert out["bytes_per_link"] == pytest.approx(2**33 * (1 + 1 / chips))


def ideal_bus(**options: Any) -> float:
    """Bus bandwidth at the printed rates, without latency."""
    ideal = {"startup": 0, "ramp": 0, "efficiency": 1, "latency": 1e-12}
    return float(calculate("collective", bytes=1e9, **options, **ideal)["bus_bandwidth"])


def test_a_chip_brings_its_own_network() -> None:
    torus = calculate("collective", chip="tpu-v5p", chips=64, bytes=1e9)
    assert (torus.inputs["topology"].value, torus.inputs["axes"].value) == ("torus", 3)
    assert any("3 axes of 2 links; one link carries" in note for note in torus.notes)
    assert ideal_bus(chip="tpu-v5p", chips=64) == pytest.approx(6e11)
    switch = calculate("collective", chip="h100-sxm", chips=8, bytes=1e9)
    assert switch.inputs["topology"].value == "switch"
    assert ideal_bus(chip="h100-sxm", chips=8) == pytest.approx(450e9)
    # A ring through a switch has one port for both neighbours.
    ring = calculate("collective", chip="h100-sxm", chips=8, bytes=1e9, topology="ring")
    assert ring["bandwidth_seconds"] == switch["bandwidth_seconds"] and ring["steps"] == 14
    # An axis of a slice of whole cubes is a ring, and of 6 chips it is open.
    assert ideal_bus(chip="tpu-v5p", chips=16, topology="ring") == pytest.approx(2e11)
    assert ideal_bus(chip="tpu-v5p", chips=6, topology="ring") == pytest.approx(1e11)


def test_two_levels_take_what_the_chip_records() -> None:
    """Past its domain a chip has two levels without being asked."""
    racks = calculate("collective", chip="gb200-gpu", chips=144, bytes=1e9)
    assert racks.inputs["chips_per_node"].value == 72
    assert racks.inputs["scaleout_bandwidth"].value == 50e9 and racks["scaleout_bytes"] > 0
    named = calculate("collective", chip="gb200-gpu", chips=144, bytes=1e9, topology="two-level")
    assert named.outputs == racks.outputs
    rack = calculate("collective", chip="gb200-gpu", chips=72, bytes=1e9)
    assert rack["scaleout_bytes"] == 0 and rack["one_ring_seconds"] == math.inf
    with pytest.raises(FlopbookError, match="two levels need --scaleout-bandwidth"):
        calculate("collective", chip="mi350x", chips=16, bytes=1e9)


def test_cards_in_pairs_cross_the_bus_of_their_host() -> None:
    """Eight H100 PCIe: 15 ms with the bridged pairs first, 27 ms as one ring over PCIe, never 6."""
    cards = calculate("collective", chip="h100-pcie", chips=8, bytes=1e9)
    assert cards["seconds"] == pytest.approx(15.05e-3, rel=1e-2)
    assert cards["one_ring_seconds"] == pytest.approx(27.3e-3, rel=1e-2)
    pair = calculate("collective", chip="h100-pcie", chips=2, bytes=1e9)
    assert pair["bandwidth_seconds"] == pytest.approx(1e9 / 300e9)
    # A card without a bridge has the bus alone.
    bus = calculate("collective", chip="v100-pcie", chips=4, bytes=1e9)
    assert bus.inputs["link_bandwidth"].value == 16e9


def test_a_few_chips_of_a_mesh_have_few_links() -> None:
    """MI300X: 47.7 GB/s measured between two and 312.9 GB/s over eight: bekman2026network."""
    two, four, eight = (ideal_bus(chip="mi300x", chips=n) for n in (2, 4, 8))
    assert (two, four, eight) == pytest.approx((64e9, 192e9, 448e9))
    assert 0.7 < 47.671e9 / two < 0.75 and 0.69 < 312.912e9 / eight < 0.71
    assert ideal_bus(chip="gaudi-3", chips=8) == pytest.approx(525e9)
    # Four A100 on a board without a switch: 12 links, four to each of three others.
    board = {"chip": "a100-sxm-80gb", "topology": "mesh", "chips_per_node": 4}
    assert ideal_bus(**board, chips=2) == pytest.approx(100e9)
    assert ideal_bus(**board, chips=4) == pytest.approx(300e9)


@pytest.mark.parametrize(
    ("chip", "chips", "axes", "links"),
    [
        ("tpu-v5e", 4, 2, 2),  # 2x2, open
        ("tpu-v5e", 8, 2, 2),  # 2x4, open
        ("tpu-v5e", 16, 1, 2),  # an axis of 16 is a ring
        ("tpu-v5e", 128, 2, 3),  # 8x16: one ring
        ("tpu-v5e", 256, 2, 4),
        ("tpu-v5p", 8, 3, 3),  # 2x2x2
        ("tpu-v5p", 16, 3, 3),  # 2x2x4 is no whole cube, so open
        ("tpu-v5p", 64, 3, 6),
        ("tpu-v5p", 128, 3, 6),  # 4x4x8
        ("tpu-v7x", 4, 3, 2),  # 2x1x2
    ],
)
def test_slices_have_rings_only_where_they_are_long_enough(
    chip: str, chips: int, axes: int, links: float
) -> None:
    """austin2025tpus: no wraps on axes below 16 (v5e, v6e), or on slices below a cube (v4, v5p)."""
    out = calculate("collective", chip=chip, chips=chips, axes=axes, bytes=1e9, op="all-gather")
    assert out["bytes_per_link"] == pytest.approx(1e9 * (1 - 1 / chips) / links)


def test_a_chip_of_unknown_domain_says_what_to_give(world: World) -> None:
    world.entry("one", claim(), claim("scaleup_bandwidth"), claim("scaleup_axes"))
    for name in ("collective", "fsdp-limit"):
        needed = {"bytes": 1e9, "chips": 8} if name == "collective" else {}
        with pytest.raises(
            FlopbookError, match=r"acme/one: .* not recorded; give --chips-per-node"
        ):
            calculate(name, chip="one", **needed)
        assert calculate(name, chip="one", chips_per_node=8, **needed)


@pytest.mark.parametrize(
    ("chip", "topology", "domain"),
    [
        ("rtx-3090", "mesh", 2),
        ("rtx-a6000", "mesh", 2),
        ("ascend-910b", "mesh", 8),
        ("maia-100", "mesh", 4),
        ("mi455x", "switch", 72),
    ],
)
def test_a_domain_may_say_how_its_chips_are_joined(chip: str, topology: str, domain: int) -> None:
    """A bridge between two cards, a full mesh, a rack of switches: no other record is needed."""
    result = calculate("collective", chip=chip, chips=2, bytes="1GB")
    assert result.inputs["topology"].value == topology
    assert result.inputs["chips_per_node"].value == domain


def test_a_bridge_carries_all_of_a_sum_of_two() -> None:
    """RTX 3090: four links, 56.25 GB/s one way (nvidia2020ga102)."""
    result = calculate("collective", chip="rtx-3090", chips=2, bytes="1GB")
    assert result["bandwidth_seconds"] == pytest.approx(1e9 / 56.25e9)
    assert any("wired to the one other chip of its board" in note for note in result.notes)


@pytest.mark.parametrize(
    ("chip", "bridge", "bus"),
    [("rtx-3090", 56.25e9, 32e9), ("rtx-a6000", 56.25e9, 32e9), ("titan-rtx", 50e9, 16e9)],
)
def test_two_bridged_pairs_sum_over_the_bus(chip: str, bridge: float, bus: float) -> None:
    """Each card sums half of the array in its pair, and that half over 16 lanes of PCIe."""
    result = calculate("collective", chip=chip, chips=4, bytes="1GB")
    assert result["bandwidth_seconds"] == pytest.approx(1e9 / bridge + 0.5e9 / bus)
    assert "sums_in_the_network" not in result.omitted


def test_servers_may_sum_in_the_network_between_them() -> None:
    result = calculate("collective", chip="h100-sxm", chips=16, bytes="1GB")
    assert "sums_in_the_network" in result.omitted
