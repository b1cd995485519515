"""Two of chips, TP degree and replicas give the third, and prices are those of whole nodes."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.evaluation.calculator import calculate
from tests.support.cases import every

SERVED: dict[str, Any] = {"model": "deepseek-v3", "chip": "b200", "seq": 2048, "batch": 64}
DEGREES = st.sampled_from([1, 2, 4, 8])
CALCULATORS = ("decode", "prefill", "serving")


@pytest.mark.parametrize("name", CALCULATORS)
@given(tp=DEGREES, dp=DEGREES)
def test_two_of_chips_degree_and_replicas_give_the_third(name: str, tp: int, dp: int) -> None:
    both = calculate(name, **SERVED, tp=tp, dp=dp, ep=dp)
    sizes = {id: noted.share for id, noted in both.omitted.items()}
    for said in ({"tp": tp}, {"dp": dp}, {"tp": tp, "dp": dp}):
        placed = calculate(name, **SERVED, chips=tp * dp, ep=dp, **said)
        assert dict(placed) == dict(both)
        assert {id: noted.share for id, noted in placed.omitted.items()} == sizes


@every("name", CALCULATORS)
def test_experts_alone_are_spread_over_replicas(name: str) -> None:
    """Ranks of experts are replicas of attention where nothing else is said."""
    spread = calculate(name, **SERVED, ep=8)
    assert dict(spread) == dict(calculate(name, **SERVED, ep=8, dp=8))
    assert dict(spread) == dict(calculate(name, **SERVED, ep=8, chips=8))
    assert dict(spread) != dict(calculate(name, **SERVED, dp=8))


@pytest.mark.parametrize("tp", [1, 2, 3, 5, 6, 8, 12, 16, 17])
def test_idle_chips_are_those_of_nodes_that_copies_do_not_fill(tp: int) -> None:
    """As many copies as a node holds share one; a copy beyond a node has whole nodes."""
    served = {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 512, "price": "2USD/h"}
    copies = max(8 // tp, 1)
    idle = math.ceil(copies * tp / 8) * 8 / (copies * tp) - 1
    heads = {"heads": 17 * 16 * 15, "kv_heads": 17 * 16 * 15, "head_dim": 8}
    for placed in ({"tp": tp}, {"chips": tp}, {"dp": tp, "batch": 64}, {"chips": tp, "tp": tp}):
        told = calculate("serving", **served, **heads, **placed).omitted
        noted = told.get("idle_chips_of_a_node")
        assert (noted.share if noted else 0) == pytest.approx(idle if idle > 0.1 else 0), placed


@given(tp=st.sampled_from([1, 2, 4]), ep=st.sampled_from([1, 2, 8, 16]), memory=st.floats(200, 2e4))
def test_the_batch_that_fits_beside_experts_is_the_largest(tp: int, ep: int, memory: float) -> None:
    """Each replica has as many sequences as fit; of one more each, some chip is too full."""
    ranks = {**SERVED, "tp": tp, "ep": ep, "memory": memory * 1e9}
    del ranks["batch"]
    most = int(calculate("serving", **ranks)["batch_fits"])
    if most:
        assert calculate("decode", **ranks, batch=most)["free"] >= 0
    assert calculate("decode", **ranks, batch=most + ep)["free"] < 0


def test_one_sequence_is_a_batch() -> None:
    """Served alone it is decoded as alone, and what it costs is finite."""
    alone = {**SERVED, "batch": 1, "price": "2USD/h"}
    alone |= {"prompt_tokens": 1024, "answer_tokens": 256, "first": 0.2}
    served = calculate("serving", **alone, tp=8)
    step = calculate("decode", **{**SERVED, "batch": 1}, tp=8)
    assert served["seconds"] == step["seconds"]
    assert served["tokens_per_s"] == pytest.approx(1 / step["seconds"])
    cost = 8 * 2 / 3600
    for name, seconds in (("", served["seconds"]), ("likely_", served["likely_seconds"])):
        assert served[f"{name}usd_per_million_tokens"] == pytest.approx(1e6 * seconds * cost)
    assert served["answer_seconds"] == pytest.approx(0.2 + 255 * served["seconds"])
    assert served["requests_per_s"] * served["usd_per_request"] == pytest.approx(cost)
