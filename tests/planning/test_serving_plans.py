"""A plan of serving: the prediction for each replica and batch, ranked within the limits."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from flopbook.errors import FlopbookError
from flopbook.planning.serving import (
    ServingPlan,
    plan_serving,
    sequence_counts,
)
from flopbook.planning.serving_flags import sglang_flags, trtllm_flags, vllm_flags
from flopbook.planning.serving_question import serving_question
from flopbook.prediction import serving
from flopbook.prediction.fitted import fitted_kinds

ASKED = {"model": "llama-3-70b", "chip": "h100-sxm", "chips": "8", "dtype": "fp8"}


def planned(**more: str) -> ServingPlan:
    """The plan where replicas are divided by tensor parallelism alone, as the prediction is."""
    return plan_serving(serving_question({**ASKED, "pp": "1", "pools": "one", **more}), 100)


def test_a_layout_is_what_the_prediction_says_of_it() -> None:
    found = planned()
    p = fitted_kinds()["inference"].parameters
    for layout in found.layouts:
        assert layout.tp * layout.replicas == 8
        replica = found.question.base._replace(
            tp=float(layout.tp), chips=float(layout.tp), batch=float(layout.batch)
        )
        rate = serving.predict([replica], p)[0] * layout.replicas
        assert layout.tokens_per_s == pytest.approx(rate)
        assert layout.low < rate < layout.high
        step = serving.predict([replica._replace(task=serving.DECODE)], p)[0]
        assert layout.per_token == pytest.approx(step)


def test_every_replica_and_batch_is_ranked_or_counted() -> None:
    found = planned(tp="4")
    one_by_one = [planned(tp="4", batch=str(size)) for size in range(1, 40)]
    rates = [each.layouts[0].tokens_per_s for each in one_by_one]
    assert rates == sorted(rates)
    assert found.layouts[0].tokens_per_s >= rates[-1]
    assert found.considered > sum(found.infeasible.values())


def test_weights_and_full_sequences_are_what_it_takes() -> None:
    """A byte for each weight, and 2 x 80 layers x 8 heads x 128 values a token in fp8."""
    found = planned(tp="8", batch="16", prompt="1000", answer="24")
    cache = 16 * 1024 * 2 * 80 * 8 * 128
    weights = found.question.base.shape.parameters
    assert 8 * found.layouts[0].bytes == pytest.approx(weights + cache)


def test_limits_of_latency_choose_larger_replicas_and_smaller_batches() -> None:
    free, tight = planned(), planned(max_per_token="20ms", max_first_token="150ms")
    assert tight.layouts[0].tokens_per_s < free.layouts[0].tokens_per_s
    assert all(layout.per_token <= 0.02 for layout in tight.layouts)
    assert all(layout.first_token <= 0.15 for layout in tight.layouts)
    assert tight.layouts[0].tp > free.layouts[0].tp
    assert {"tokens slower than --max-per-token", "does not fit"} <= set(tight.infeasible)
    late = planned(max_first_token="1ms")
    assert not late.layouts and "first token later than --max-first-token" in late.infeasible


def test_numbers_of_sequences_are_dense_where_they_are_small() -> None:
    counts = sequence_counts()
    assert counts[:64] == tuple(range(1, 65)) and counts[64:72] == tuple(range(72, 136, 8))
    assert counts[-9:] == (2048, 2304, 2560, 2816, 3072, 3328, 3584, 3840, 4096)
    assert list(counts) == sorted(set(counts))
    steps = [after / before for before, after in itertools.pairwise(counts[8:])]
    assert max(steps) <= 1.125


def test_a_larger_batch_is_slower_for_each_and_faster_for_all() -> None:
    few, many = planned(tp="8", batch="8").layouts[0], planned(tp="8", batch="64").layouts[0]
    assert many.per_token > few.per_token and many.tokens_per_s > few.tokens_per_s
    assert many.first_token == few.first_token and many.bytes > few.bytes


def test_heads_divide() -> None:
    found = planned(chips="12")
    assert found.infeasible["heads do not divide"] > 0
    assert all(64 % layout.tp == 0 for layout in found.layouts)


def test_flags_of_sglang_count_all_ranks_and_all_sequences() -> None:
    """Attention with sequences of its own takes groups of the tensor-parallel ranks."""
    found = planned(prompt="2000", answer="500", tp="4", batch="32")
    plain = sglang_flags(found.question, found.layouts[0])
    assert plain == "--tp 4 --max-running-requests 32 --context-length 2500"
    best = found.layouts[0]._replace(tp=2, pp=2, dp=4, ep=8, batch=64)
    assert sglang_flags(found.question, best) == (
        "--tp 8 --pp-size 2 --dp 4 --enable-dp-attention --ep 8 "
        "--max-running-requests 64 --context-length 2500"
    )


def test_flags_of_tensorrt_llm_count_all_ranks_and_the_sequences_of_one() -> None:
    """Groups of attention are a line in a file, and every rank is one of them."""
    found = planned(prompt="2000", answer="500", tp="4", batch="32")
    plain = trtllm_flags(found.question, found.layouts[0])
    assert plain == "--tp_size 4 --max_batch_size 32 --max_seq_len 2500"
    ranks = found.layouts[0]._replace(tp=1, dp=8, ep=8, batch=64)
    assert trtllm_flags(found.question, ranks) == (
        "--tp_size 8 --ep_size 8 --max_batch_size 8 --max_seq_len 2500 "
        "--config replica.yaml  # enable_attention_dp: true"
    )
    both = trtllm_flags(found.question, ranks._replace(tp=2, pp=2))
    assert both.startswith("--tp_size 16 --pp_size 2") and "plan with --tp 1" in both


def test_flags_of_vllm_have_the_replica_and_its_sequences() -> None:
    found = planned(prompt="2000", answer="500", tp="4", batch="32")
    flags = vllm_flags(found.question, found.layouts[0])
    assert flags == "--tensor-parallel-size 4 --max-num-seqs 32 --max-model-len 2500"
    best = found.layouts[0]._replace(tp=2, pp=2, dp=4, ep=8, batch=64)
    divided = vllm_flags(found.question, best).split(" --")
    assert divided[:3] == [
        "--tensor-parallel-size 2",
        "pipeline-parallel-size 2",
        "data-parallel-size 4",
    ]
    assert divided[3:5] == ["enable-expert-parallel", "max-num-seqs 16"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": None}, "--model is missing"),
        ({"chips": "0"}, "--chips is 0"),
        ({"tp": "3"}, "--tp 3 does not make 8 chips"),
        ({"tp": "3", "chips": "6"}, "--tp 3 does not divide 64 attention heads; use 2 or 4"),
        ({"pp": "3", "tp": "2"}, "--tp 2 --pp 3 does not make 8 chips"),
        ({"dp": "2"}, "a model without experts has replicas"),
        ({"ep": "8"}, "a model without experts has replicas"),
        ({"pools": "three"}, "--pools is 'three'"),
        ({"chips": "2000000"}, "expected at most 1,048,576"),
        ({"dtype": "fp3"}, "--dtype is 'fp3'"),
        ({"max_per_token": "soon"}, "--max-per-token: 'soon' is not"),
        ({"chip": "h1000"}, "h1000"),
    ],
)
def test_a_mistake_is_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(FlopbookError, match=said):
        plan_serving(serving_question({**ASKED, **change}))
