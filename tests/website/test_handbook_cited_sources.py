"""Statements of thirteen chapters that their sources contradict, beside what is right.

Each phrase stood in a chapter once, and each number here is computed again from its inputs.
"""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.ledger.rows import ledger_row
from tests.website.test_handbook_errors import text_of

KINDS = ("all-reduce", "off-all-reduce", "all-gather", "reduce-scatter")
WRONG = [
    ("fsdp", "hides nearly all of them above"),
    ("fsdp", "almost none of it is on the critical path"),
    ("fsdp", "so the traffic is easier to overlap"),
    ("fsdp", "You have four options"),
    ("fsdp", "so that 8 chips share a group's tokens and each gathers an eighth"),
    ("networks", 'topology="switch", link_bandwidth=nic'),
    ("networks", "It helps all-reduce and reduce-scatter"),
    ("networks", "while the next two rows take the share"),
    ("networks", "and runs at full link rate on any size. An"),
    ("networks", "replicate across nodes (HSDP) if memory allows"),
]


@pytest.mark.parametrize(("chapter", "words"), WRONG)
def test_what_a_source_contradicts_is_gone(chapter: str, words: str) -> None:
    assert words not in text_of(chapter)


@pytest.mark.parametrize("tp", [1, 2, 8])
def test_tp_inside_a_node_leaves_the_limit_across_nodes_where_it_was(tp: int) -> None:
    """Through a card comes 1/8 of each layer, with TP or without; so do FLOPs for each byte."""
    peak, card, node = 989.4e12, 50e9, 8
    groups_in_a_node = node / tp  # each GPU brings in its part of what the node gathers
    through_a_card = 2 / tp / groups_in_a_node / card  # seconds for each weight of a layer
    for_a_token = 2 / tp * tp / peak  # a TP rank has 1/tp of the layer, and tp ranks' tokens
    assert through_a_card / for_a_token == pytest.approx(2474, abs=1)
    assert "bytes and FLOPs are what they were" in text_of("fsdp")


def test_one_ring_is_eight_times_as_slow_as_eight_cards_at_the_same_rate() -> None:
    """2 (511/512) GB through one card of 50 GB/s, against 2 (63/64) of an eighth."""
    options = {"op": "all-reduce", "chip": "h100-sxm", "chips": 512, "scaleout_bandwidth": 50e9}
    one_ring, eight = 2 * 511 / 512 / 50, 2 * 63 / 64 / 8 / 50
    assert round(one_ring / eight) == 8
    assert calculate("collective", **options, bytes=1e9)["seconds"] == pytest.approx(eight, rel=0.1)


def test_a_switch_that_adds_speeds_up_the_all_reduce_alone() -> None:
    """Measured on 8 H200: gathers and scatters run at the rate of the ring."""
    rate = {name: float(ledger_row(f"nvls-{name}").stated.value or 0) for name in KINDS}
    assert rate["all-reduce"] / rate["off-all-reduce"] == pytest.approx(1.31, abs=0.01)
    for other in ("all-gather", "reduce-scatter"):
        assert rate[other] / rate["off-all-reduce"] == pytest.approx(0.99, abs=0.01)
