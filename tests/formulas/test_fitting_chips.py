"""Chips that hold a model and that no TP degree uses; chips of a node that nobody uses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate
from flopbook.errors import FlopbookError
from flopbook.formulas import get_formula
from flopbook.formulas.fitting_chips import no_such_degree
from flopbook.formulas.requests import idle_chips_of_a_node

OPEN = float("inf")


def next_degree(fewest: float, **more: Any) -> float:
    heads = {"free": -1.0, "heads": 64, "kv_heads": 8, "kv_lora_rank": 0, "dp": OPEN, "ep": 1}
    return no_such_degree.value({**heads, **more, "fewest_chips": fewest})


@given(st.integers(1, 64))
def test_the_next_power_of_two_divides_the_heads(fewest: int) -> None:
    """64 heads, 8 of them with keys: the powers of two up to 64 are degrees, and nothing else."""
    degree = 1 << (fewest - 1).bit_length()
    assert next_degree(fewest) == pytest.approx(degree / fewest - 1)


def test_other_heads_have_other_degrees() -> None:
    assert next_degree(10, heads=40, kv_heads=40) == next_degree(5, heads=40, kv_heads=40) == 0
    # Five chips do not share eight KV heads, but a latent vector, which each of them holds.
    assert next_degree(5, heads=40, kv_heads=8) == pytest.approx(0.6)
    assert next_degree(5, heads=40, kv_heads=8, kv_lora_rank=512) == 0


def test_replicas_share_out_chips_in_other_ways() -> None:
    assert next_degree(11, dp=2) == next_degree(11, ep=2) == next_degree(65) == 0
    assert next_degree(OPEN) == 0 and next_degree(11, dp=1) > 0
    assert next_degree(11, free=0.0) == 0, "what fits needs no other number of chips"


@pytest.mark.parametrize("name", ["decode", "prefill", "serving"])
def test_405b_needs_16_chips_where_11_hold_it(name: str) -> None:
    asked = {"model": "llama-3-405b", "chip": "h100-sxm", "seq": 1024, "batch": 64}
    answer = calculate(name, **asked)
    assert answer["fewest_chips"] == 11
    assert answer.omitted["no_such_degree"].share == pytest.approx(16 / 11 - 1)
    assert "128 attention heads" in answer.omitted["no_such_degree"].text
    two_hold_it = {**asked, "model": "llama-3-70b", "batch": 1}
    assert "no_such_degree" not in calculate(name, **two_hold_it).omitted


def fewest(**shape: Any) -> float:
    """Chips of 1 GB for one layer of 12 heads with 100 values in each key, at 2 bytes a value."""
    asked = {"layers": 1, "heads": 12, "head_dim": 100, "peak": 1e15, "bandwidth": 1e12}
    asked |= {"compute_params": shape["params"], "memory": 1e9}
    chips: float = get_formula("decode")(**asked, **shape)["fewest_chips"]
    return chips


def test_a_replica_for_each_sequence_may_need_the_fewest_chips() -> None:
    """Weights of 1.9 GB and two caches of 1.09, which three chips divide and no more.

    Three chips hold one of each. One replica for both takes seven: each of them holds 0.73 GB of
    cache, and 0.27 is left for weights.
    """
    assert fewest(params=0.95e9, kv_heads=3, seq=908_333, batch=2) == 6


def test_several_replicas_of_more_chips_may_need_the_fewest() -> None:
    """Weights of 3.32 GB and eight caches of 1.044: four replicas of TP 7 hold two caches each.

    On seven chips of a replica lie 0.47 GB of weights and, cut by four KV heads, 0.52 of cache.
    """
    assert fewest(params=1.66e9, kv_heads=4, seq=652_500, batch=8) == 28


@given(
    st.floats(1e6, 3e9),
    st.sampled_from([1, 2, 3, 4, 6, 12]),
    st.integers(1, 10**7),
    st.integers(1, 9),
)
def test_no_layout_holds_it_on_fewer_chips_than_told(
    params: float, kv_heads: int, seq: int, batch: int
) -> None:
    """Every TP degree with every number of replicas, each with a share of the sequences."""
    cache = batch * seq * 2 * kv_heads * 100 * 2
    layouts = [(tp, dp) for tp in range(1, 65) for dp in range(1, batch + 1)]
    holding = [
        tp * dp for tp, dp in layouts if 2 * params / tp + cache / dp / min(tp, kv_heads) <= 1e9
    ]
    told = fewest(params=params, kv_heads=kv_heads, seq=seq, batch=batch)
    assert told >= min(holding, default=0)
    if told <= 64:
        assert holding and told <= 2 * min(holding)


def idle(**layout: float) -> float:
    values = {**get_formula("serving").defaults, "chips_per_node": 8, **layout}
    return float(idle_chips_of_a_node.value(values))


@given(st.integers(1, 40), st.integers(2, 16))
def test_copies_of_a_group_fill_the_node(group: int, node: int) -> None:
    """Counted chip by chip: as many groups as one node holds, or as many nodes as hold one."""
    taken = node // group * group if group <= node else group
    rented = node if group <= node else -(-group // node) * node
    assert idle(chips=group, chips_per_node=node) == pytest.approx(rented / taken - 1)


def test_a_group_is_tp_times_replicas() -> None:
    assert idle(tp=2, dp=3) == idle(chips=6) == pytest.approx(1 / 3)
    assert idle() == idle(tp=4) == idle(ep=8) == 0
    assert idle(tp=2, ep=5) == pytest.approx(0.6)
    assert idle(chips=6, chips_per_node=OPEN) == 0


def test_idle_chips_are_told_with_a_price_only() -> None:
    asked = {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 4096, "tp": 1, "dp": 5}
    assert "idle_chips_of_a_node" not in calculate("serving", **asked).omitted
    told = calculate("serving", **asked, price="2USD/h").omitted["idle_chips_of_a_node"]
    assert told.share == pytest.approx(0.6) and "nodes of 8" in told.text


@pytest.mark.parametrize("layout", [{"chips": 8, "tp": 2}, {"tp": 2, "dp": 4}, {"tp": 2, "ep": 4}])
def test_every_replica_needs_a_sequence(layout: dict[str, int]) -> None:
    """Eight chips at TP 2 are four replicas, however they are written."""
    asked = {"model": "qwen-3-30b-a3b", "chip": "h100-sxm", "seq": 128, **layout}
    assert calculate("decode", **asked, batch=4)["seconds"] > 0
    with pytest.raises(FlopbookError, match="--batch 3 is smaller than the replicas"):
        calculate("decode", **asked, batch=3)


@pytest.mark.parametrize("layout", [{"chips": 8, "tp": 2}, {"chips": 8, "dp": 4}])
def test_experts_are_spread_over_the_replicas(layout: dict[str, int]) -> None:
    """Four replicas take an EP degree of 4, and none of 8."""
    asked = {"model": "qwen-3-30b-a3b", "chip": "h100-sxm", "seq": 128, "batch": 16, **layout}
    assert calculate("decode", **asked, ep=4)["seconds"] > 0
    with pytest.raises(FlopbookError, match="--ep 8 does not divide the replicas"):
        calculate("decode", **asked, ep=8)
