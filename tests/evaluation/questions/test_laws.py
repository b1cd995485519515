"""Calculators agree with each other where they meet, for every model and any length and batch."""

from __future__ import annotations

import random
from typing import Any

import pytest

from flopbook.data.library import model_ids
from flopbook.evaluation.calculator import calculate
from tests.evaluation.questions.answers.facts import shape
from tests.evaluation.questions.answers.shapes import awaited, cache, parameters, states
from tests.support.cases import every

MODELS = sorted(model_ids())
ROOMY: dict[str, Any] = {"chip": "h100-sxm", "memory": 1e18, "dtype": "bf16"}
DRAWS = 4

every_model = every("model", MODELS)


def loads(model: str) -> list[dict[str, Any]]:
    """Lengths and batches, other ones for each model and always the same."""
    rng = random.Random(model)
    drawn = [(rng.randrange(1, 200_000), rng.randrange(1, 500)) for _ in range(DRAWS)]
    return [{"model": model, "seq": seq, "batch": batch} for seq, batch in [(1, 1), *drawn]]


@every_model
def test_weights_are_counted_once(model: str) -> None:
    """What `params` counts is what every other calculator keeps, reads and multiplies with."""
    counted = calculate("params", model=model)
    trained = calculate("training-flops", model=model, tokens=1e12, seq=1024)
    step = calculate("decode", model=model, seq=1, batch=1, **ROOMY)
    kept = calculate("memory", model=model, seq=1024, chip="h100-sxm")
    assert step.inputs["params"].value == counted["total"]
    assert step.inputs["compute_params"].value == counted["compute"]
    assert kept.inputs["params"].value == counted["total"]
    assert trained["flop"] == pytest.approx(6e12 * counted["compute"])


@every_model
def test_weights_are_those_of_the_tensors(model: str) -> None:
    """The total of `params` is the sum over tensors that the second module counts."""
    counted, summed = calculate("params", model=model), parameters(shape(model))
    assert {name: counted[name] for name in summed} == pytest.approx(summed)


@every_model
def test_one_cache(model: str) -> None:
    """Decoding, prompts and serving keep beside the weights what `kv-cache` says."""
    for load in loads(model):
        kept = calculate("kv-cache", **load)
        weights = 2 * calculate("params", model=model)["total"]
        for name in ("decode", "prefill", "serving"):
            held = calculate(name, **load, **ROOMY)["chip_bytes"]
            assert held == pytest.approx(weights + kept["bytes_per_chip"], rel=1e-9), (name, load)


@every_model
def test_the_cache_is_that_of_the_layers(model: str) -> None:
    """A sequence keeps for each layer what that layer still looks at."""
    for load in loads(model):
        kept = calculate("kv-cache", **load)
        values = kept["bytes"] - kept["state_bytes"]
        assert values == pytest.approx(cache(shape(model), load["seq"], load["batch"])), load
        constant = states(shape(model), load["batch"]) + awaited(shape(model), load["batch"])
        assert kept["state_bytes"] == pytest.approx(constant), load


@every_model
def test_serving_runs_decoding_steps(model: str) -> None:
    """The pace of serving is a decoding step with as many sequences."""
    for load in loads(model):
        served, step = (calculate(name, **load, **ROOMY) for name in ("serving", "decode"))
        assert served["batch_runs"] == load["batch"]
        assert served["seconds"] == pytest.approx(step["seconds"], rel=1e-9), load
        assert served["tokens_per_s"] == pytest.approx(step["tokens_per_s"], rel=1e-9), load


@every_model
def test_a_prompt_of_one_token_is_a_step(model: str) -> None:
    """Reading one token of each sequence multiplies and reads as much as writing it."""
    for load in loads(model):
        one = {**load, "seq": 1}
        prompt, step = (calculate(name, **one, **ROOMY) for name in ("prefill", "decode"))
        for output in ("weight_seconds", "compute_seconds"):
            assert prompt[output] == pytest.approx(step[output], rel=1e-9), (output, load)


@every_model
def test_a_run_takes_as_long_as_its_work(model: str) -> None:
    """Chips, peak, utilisation and seconds multiply to the work that `training-flops` counts."""
    work = calculate("training-flops", model=model, tokens=1e12)["flop"]
    run = calculate(
        "training-time", model=model, tokens=1e12, peak=1e15, chips=512, mfu=0.4, chip_mtbf=0
    )
    assert run["seconds"] * 1e15 * 512 * 0.4 == pytest.approx(work)
