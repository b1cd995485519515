"""Sizes of what the answers on networks leave out, on paper: shares of ten seconds and the like."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas import network_omissions as left_out
from flopbook.quantities.ops import inf

near = pytest.approx


def size(name: str, *values: Any) -> float:
    return float(getattr(left_out, name).function(*values))


def test_switches_that_sum_save_half_of_what_leaves_a_domain() -> None:
    """40 bytes at 10 a second are 4 of 10 seconds."""
    for op in ("all-reduce", "reduce-scatter"):
        assert size("sums_in_the_network", op, "yes", 40, 10, 10) == near(-0.2)
        assert size("sums_in_the_network", op, "no", 40, 10, 10) == 0
    assert size("sums_in_the_network", "all-gather", "yes", 40, 10, 10) == 0
    assert size("sums_in_the_network", "all-reduce", "yes", 400, 10, 10) == near(-0.5)
    assert size("sums_in_the_network", "all-reduce", "yes", 0, inf, 0) == 0
    assert size("sums_in_the_network", "all-reduce", "yes", 0, inf, 10) == 0
    assert size("sums_in_the_network", "all-reduce", "yes", 1, 10, 10) == near(-0.005)


def test_one_port_serves_both_sides_of_a_ring() -> None:
    assert size("one_port_for_both_sides", "ring", 2, 8, 10) == near(0.8)
    assert size("one_port_for_both_sides", "ring", 1, 8, 10) == 0
    assert size("one_port_for_both_sides", "torus", 2, 8, 10) == 0
    assert size("one_port_for_both_sides", "ring", 2, 0, 0) == 0
    assert size("one_port_for_both_sides", "ring", 2, 0.4, 0.5) == near(0.8)


def test_each_chip_may_have_an_array_of_its_own() -> None:
    for op in ("all-to-all", "permute"):
        assert size("array_of_each_chip", op, 8, 5, 10) == near(3.5)
        assert size("array_of_each_chip", op, 1, 0, 0) == 0
        assert size("array_of_each_chip", op, 8, 0.25, 0.5) == near(3.5)
    assert size("array_of_each_chip", "all-gather", 8, 5, 10) == 0


def sweep(link: float, topology: str = "switch", efficiency: float = 1, out: float = 0) -> float:
    """100 bytes times the rate of a link take 100 seconds, of 200 in all."""
    values = (topology, efficiency, link, 1.0, 100 * link, out, 200)
    return size("links_without_a_sweep", *values)


def test_links_reach_the_share_of_their_kind() -> None:
    usual = (1 / left_out.MEASURED_SHARE - 1) / 2
    bus = (1 / left_out.BUS_SHARE - 1) / 2
    assert bus > usual > 0
    for rate in (100e9, 30e9, 34e9, 61e9, 66e9):
        assert sweep(rate) == near(usual)
    for rate in (31.5e9, 32e9, 63e9, 64e9):
        assert sweep(rate) == near(bus)
        assert sweep(rate, "mesh") == near(usual)
    assert sweep(100e9, efficiency=0.9) == 0
    assert sweep(100e9, out=1000) == 0
    assert sweep(100e9, out=100) == near(usual)
    alone = ("switch", 1.0, 1e9, 1.0, 0.0, 0.0, 0.0)
    assert size("links_without_a_sweep", *alone) == 0
    assert size("links_without_a_sweep", "switch", 1.0, 1.0, 1.0, 0.25, 0.0, 0.5) == near(usual)


def test_cards_reach_a_share_of_their_rate() -> None:
    """40 bytes at 10 a second take longer by the share, as far as nothing else does."""

    def cards(*values: float, op: str = "all-to-all", chips: float = 64) -> float:
        return size("cards_below_their_rate", op, chips, 8, *values)

    slower = 4 / left_out.CARD_SHARE
    assert cards(40, 10, 4, 10) == near((slower - 4) / 10)
    assert cards(40, 10, 3, 10) == near((slower - 4) / 10)
    between = (4 + slower) / 2
    assert cards(40, 10, between, 10) == near((slower - between) / 10)
    assert cards(40, 10, 9, 10) == 0
    assert cards(0, 10, 0, 0) == 0
    assert cards(1, 10, 0.1, 0.1) == near(1 / left_out.CARD_SHARE - 1)


@pytest.mark.parametrize(
    ("op", "servers", "more"),
    [
        ("all-reduce", 4, (31 / 32) / (3 / 4)),
        ("all-reduce", 2, 1),
        ("all-gather", 2, (15 / 16) / (1 / 2)),
        ("reduce-scatter", 64, (511 / 512) / (63 / 64)),
        ("all-to-all", 4, 1),
    ],
)
def test_a_ring_crosses_the_cards_with_more_than_stages(op: str, servers: int, more: float) -> None:
    """It leaves out the part of a chip, and stages that of a server of eight."""
    told = size("cards_below_their_rate", op, 8 * servers, 8, 40, 10, 4, 4)
    assert told == near(more / left_out.CARD_SHARE - 1)


@pytest.mark.parametrize(
    ("chips", "node", "share"),
    [(8, 8, -1 / 8), (4, 8, -1 / 4), (16, 8, -1 / 2), (64, 8, -1 / 8), (1, 8, -1), (inf, 8, 0)],
)
def test_a_chip_has_its_own_share(chips: float, node: float, share: float) -> None:
    assert size("own_share", chips, node) == near(share)


@pytest.mark.parametrize(("degree", "share"), [(9, 1 / 8), (3, 0.5), (2, 1), (1, 1)])
def test_a_chip_has_its_own_columns(degree: float, share: float) -> None:
    assert size("own_columns", degree) == near(share)


@pytest.mark.parametrize(
    ("x", "y", "share"), [(4, 8, 0.75 * 0.875), (2, 2, 0.25), (1, 1, 0.25), (1.5, 4, 0.375)]
)
def test_a_chip_has_its_own_shares(x: float, y: float, share: float) -> None:
    assert size("own_shares", x, y) == near(share - 1)


def test_axes_overlap_and_fsdp_may_do_alone() -> None:
    assert size("overlap_of_axes", 2, 500) == near(-0.75)
    assert size("overlap_of_axes", 3, 500) == near(-0.75)
    assert size("overlap_of_axes", 1, 500) == 0
    assert size("fsdp_alone", 300, 400) == near(-0.25)
    assert size("fsdp_alone", 500, 400) == 0
    assert size("fsdp_alone", 700, 400) == 0


def test_an_exchange_crosses_many_links_of_a_ring() -> None:
    for topology in ("ring", "torus"):
        assert size("exchange_on_a_ring", "swap", topology, 16) == near(3)
        assert size("exchange_on_a_ring", "swap", topology, 5) == near(0.25)
        assert size("exchange_on_a_ring", "swap", topology, 3) == 0
        assert size("exchange_on_a_ring", "swap", topology, inf) == 0
        assert size("exchange_on_a_ring", "ring", topology, 16) == 0
    assert size("exchange_on_a_ring", "swap", "switch", 16) == 0


def test_masks_halve_the_arithmetic() -> None:
    assert size("causal_mask_of_a_ring", "no", 100) == 1
    assert size("causal_mask_of_a_ring", "yes", 100) == 0


def test_experts_on_one_chip_take_one_trip() -> None:
    """Two choices of two chips: one half of the time on the same, 1.5 trips."""
    assert size("shared_trips", 2, 2) == near(2 / 1.5 - 1)
    assert size("shared_trips", 4, 3) == near(3 / (4 * (1 - 0.75**3)) - 1)
    assert size("shared_trips", 1, 3) == near(2)
    assert size("shared_trips", inf, 3) == 0


def test_the_fullest_chip_is_three_deviations_above() -> None:
    """Of 100 draws the root is 10: 30 % above, of 25 60 %."""
    assert size("fullest_chip", 8, 4, 25) == near(1 / 1.3 - 1)
    assert size("fullest_chip", 8, 1, 25) == near(1 / 1.6 - 1)
    assert size("fullest_chip", 2, 4, 25) == near(1 / 1.3 - 1)
    assert size("fullest_chip", 1, 4, 25) == size("fullest_chip", inf, 4, inf) == 0


def test_sums_in_fp32() -> None:
    assert size("sums_in_fp32", 2) == 1
    assert size("sums_in_fp32", 4) == size("sums_in_fp32", 8) == 0
    assert size("sums_in_fp32", 3) == near(1 / 3)


@pytest.mark.parametrize(
    ("width", "regather", "tokens", "domain", "share"),
    [
        (2, "yes", 100, 100, 1.5 - 1),
        (2, "no", 100, 100, 0),
        (1, "no", 100, 100, 2 - 1),
        (4, "yes", 100, 100, 0),
        (8, "yes", 100, 100, 0),
        (2, "yes", 120, 100, 1),
        (2, "yes", 300, 100, 1),
        (1, "yes", 100, 100, 2.5 - 1),
        (2, "yes", 100, 120, 0.8),
    ],
)
def test_gradients_reduced_in_fp32(
    width: float, regather: str, tokens: float, domain: float, share: float
) -> None:
    assert size("reduced_in_fp32", width, regather, tokens, domain) == near(share)


@pytest.mark.parametrize(
    ("width", "tokens", "domain", "share"),
    [(2, 100, 100, 0.5), (4, 100, 100, 0), (8, 100, 100, 0), (2, 120, 100, 1), (1, 100, 100, 1.5)],
)
def test_gradients_summed_beside_tensor_parallelism(
    width: float, tokens: float, domain: float, share: float
) -> None:
    assert size("summed_in_fp32", width, tokens, domain) == near(share)


def test_what_stands_beside_the_block() -> None:
    assert size("attention_of_a_layer", 0.4) == near(-0.3)
    assert size("attention_of_a_layer", 1) == 0
    assert size("rest_of_the_layer", 0.4) == 0.4
    assert size("narrower_dispatch", 2) == near(1 / 3)
    assert size("narrower_dispatch", 1) == near(-1 / 3)


def test_a_start_that_is_not_counted_is_that_of_the_fastest_links() -> None:
    late = left_out.LEAST_START
    assert size("start_without_a_sweep", 0, 8, 10 * late) == near(0.1)
    assert size("start_without_a_sweep", 1e-6, 8, 10 * late) == 0
    assert size("start_without_a_sweep", 0, 1, 0) == 0
    assert size("starts_apart", 2, 8, 10) == near(0.2)
    assert size("starts_apart", 2, 1, 0) == 0


def test_a_tree_between_servers_has_a_step_for_each_doubling() -> None:
    """Of 64 chips in eights: three doublings up and down, one hop of each counted already."""
    step = left_out.NETWORK_STEP
    for servers, doublings in ((2, 1), (3, 1), (8, 3), (1024, 10), (4096, 12)):
        share = size("steps_between_servers", "all-reduce", 8 * servers, 8, 1e-6, 1, 1)
        assert share == near(2 * (doublings * step - 1e-6))
    assert size("steps_between_servers", "all-gather", 64, 8, 1e-6, 1, 1) == 0
    assert size("steps_between_servers", "all-reduce", 8, 8, 1e-6, 0, 1) == 0
    assert size("steps_between_servers", "all-reduce", 8, inf, 1e-6, 0, 0) == 0
    assert size("steps_between_servers", "all-reduce", 64, 8, 1e-3, 1, 1) == 0
