"""Training, tuning and serving agree with each other where they meet, for every model."""

from __future__ import annotations

import random
from typing import Any

import pytest

from flopbook.data.library import model_ids
from flopbook.evaluation.calculator import calculate
from tests.support.cases import every

MODELS = sorted(model_ids())
ROOMY: dict[str, Any] = {"chip": "h100-sxm", "memory": 1e18, "dtype": "bf16"}
TOKENS = 1e12
LENGTHS = (512, 2048, 8192, 20_000)

every_model = every("model", MODELS)


def length(model: str) -> int:
    """A length of sequences, another one for each model and always the same."""
    return random.Random(model).choice(LENGTHS)


@every_model
def test_a_run_with_sequences_does_the_work_behind_the_mask(model: str) -> None:
    """`training-time --seq` and `training-flops` count the same scores, or none of them."""
    seq = length(model)
    work = calculate("training-flops", model=model, tokens=TOKENS, seq=seq)
    rate: dict[str, Any] = {"peak": 1e15, "chips": 512, "mfu": 0.4, "chip_mtbf": 0}
    run = calculate("training-time", model=model, tokens=TOKENS, seq=seq, **rate)
    assert run["flop"] == pytest.approx(work["flop_causal"])
    assert run["seconds"] * 1e15 * 512 * 0.4 == pytest.approx(run["flop"])


@every_model
def test_full_tuning_is_training(model: str) -> None:
    """All weights are trained, and a token takes six operations with each that it meets."""
    counted = calculate("params", model=model)
    tuned = calculate("fine-tuning", model=model, method="full", seq=length(model))
    assert tuned["trainable"] == counted["total"] and tuned["share"] == 1
    assert tuned["flop_per_token"] == pytest.approx(6 * counted["compute"])


@every_model
def test_adapters_save_a_third_of_the_work(model: str) -> None:
    """Frozen weights have no gradient of their own: 4 operations in place of 6, and adapters 6."""
    counted = calculate("params", model=model)
    tuned = calculate("fine-tuning", model=model, method="lora", seq=length(model))
    beside = tuned["flop_per_token"] - 4 * counted["compute"]
    assert 0 < beside <= 6 * tuned["trainable"] * (1 + 1e-9)


@every_model
def test_states_of_training_are_sixteen_bytes(model: str) -> None:
    """Weights and gradients in bf16, copies and moments in fp32, all divided by ZeRO-3."""
    total = calculate("params", model=model)["total"]
    alone = calculate("memory", model=model, seq=length(model), chips=1)
    states = [alone[name] for name in ("weights", "gradients", "optimizer")]
    assert states == pytest.approx([2 * total, 2 * total, 12 * total])
    divided = calculate("memory", model=model, seq=length(model), chips=64, zero=3)
    assert divided["weights"] == pytest.approx(alone["weights"] / 64)
    assert divided["optimizer"] == pytest.approx(alone["optimizer"] / 64)
    assert divided["activations"] == pytest.approx(alone["activations"])


@every_model
def test_activations_grow_with_the_tokens_at_once(model: str) -> None:
    seq = length(model)
    one, two = (calculate("memory", model=model, seq=seq, micro_batch=n) for n in (1, 2))
    for name in ("activations", "logits"):
        assert two[name] == pytest.approx(2 * one[name])


@every_model
def test_serving_reads_a_prompt_as_prefill_does(model: str) -> None:
    seq = length(model)
    asked: dict[str, Any] = {"prompt_tokens": seq, "answer_tokens": 10, "price": 2 / 3600}
    served = calculate("serving", model=model, seq=seq, batch=3, **asked, **ROOMY)
    prompt = calculate("prefill", model=model, seq=seq, batch=1, **ROOMY)
    assert served["prompt_seconds"] == pytest.approx(prompt["seconds"])


@every_model
def test_prices_are_those_of_the_seconds(model: str) -> None:
    """A chip-hour at 2 USD buys the tokens and requests of an hour."""
    asked: dict[str, Any] = {"prompt_tokens": 300, "answer_tokens": 90, "price": 2 / 3600}
    served = calculate("serving", model=model, seq=length(model), batch=7, **asked, **ROOMY)
    second = 2 / 3600
    assert served["usd_per_million_tokens"] * served["tokens_per_s"] == pytest.approx(1e6 * second)
    assert served["usd_per_request"] * served["requests_per_s"] == pytest.approx(second)
    read = served["usd_per_million_prompt_tokens"] * 300 / served["prompt_seconds"]
    assert read == pytest.approx(1e6 * second)


@every_model
def test_a_cache_grows_by_what_a_token_takes(model: str) -> None:
    """Beyond all windows the difference of two lengths is what `bytes_per_token` says of each."""
    kept = [calculate("kv-cache", model=model, seq=seq) for seq in (262_144, 262_144 + 12_800)]
    grown = kept[1]["bytes"] - kept[0]["bytes"]
    assert grown == pytest.approx(12_800 * kept[0]["bytes_per_token"], abs=1)


@every_model
def test_twice_the_bandwidth_reads_in_half_the_time(model: str) -> None:
    seq = length(model)
    slow = calculate("decode", model=model, seq=seq, bandwidth=1e12, **ROOMY)
    fast = calculate("decode", model=model, seq=seq, bandwidth=2e12, **ROOMY)
    for name in ("weight_seconds", "kv_seconds"):
        assert fast[name] == pytest.approx(slow[name] / 2)


@every_model
def test_a_checkpoint_holds_all_parameters(model: str) -> None:
    counted = calculate("params", model=model)["total"]
    assert calculate("reliability", model=model, chips=1024).inputs["params"].value == counted
