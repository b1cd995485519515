"""Decoding and prefill: laws, limits, measured times above the roofline, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import decode, kv_cache, prefill, serving
from flopbook.formulas.engine_memory import memory_of_the_runtime

A100 = {"peak": 312e12, "bandwidth": 2.039e12}
A100_40 = {"peak": 312e12, "bandwidth": 1.555e12}
H100_FP8 = {"peak": 1978.9e12, "bandwidth": 3.35e12, "bytes_per_param": 1.0}
LLAMA_7B = {
    "params": 6738415616,
    "compute_params": 6738415616 - 32000 * 4096,
    "layers": 32,
    "heads": 32,
    "d_model": 4096,
    "vocab": 32000,
}
LLAMA_70B = {
    "params": 68976648192,
    "compute_params": 68976648192 - 32000 * 8192,
    "layers": 80,
    "heads": 64,
    "kv_heads": 8,
    "d_model": 8192,
    "vocab": 32000,
}
LLAMA_3_70B = {
    **LLAMA_70B,
    "params": 70553706496,
    "compute_params": 70553706496 - 128256 * 8192,
    "vocab": 128256,
}
GPT_13B = {
    "params": 12.7e9,
    "compute_params": 12.7e9,
    "layers": 40,
    "heads": 40,
    "d_model": 5120,
    "vocab": 50272,
    "tied_embeddings": "yes",
}
MIXTRAL = {
    "params": 46702792704,
    "compute_params": 12879925248 - 32000 * 4096,
    "layers": 32,
    "heads": 32,
    "kv_heads": 8,
    "d_model": 4096,
    "vocab": 32000,
    "experts": 8,
    "experts_per_token": 2,
}


@given(st.integers(1, 4096).map(float), st.integers(1, 100_000).map(float))
def test_a_step_is_the_sum_of_its_parts(batch: float, seq: float) -> None:
    out = decode(**LLAMA_70B, **A100, batch=batch, seq=seq)
    assert out["tokens_per_s"] == pytest.approx(batch / out["seconds"])
    assert out["seconds"] == pytest.approx(
        max(out["weight_seconds"], out["compute_seconds"]) + out["kv_seconds"]
    )
    assert out["kv_seconds"] == pytest.approx(
        kv_cache(layers=80, heads=64, kv_heads=8, d_model=8192, seq=seq, batch=batch)["bytes"]
        / A100["bandwidth"]
    )


@given(st.integers(1, 2000).map(float))
def test_more_sequences_take_longer_together_and_less_each(batch: float) -> None:
    one, more = (decode(**LLAMA_70B, **A100, batch=b, seq=1000) for b in (batch, batch + 1))
    assert more["seconds"] > one["seconds"] and more["tokens_per_s"] >= one["tokens_per_s"] * (
        1 - 1e-12
    )


def test_each_limit_has_its_word() -> None:
    """One sequence waits for weights, many short ones for arithmetic, long ones for the cache."""
    assert decode(**LLAMA_70B, **A100, seq=100)["bound"] == "weights"
    assert decode(**LLAMA_70B, **A100, seq=10, batch=2000)["bound"] == "arithmetic"
    assert decode(**LLAMA_70B, **A100, seq=10000, batch=2000)["bound"] == "KV cache"


def test_chips_divide_the_time_until_each_has_one_head() -> None:
    one = decode(**LLAMA_70B, **A100, seq=4096, batch=8)
    eight, sixteen = (decode(**LLAMA_70B, **A100, seq=4096, batch=8, tp=n) for n in (8, 16))
    assert one["seconds"] == pytest.approx(8 * eight["seconds"])
    assert sixteen["kv_seconds"] == eight["kv_seconds"]
    assert sixteen["weight_seconds"] == eight["weight_seconds"] / 2


def test_a_mixture_reads_the_experts_that_are_visited() -> None:
    """One token: the active weights. Many: all.

    Two tokens of 2 in 8: the others with probability 9/16.
    """
    at = {b: decode(**MIXTRAL, **A100, seq=1, batch=b)["weight_seconds"] for b in (1, 2, 10_000)}
    scale, lookup = 2 / A100["bandwidth"], 32000 * 4096
    routed = (46702792704 - 12879925248) * 8 / 6
    assert at[1] == pytest.approx((12879925248 - lookup) * scale)
    assert at[2] == pytest.approx((46702792704 - routed * (6 / 8) ** 2 - lookup) * scale)
    assert at[10_000] == pytest.approx((46702792704 - lookup) * scale)


def test_expert_parallel_groups_share_experts_and_sequences_only() -> None:
    one, four = (decode(**MIXTRAL, **A100, seq=4096, batch=1024, ep=n) for n in (1, 4))
    assert (
        four["kv_seconds"] == one["kv_seconds"] / 4
        and four["compute_seconds"] == one["compute_seconds"] / 4
    )
    assert one["weight_seconds"] / 4 < four["weight_seconds"] < one["weight_seconds"]


# Milliseconds measured for one token (gpt-fast, README at 32971d3; batch 1, prompt of 5 tokens,
# A100 80 GB at 330 W), and how many times the roofline's they are.
MEASURED = [
    (LLAMA_7B, 1, 2.0, 9.533, 1.46),
    (LLAMA_7B, 2, 2.0, 5.923, 1.82),
    (LLAMA_7B, 4, 2.0, 3.937, 2.42),
    (LLAMA_7B, 8, 2.0, 3.045, 3.74),
    (LLAMA_7B, 1, 1.0, 6.428, 1.97),
    (LLAMA_3_70B, 1, 1.0, 55.432, 1.63),
    (LLAMA_3_70B, 4, 2.0, 26.702, 1.57),
    (LLAMA_3_70B, 8, 2.0, 17.013, 2.00),
    (MIXTRAL, 2, 2.0, 10.344, 1.65),
    (MIXTRAL, 8, 2.0, 4.389, 2.81),
    (MIXTRAL, 1, 1.0, 10.212, 1.63),
]


@pytest.mark.parametrize(("model", "tp", "width", "ms", "ratio"), MEASURED)
def test_the_roofline_is_below_what_was_measured(
    model: dict[str, Any], tp: int, width: float, ms: float, ratio: float
) -> None:
    ours = decode(**model, **A100, seq=105, tp=tp, bytes_per_param=width)
    assert ours["bound"] == "weights"
    assert ms / 1000 / ours["seconds"] == pytest.approx(ratio, abs=0.02) and ratio > 1


@pytest.mark.parametrize(("tp", "ms", "ratio"), [(1, 22.0, 1.32), (2, 13.5, 1.62)])
def test_thirteen_billion_on_a100(tp: int, ms: float, ratio: float) -> None:
    """A token in 22.0 ms on one A100 40 GB and 13.5 ms on two.

    chen2022transformer, FasterTransformer.
    """
    ours = decode(**GPT_13B, **A100_40, seq=517, tp=tp)["seconds"]
    assert ms / 1000 / ours == pytest.approx(ratio, abs=0.02)


@pytest.mark.parametrize(("tp", "ms", "ratio"), [(1, 63.17, 1.54), (2, 45.45, 2.21)])
def test_a_prompt_of_512_on_a100(tp: int, ms: float, ratio: float) -> None:
    """First tokens after 63.17 ms on one A100 40 GB and 45.45 ms on two (same measurements)."""
    ours = prefill(**GPT_13B, **A100_40, seq=512, tp=tp)
    assert ours["bound"] == "arithmetic"
    assert ms / 1000 / ours["seconds"] == pytest.approx(ratio, abs=0.03)


@pytest.mark.parametrize(
    ("model", "tp", "seq", "ms", "ratio"),
    [
        (LLAMA_7B, 1, 128, 7, 3.5),
        (LLAMA_7B, 1, 2048, 36, 2.58),
        (LLAMA_70B, 4, 128, 26, 5.07),
        (LLAMA_70B, 4, 2048, 109, 3.02),
    ],
)
def test_the_first_token_on_h100_in_fp8(
    model: dict[str, Any], tp: int, seq: int, ms: float, ratio: float
) -> None:
    """TensorRT-LLM 0.6.1, performance.md at 138f96d, low latency on H100.

    7, 36, 26 and 109 ms, whole ones.
    """
    ours = prefill(**model, **H100_FP8, seq=seq, tp=tp)["seconds"]
    assert 1 < ms / 1000 / ours == pytest.approx(ratio, abs=0.02)


def test_throughput_of_a_static_batch_counts_the_prompts_once() -> None:
    """19,694 tokens a second: 768 sequences of 128 + 128 tokens on an H100 (TensorRT-LLM 0.6.1).
    Ours: 1.8 times that.

    Taking the decoding alone for the whole would give 2.3 times, and n steps instead of n - 1
    differ by 1 percent.
    """
    steps = [
        decode(**LLAMA_7B, **H100_FP8, bytes_per_kv=1, batch=768, seq=128 + n)["seconds"]
        for n in range(1, 128)
    ]
    first = prefill(**LLAMA_7B, **H100_FP8, bytes_per_kv=1, batch=768, seq=128)["seconds"]
    assert 768 * 128 / (first + sum(steps)) / 19694 == pytest.approx(1.79, abs=0.05)
    assert 768 * 127 / sum(steps) / 19694 == pytest.approx(2.34, abs=0.05)


def test_a_grouped_cache_is_read_by_its_own_heads() -> None:
    """Llama 2 70B, 16 sequences of 4,096: 53 ms at 3.072 TB/s.

    Read for all 64 heads it would be 101 (defect 8).
    """
    chip = {"peak": 989.4e12, "bandwidth": 3.072e12, "seq": 4096, "batch": 16}
    assert decode(**LLAMA_70B, **chip)["seconds"] == pytest.approx(53e-3, rel=0.03)
    assert decode(**{**LLAMA_70B, "kv_heads": 64}, **chip)["seconds"] == pytest.approx(
        101e-3, rel=0.03
    )


def test_one_h100_does_not_write_llama_2_70b_in_four_milliseconds() -> None:
    """A page of mlsysim says 4.2 ms, its command 42.8 (defect 28): the weights alone take 41."""
    assert decode(**LLAMA_70B, peak=989.4e12, bandwidth=3.35e12, seq=1)["seconds"] == pytest.approx(
        41e-3, rel=0.01
    )


def test_a_prompt_is_read_with_the_causal_half_and_one_output() -> None:
    """By hand: products without embeddings, the head once, and each pair of tokens once."""
    out = prefill(**LLAMA_7B, **A100, seq=1000)
    products = 2 * (1000 * (6738415616 - 2 * 32000 * 4096) + 32000 * 4096)
    assert out["compute_seconds"] == pytest.approx(products / A100["peak"])
    assert out["attention_seconds"] == pytest.approx(32 * 4 * 4096 * 1000 * 1001 / 2 / A100["peak"])


def test_the_limits_of_prefill() -> None:
    """One token is bound by weights, a long prompt by arithmetic, a very long one by attention."""
    bounds = [prefill(**LLAMA_7B, **A100, seq=n)["bound"] for n in (1, 4096, 1_000_000)]
    assert bounds == ["weights", "arithmetic", "attention"]
    assert (
        prefill(**LLAMA_7B, **A100, seq=1)["weight_seconds"]
        == decode(**LLAMA_7B, **A100, seq=1)["weight_seconds"]
    )
    times = [
        prefill(**LLAMA_7B, **A100, seq=n, batch=b)["seconds"]
        for n, b in ((4096, 1), (4096, 4), (16384, 1))
    ]
    assert 4 * times[0] == pytest.approx(times[1]) and times[2] > times[1]


def test_arrays_equal_floats() -> None:
    batch = np.array([1.0, 32.0, 1024.0])
    for formula, seq in ((decode, 4096), (prefill, 4096)):
        out = formula(**LLAMA_70B, **A100, seq=seq, batch=batch)
        for i, count in enumerate(batch.tolist()):
            single = formula(**LLAMA_70B, **A100, seq=seq, batch=count)
            assert out["seconds"][i] == single["seconds"] and out["bound"][i] == single["bound"]


def test_the_chip_and_the_model_supply_everything() -> None:
    result = calculate(
        "decode", model="deepseek-v3", chip="h200", seq=4096, dtype="fp8", batch=256, ep=32
    )
    assert result["bound"] in ("weights", "KV cache", "arithmetic") and result["seconds"] > 0
    assert result.as_json()["outputs"]["bound"] == {"value": result["bound"], "unit": "1"}


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"compute_params": 1e12}, "--compute-params is larger than --params"),
        ({"vocab": 1e7}, "the output matrix, --vocab times --d-model, is not less"),
        ({"kv_heads": 64}, r"--kv-heads \d+ does not divide --heads \d+"),
        (
            {"experts": 2, "experts_per_token": 4},
            "--experts-per-token 4 is larger than --experts 2",
        ),
        (
            {"ep": 8, "batch": 4},
            "--batch 4 is smaller than the replicas of attention .--dp.: each needs a sequence",
        ),
        ({"d_model": math.inf}, "give --head-dim, or --d-model"),
        ({"seq": 0}, "seq is 0, expected at least 1"),
        ({"tp": 1.5}, "expected a whole number"),
        ({"bandwidth": -1}, "bandwidth is -1, expected more than 0"),
        ({"peak": math.nan}, "peak is not a number"),
        ({"params": 1e30}, "not a plausible size"),
    ],
)
def test_refused_values_say_what_was_expected(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        decode(**{**LLAMA_7B, **A100, "seq": 128, **given_})


# A step of decoding over its chips, its replicas and its experts, in each calculator that has one.
LAID_OUT: list[dict[str, Any]] = [
    {"tp": 2},
    {"tp": 8, "dp": 4},
    {"ep": 4},
    {"tp": 2, "ep": 2, "dp": 4},
    {"chips": 8, "ep": 4},
]


@pytest.mark.parametrize("layout", LAID_OUT)
def test_every_chip_counts_once(layout: dict[str, Any]) -> None:
    """Arithmetic is divided by all chips; caches by replicas and KV heads; experts by their own."""
    one = decode(**MIXTRAL, **A100, seq=4096, batch=64)
    out = decode(**MIXTRAL, **A100, seq=4096, batch=64, **layout)
    replicas = layout.get("dp", layout.get("ep", 1))
    degree = layout.get("tp", layout.get("chips", replicas) / replicas)
    assert out["compute_seconds"] == pytest.approx(one["compute_seconds"] / (degree * replicas))
    assert out["kv_seconds"] == pytest.approx(one["kv_seconds"] / (degree * replicas))
    cache = one["chip_bytes"] - 2 * MIXTRAL["params"]
    lookup = 32000 * 4096
    routed = (MIXTRAL["params"] - lookup - MIXTRAL["compute_params"]) * 8 / 6
    weights = 2 * (MIXTRAL["params"] - routed + routed / layout.get("ep", 1)) / degree
    assert out["chip_bytes"] == pytest.approx(weights + cache / (degree * replicas))


@pytest.mark.parametrize("layout", LAID_OUT)
@pytest.mark.parametrize("batch", [8, 64, 1000])
def test_serving_runs_steps_of_decoding_with_experts_too(
    layout: dict[str, Any], batch: int
) -> None:
    shape = {**MIXTRAL, **A100, "seq": 4096, "batch": batch, "memory": 1e12, **layout}
    served, step = serving(**shape), decode(**shape)
    assert served["seconds"] == step["seconds"] and served["bound"] == step["bound"]
    assert served["chip_bytes"] == step["chip_bytes"] and served["free"] == step["free"]


def test_a_prompt_reads_the_experts_that_its_tokens_visit() -> None:
    """One token reads what a step of one sequence reads; a long prompt reads every expert."""
    one, four, long = (prefill(**MIXTRAL, **A100, seq=n)["weight_seconds"] for n in (1, 4, 9999))
    assert one == decode(**MIXTRAL, **A100, seq=1)["weight_seconds"]
    assert four == decode(**MIXTRAL, **A100, seq=1, batch=4)["weight_seconds"]
    lookup = 32000 * 4096
    assert long == pytest.approx((MIXTRAL["params"] - lookup) * 2 / A100["bandwidth"])


@pytest.mark.parametrize("name", ["decode", "serving"])
def test_a_mixture_for_one_reader_is_as_fast_as_its_active_weights(name: str) -> None:
    """Qwen3-30B-A3B, one sequence at 4,096 tokens on an H100.

    1.9 ms from 3.3 of 30.5 billion weights; with all experts read it would be 18.1.
    """
    result = calculate(name, model="qwen-3-30b-a3b", chip="h100-sxm", batch=1, seq=4096)
    assert result["seconds"] == pytest.approx(1.9e-3, abs=0.05e-3)


@given(
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(8, 5000),
    st.integers(1, 100_000),
)
def test_more_chips_are_never_slower(tp: int, ep: int, batch: int, seq: int) -> None:
    at = [
        decode(**MIXTRAL, **A100, seq=seq, batch=batch, tp=degree, ep=groups)["seconds"]
        for degree, groups in ((tp, ep), (2 * tp, ep), (tp, min(2 * ep, 8)))
    ]
    assert at[1] <= at[0] * (1 + 1e-12) and at[2] <= at[0] * (1 + 1e-12)


@pytest.mark.parametrize("name", ["decode", "prefill", "serving"])
def test_learned_positions_are_looked_up(name: str) -> None:
    """A step needs one row of them: they fill memory, and are not read, as an embedding is not."""
    shape: dict[str, Any] = {"model": "gpt-2-small", "chip": "l4", "seq": 64, "batch": 2}
    learned, without = (calculate(name, **shape, positions=word) for word in ("learned", "rotary"))
    assert learned["chip_bytes"] - without["chip_bytes"] == 1024 * 768 * 2
    assert learned["seconds"] == pytest.approx(without["seconds"], rel=1e-12)


def test_what_an_engine_keeps_is_told_where_less_is_free() -> None:
    """8 % of the memory, unless a share of it was kept free."""
    values = {"memory": 100.0, "memory_share": 1.0}
    told = [memory_of_the_runtime.value({**values, "free": free}) for free in (-1, 1, 7, 9, 50)]
    assert told == [0, -1, -1, 0, 0]
    assert memory_of_the_runtime.value({**values, "memory_share": 0.92, "free": 1.0}) == 0
