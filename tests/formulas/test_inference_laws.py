"""Decoding, prefill, serving and the KV cache agree where they meet, on every model."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.library import model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import Result, calculate
from tests.support.cases import every

every_model = every("model", model_ids())
CHIP = "b200"  # the memory matters here, not the rates
BANDWIDTH = calculate("decode", model="llama-3-8b", chip=CHIP, seq=1).inputs["bandwidth"].value


def asked(name: str, model: str, **options: Any) -> Result:
    """A calculator of a model; its active parameters where it publishes none."""
    try:
        return calculate(name, model=model, **options)
    except FlopbookError as error:
        if "--compute-params" not in str(error):
            raise
        return calculate(name, model=model, **options, compute_params="80B")


@every_model
@every("batch, seq", [(1, 700), (16, 40_000)])
def test_what_is_held_is_weights_and_the_kv_cache(model: str, batch: int, seq: int) -> None:
    held = asked("decode", model, chip=CHIP, batch=batch, seq=seq)
    cache = calculate("kv-cache", model=model, batch=batch, seq=seq)
    weights = 2 * held.inputs["params"].value
    assert held["chip_bytes"] == pytest.approx(weights + cache["bytes"])
    read = asked("prefill", model, chip=CHIP, batch=batch, seq=seq)
    served = asked("serving", model, chip=CHIP, batch=batch, seq=seq)
    assert read["chip_bytes"] == served["chip_bytes"] == held["chip_bytes"]
    assert read["fewest_chips"] == served["fewest_chips"] == held["fewest_chips"]


@every_model
def test_a_step_reads_the_cache_that_is_kept(model: str) -> None:
    """States are read and written back; layers that share a cache or select read otherwise."""
    step = asked("decode", model, chip=CHIP, batch=3, seq=5000)
    cache = calculate("kv-cache", model=model, batch=3, seq=5000)
    moved = cache["bytes"] + cache["state_bytes"]
    inputs = {name: used.value for name, used in step.inputs.items()}
    if inputs.get("shared_kv_layers") or inputs.get("sparse_layers"):
        assert step["kv_seconds"] != pytest.approx(moved / BANDWIDTH, rel=1e-9)
    else:
        assert step["kv_seconds"] == pytest.approx(moved / BANDWIDTH)


@every_model
def test_serving_runs_steps_of_decoding(model: str) -> None:
    options = {"chip": CHIP, "seq": 2048, "memory": "100TB", "batch": 24, "price": "2USD/h"}
    served = asked("serving", model, **options)
    del options["price"]
    step = asked("decode", model, **options)
    for name in ("seconds", "tokens_per_s", "bound", "chip_bytes", "free"):
        assert served[name] == step[name], name
    million = 1e6 * step["seconds"] / 24 * 2 / 3600
    assert served["usd_per_million_tokens"] == pytest.approx(million)


@every_model
def test_a_prompt_of_one_token_reads_the_weights_of_a_step(model: str) -> None:
    step, prompt = (asked(name, model, chip=CHIP, seq=1) for name in ("decode", "prefill"))
    assert prompt["weight_seconds"] == step["weight_seconds"]


@every_model
def test_the_batch_that_fits_is_the_largest_one(model: str) -> None:
    """So many sequences fit, and one more does not."""
    options: dict[str, Any] = {"chip": CHIP, "seq": 3000, "memory": "16TB"}
    most = asked("serving", model, **options)["batch_fits"]
    assert asked("decode", model, **options, batch=most)["free"] >= 0
    assert asked("decode", model, **options, batch=most + 1)["free"] < 0


@every_model
def test_the_prompt_is_what_its_tokens_are_together(model: str) -> None:
    """Reading T tokens scores what steps at contexts of 1 to T score, a step each.

    Latent attention reads with widened keys and values, and writes with compressed ones.
    """
    rates: dict[str, Any] = {"peak": 1e12, "bandwidth": 1e18}
    prompt = asked("prefill", model, **rates, seq=40)
    if "kv_lora_rank" in prompt.inputs:
        return
    steps = 0.0
    for seq in range(1, 41):
        step = asked("decode", model, **rates, seq=seq)
        steps += step["seconds"] - max(step["compute_seconds"], step["weight_seconds"])
    assert prompt["attention_seconds"] == pytest.approx(steps)


def test_a_window_bounds_what_a_step_reads() -> None:
    """Gemma 3 27B at 131,072 tokens keeps and reads 11.2 GB, not 66.6."""
    windowed = calculate("decode", model="gemma-3-27b", chip=CHIP, seq=131072)
    assert windowed["kv_seconds"] * BANDWIDTH == pytest.approx(11.2e9, rel=0.005)
    full = calculate("decode", model="gemma-3-27b", chip=CHIP, seq=131072, window_layers=0)
    assert full["kv_seconds"] * BANDWIDTH == pytest.approx(66.6e9, rel=0.001)


@given(
    model=st.sampled_from(["llama-3-70b", "gemma-3-27b", "mixtral-8x7b", "minimax-text-01"]),
    batch=st.integers(1, 500),
    seq=st.integers(1, 300_000),
    tp=st.sampled_from([1, 2, 4, 8]),
)
def test_longer_contexts_and_larger_batches_take_longer(
    model: str, batch: int, seq: int, tp: int
) -> None:
    for name in ("decode", "prefill"):
        base, longer, more, wider = (
            calculate(name, model=model, chip=CHIP, **{**changed})
            for changed in (
                {"batch": batch, "seq": seq, "tp": tp},
                {"batch": batch, "seq": 2 * seq, "tp": tp},
                {"batch": 2 * batch, "seq": seq, "tp": tp},
                {"batch": batch, "seq": seq, "tp": 2 * tp},
            )
        )
        assert longer["seconds"] >= base["seconds"] >= wider["seconds"]
        assert more["seconds"] >= base["seconds"]
        assert longer["chip_bytes"] >= base["chip_bytes"] >= wider["chip_bytes"]
        assert not math.isnan(more["seconds"]) and more["chip_bytes"] > base["chip_bytes"]


def test_messages_of_tensor_and_expert_parallelism() -> None:
    """Two all-reduces of a layer move 2(t-1)/t of the activations each; experts send k copies."""
    shape: dict[str, Any] = {"model": "mixtral-8x7b", "chip": CHIP, "seq": 100, "batch": 64}
    rate: dict[str, Any] = {"link_bandwidth": 1e9}
    tokens = 64 * 4096 * 2

    def seconds(**layout: int) -> float:
        return float(calculate("decode", **shape, **rate, **layout)["message_seconds"])

    assert seconds() == 0
    assert seconds(tp=8) == pytest.approx(32 * 2 * 2 * 7 / 8 * tokens / 1e9)
    assert seconds(ep=8) == pytest.approx(32 * 2 * 7 / 8 * 2 * tokens / 8 / 1e9)
    reduced = 2 * 2 * 1 / 2 * tokens / 4
    sent = 2 * 3 / 4 * 2 * tokens / 4 / 2
    assert seconds(tp=2, ep=4) == pytest.approx(32 * (reduced + sent) / 1e9)
    prompt = calculate("prefill", **shape, **rate, tp=8)["message_seconds"]
    assert prompt == pytest.approx(100 * seconds(tp=8))


def test_only_layers_with_experts_send_tokens_to_them() -> None:
    """58 of the 61 layers of DeepSeek-V3; 8 of 32 ranks in a domain, fp8 there and bf16 back."""
    layout: dict[str, Any] = {"chip": "h200", "ep": 32, "batch": 1024, "seq": 4096, "dtype": "fp8"}

    def seconds(**more: Any) -> float:
        out = calculate("decode", model="deepseek-v3", **layout, **more)
        return float(out["message_seconds"])

    copies = 8 * 1024 / 32 * 7168 * (1 + 2)
    layer = copies * ((31 / 32 - 3 / 4) / 450e9 + 3 / 4 / 50e9)
    assert seconds() == pytest.approx(58 * layer)
    assert seconds(expert_layers=61) == pytest.approx(61 * layer)
    with pytest.raises(FlopbookError, match="--expert-layers 62 is larger than --layers 61"):
        seconds(expert_layers=62)
    # Sums of tensor parallelism stay in every layer, dense or not.
    summed = 61 * 2 * 2 * (1024 / 32) * 7168 * 2 / 2 / 450e9
    layer = copies / 2 * ((31 / 32 - 7 / 8) / 450e9 + 7 / 8 / 50e9)
    assert seconds(tp=2) == pytest.approx(summed + 58 * layer)


@every_model
def test_prompts_and_steps_count_the_same_layers_with_experts(model: str) -> None:
    asks: dict[str, Any] = {"chip": CHIP, "batch": 8, "seq": 64, "tp": 1, "ep": 1, "dp": 8}
    step, prompt = (asked(name, model, **asks) for name in ("decode", "prefill"))
    layers = step.inputs.get("expert_layers")
    assert (layers is None) == (prompt.inputs.get("expert_layers") is None)
    assert layers is None or 1 <= layers.value <= step.inputs["layers"].value


@every_model
@every("batch, seq", [(8, 100_000), (4096, 16)])
def test_fewest_chips_are_more_than_half_of_a_degree_that_fits(
    model: str, batch: int, seq: int
) -> None:
    """Long sequences and many short ones, whose states outweigh their keys and values."""
    options: dict[str, Any] = {"chip": CHIP, "batch": batch, "seq": seq, "memory": "200GB"}
    alone = asked("decode", model, **options)
    heads = int(alone.inputs["heads"].value)
    keys = int(alone.inputs["kv_heads"].value) if "kv_heads" in alone.inputs else heads
    widest = 1
    for degree in (1, 2, 4, 8, 16, 32, 64):
        if heads % degree or (keys % degree and degree % keys):
            continue
        widest = degree
        if asked("decode", model, **options, tp=degree)["free"] >= 0:
            assert degree / 2 < alone["fewest_chips"] <= degree
            return
    assert alone["fewest_chips"] > widest
