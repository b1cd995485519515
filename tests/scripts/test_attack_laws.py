"""Laws of predictions and plans: a sound answer breaks none, and each notices what breaks it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from flopbook.planning.planner import RunPlan, plan
from flopbook.planning.question import question_of
from flopbook.planning.serving import ServingPlan, plan_serving
from flopbook.planning.serving_question import serving_question
from flopbook.prediction.asking import predict
from flopbook.prediction.asking_serving import ServingPrediction, predict_serving
from flopbook.prediction.predicted import Prediction
from scripts.attack import laws

RUN: Mapping[str, str | None] = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "16",
    "batch_tokens": "256Ki",
    "seq": "8192",
    "dtype": "bf16",
}
SERVED: Mapping[str, str | None] = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "2",
    "seq": "1024",
    "prompt": "1024",
    "answer": "256",
    "stack": "vllm",
    "dtype": "bf16",
}


@pytest.fixture(scope="module")
def predicted() -> Prediction:
    return predict(RUN)


@pytest.fixture(scope="module")
def served() -> ServingPrediction:
    return predict_serving(SERVED)


@pytest.fixture(scope="module")
def planned() -> RunPlan:
    return plan(question_of(RUN), 3)


@pytest.fixture(scope="module")
def serving_planned() -> ServingPlan:
    return plan_serving(serving_question(SERVED))


def test_sound_answers_break_no_law(
    predicted: Prediction,
    served: ServingPrediction,
    planned: RunPlan,
    serving_planned: ServingPlan,
) -> None:
    assert list(laws.of_prediction(predicted)) == []
    assert list(laws.of_serving(served)) == []
    assert list(laws.of_plan(RUN, planned)) == []
    assert list(laws.of_serving_plan(serving_planned)) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"seconds": 1e9}, "outside"),
        ({"low": math.nan}, "nan"),
        ({"mfu": 2.0}, "MFU"),
        ({"hfu": 0.01}, "above HFU"),
        ({"parts": {"compute": 1.0}}, "parts that do not make the step"),
        ({"tokens_per_second": 1.0}, "tokens in a step"),
    ],
)
def test_a_prediction_that_cannot_be_is_noticed(
    changes: dict[str, Any], fault: str, predicted: Prediction
) -> None:
    faults = list(laws.of_prediction(predicted._replace(**changes)))
    assert any(fault in message for message in faults), faults


def test_a_part_of_the_memory_beyond_the_whole_is_noticed(predicted: Prediction) -> None:
    assert predicted.memory is not None
    less = predicted.memory._replace(total=1.0)
    faults = list(laws.of_prediction(predicted._replace(memory=less)))
    assert any("a part of the memory" in message for message in faults)


def test_a_band_without_its_rate_is_noticed(served: ServingPrediction) -> None:
    for name in ("first_token", "token", "throughput"):
        above = getattr(served, name)._replace(low=1e30, high=1e31)
        (fault,) = laws.of_serving(served._replace(**{name: above}))
        assert fault.startswith(f"{name}: ")
    assert list(laws.of_serving(served._replace(batch=0)))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"tp": 7}, "chips that are idle"),
        ({"bytes": 1e15}, "more bytes than there are"),
        ({"seconds": 1e-9}, "outside"),
        ({"mfu": -0.1}, "mfu is -0.1"),
    ],
)
def test_a_layout_that_cannot_be_is_noticed(
    changes: dict[str, Any], fault: str, planned: RunPlan
) -> None:
    first, *slower = planned.layouts
    # The last of them: the first is predicted once more, and its degrees must add up.
    layouts = (first, *slower[:-1], slower[-1]._replace(**changes))
    faults = list(laws.of_plan(RUN, planned._replace(layouts=layouts)))
    assert any(fault in message for message in faults), faults


def test_an_order_that_is_none_is_noticed(planned: RunPlan, serving_planned: ServingPlan) -> None:
    backwards = planned._replace(layouts=planned.layouts[::-1])
    assert "a slower layout before a faster one" in list(laws.of_plan(RUN, backwards))
    slowest_first = serving_planned._replace(layouts=serving_planned.layouts[::-1])
    if len({layout.tokens_per_s_per_chip for layout in serving_planned.layouts}) > 1:
        assert "a faster layout after a slower one" in list(laws.of_serving_plan(slowest_first))


def test_a_plan_that_predict_times_otherwise_is_noticed(planned: RunPlan) -> None:
    first = planned.layouts[0]
    faster = first._replace(seconds=first.seconds * 0.999)
    heavier = first._replace(bytes=first.bytes * 0.999)
    for layout, unit in ((faster, " s planned"), (heavier, " bytes planned")):
        faults = list(laws.of_plan(RUN, planned._replace(layouts=(layout,))))
        assert any(unit in message for message in faults), faults


@pytest.mark.parametrize("number", [math.nan, math.inf, -1e-9])
def test_numbers_are_looked_for_in_groups_too(number: float) -> None:
    assert list(laws.of_numbers({"a": 1, "b": {"c": number, "d": "nan"}, "e": [number]})) == [
        f"b.c is {number}"
    ]
