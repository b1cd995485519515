"""Messages of a step inside a scale-up domain and beyond it: limits, laws, and by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.evaluation.calculator import calculate

RATE, CARD = 450e9, 50e9
POWER = st.sampled_from([1, 2, 4, 8, 16, 32, 64])


def message_seconds(**changed: Any) -> float:
    """Of a decoding step of deepseek-v3 in fp8, links of H200 unless changed."""
    options: dict[str, Any] = {
        "model": "deepseek-v3",
        "dtype": "fp8",
        "seq": 4096,
        "batch": 512,
        "bandwidth": 4.8e12,
        "peak": 1.979e15,
        "memory": 141e9,
        "link_bandwidth": RATE,
    }
    return float(calculate("decode", **(options | changed))["message_seconds"])


def test_a_replica_on_two_servers_is_warned_of_the_network() -> None:
    """SGLang took 23.2 ms a token at TP 16 on two servers of eight H100 (gtobar2025deepseek)."""
    asked = {"model": "deepseek-v3", "dtype": "fp8", "chip": "h100-sxm", "seq": 2048}
    for name in ("decode", "serving"):
        wide, by_chips = (calculate(name, **asked, **{n: 16}, batch=1) for n in ("tp", "chips"))
        told = wide.omitted["waits_between_domains"]
        assert told.text == by_chips.omitted["waits_between_domains"].text
        assert (1 + told.share) * wide["likely_seconds"] == pytest.approx(23.2e-3, rel=0.02)
        for inside in ({"tp": 8}, {"tp": 8, "dp": 2, "batch": 2}):
            assert "waits_between_domains" not in calculate(name, **asked, **inside).omitted


@given(degree=POWER, near=POWER)
def test_a_domain_that_holds_the_group_changes_nothing(degree: int, near: int) -> None:
    alone = message_seconds(tp=degree)
    held = message_seconds(tp=degree, chips_per_node=degree * near, scaleout_bandwidth=CARD)
    assert held == pytest.approx(alone)


@given(ranks=POWER, node=POWER)
def test_copies_leave_the_node_in_proportion_to_the_ranks_outside(ranks: int, node: int) -> None:
    inside = message_seconds(dp=ranks, ep=ranks)
    both = message_seconds(dp=ranks, ep=ranks, chips_per_node=node, scaleout_bandwidth=CARD)
    if ranks <= node:
        assert both == pytest.approx(inside)
        return
    share = (1 - node / ranks) / (1 - 1 / ranks)
    assert both == pytest.approx(inside * (1 - share + share * RATE / CARD))


@given(degree=POWER, node=POWER)
def test_an_all_reduce_goes_on_between_the_nodes_divided_over_their_chips(
    degree: int, node: int
) -> None:
    """Two levels, as NCCL runs it: each chip of a node carries its share over its own card."""
    inside = message_seconds(tp=degree)
    both = message_seconds(tp=degree, chips_per_node=node, scaleout_bandwidth=CARD)
    nodes = max(degree // node, 1)
    # bytes of the all-reduces on a link are 2 (t - 1) / t of the values, beyond 2 (n - 1) / n / g
    values = inside * RATE / (2 * (degree - 1) / degree) if degree > 1 else 0.0
    beyond = 2 * (nodes - 1) / nodes / min(degree, node) * values
    assert both == pytest.approx(inside + beyond / CARD)


@given(degree=POWER, ranks=POWER, node=POWER)
def test_slower_cards_never_make_messages_faster(degree: int, ranks: int, node: int) -> None:
    layout = {"tp": degree, "dp": ranks, "ep": ranks, "chips_per_node": node}
    times = [message_seconds(**layout, scaleout_bandwidth=CARD * n) for n in (4, 2, 1)]
    assert times == sorted(times)


def test_an_unknown_rate_beyond_counts_as_the_rate_within() -> None:
    inside = message_seconds(dp=64, ep=64)
    assert message_seconds(dp=64, ep=64, chips_per_node=8) == pytest.approx(inside)


def test_a_chip_supplies_its_domain_and_its_cards() -> None:
    options: dict[str, Any] = {"model": "deepseek-v3", "dtype": "fp8", "seq": 4096, "batch": 512}
    wide = calculate("decode", chip="h200-sxm", dp=64, ep=64, **options)
    assert wide.inputs["chips_per_node"].value == 8
    assert wide.inputs["scaleout_bandwidth"].value == 50e9
    rack = calculate("decode", chip="gb200-gpu", dp=64, ep=64, **options)
    assert rack["message_seconds"] < wide["message_seconds"] / 10


def test_a_chip_whose_domain_is_not_recorded_still_answers() -> None:
    answer = calculate("decode", model="llama-3-8b", chip="rtx-4090", tp=2, batch=1, seq=4096)
    assert answer["seconds"] > 0 and "chips_per_node" not in answer.inputs


def test_cards_on_a_bus_send_over_the_bus() -> None:
    """An L40S has no NVLink: messages of TP go over its PCIe, 32 GB/s one way."""
    run = {"model": "llama-3-70b", "chip": "l40s", "tp": 4, "seq": 4096}
    for name in ("decode", "prefill", "serving"):
        looked_up = calculate(name, **run)
        assert looked_up.inputs["link_bandwidth"].value == 32e9
        assert looked_up["message_seconds"] > 0
        typed = calculate(name, **run, link_bandwidth="32GB/s")
        assert typed["likely_seconds"] == looked_up["likely_seconds"]
