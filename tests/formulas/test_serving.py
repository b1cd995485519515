"""Serving and drafts.

What fits, what saturates, prices, and expected speed-ups counted token by token.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.library import model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import decode, kv_cache, min_batch, prefill, serving, speculative_decoding

H100: dict[str, Any] = {"peak": 989.4e12, "bandwidth": 3.35e12}
LLAMA_70B: dict[str, Any] = {
    "params": 68976648192,
    "compute_params": 68976648192 - 32000 * 8192,
    "layers": 80,
    "heads": 64,
    "kv_heads": 8,
    "d_model": 8192,
    "vocab": 32000,
}
FULL = {**LLAMA_70B, **H100, "memory": 80e9, "seq": 4096, "tp": 8}


@given(
    st.integers(1, 100_000).map(float),
    st.sampled_from([2.0, 1.0]),
    st.sampled_from([4.0, 8.0, 16.0]),
)
def test_the_batch_that_fits_is_the_largest_one(seq: float, width: float, tp: float) -> None:
    """Weights and cache of that many sequences stay within the memory; those of one more do not."""
    fits = serving(**{**FULL, "seq": seq, "tp": tp}, bytes_per_kv=width)["batch_fits"]
    shape = {
        "layers": 80,
        "heads": 64,
        "kv_heads": 8,
        "d_model": 8192,
        "seq": seq,
        "tp": tp,
        "bytes_per_kv": width,
    }

    def taken(batch: float) -> float:
        return LLAMA_70B["params"] * 2 / tp + kv_cache(**shape, batch=batch)["bytes_per_chip"]

    assert fits == 0 or taken(fits) <= 80e9 * (1 + 1e-12)
    assert taken(fits + 1) > 80e9 * (1 - 1e-12)


@pytest.mark.parametrize("batch", [1, 32, 350])
def test_the_step_is_that_of_decoding(batch: int) -> None:
    """Nothing is counted twice: the pace of serving is that of a decoding step."""
    out = serving(**FULL, batch=batch)
    step = decode(**LLAMA_70B, **H100, seq=4096, tp=8, batch=batch)
    assert out["seconds"] == pytest.approx(step["seconds"]) and out[
        "tokens_per_s"
    ] == pytest.approx(step["tokens_per_s"])


@pytest.mark.parametrize("batch", [1, 32, 350, 1e6])
def test_what_bounds_it_is_what_bounds_a_step(batch: float) -> None:
    """The same word as decoding gives for the sequences that run.

    Memory where not one of them fits.
    """
    out = serving(**FULL, batch=batch)
    step = decode(**LLAMA_70B, **H100, seq=4096, tp=8, batch=out["batch_runs"])
    assert out["bound"] == step["bound"] and out["batch_runs"] == min(batch, out["batch_fits"])
    alone = serving(**{**FULL, "tp": 1})
    assert alone["bound"] == "memory" and alone["batch_runs"] == 0
    assert serving(**FULL | {"seq": 1})["bound"] == "arithmetic"


def test_no_more_sequences_run_than_fit() -> None:
    """Those asked for beyond are missing in memory, which is all that differs."""
    open_, beyond = serving(**FULL), serving(**FULL, batch=1e6)
    held = {"chip_bytes", "free", "fewest_chips"}
    assert {name for name in open_ if open_[name] != beyond[name]} == held
    assert beyond["free"] < 0 < open_["free"]
    assert open_["tokens_per_s"] * open_["seconds"] == pytest.approx(open_["batch_fits"])


@given(st.integers(1, 10_000), st.floats(1e-3, 1e3))
def test_time_per_token_with_and_without_the_first(answer: int, first: float) -> None:
    """An answer is the first token and n - 1 steps; one token is the wait alone.

    A long answer forgets it.
    """
    out = serving(**FULL, answer_tokens=answer, first=first)
    assert out["answer_seconds"] == pytest.approx(first + (answer - 1) * out["seconds"])
    assert out["seconds_with_first"] * answer == pytest.approx(out["answer_seconds"])
    assert serving(**FULL, answer_tokens=1, first=first)["seconds_with_first"] == pytest.approx(
        first
    )
    long = serving(**FULL, answer_tokens=1e9, first=first)
    assert long["seconds_with_first"] == pytest.approx(long["seconds"], rel=1e-3)


def test_without_an_answer_both_are_left_open() -> None:
    shape = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8, "seq": 4096}
    for given_ in ({}, {"answer_tokens": 100}, {"first": "0.3s"}):
        result = calculate("serving", **shape, **given_)
        assert result["answer_seconds"] is None and result["seconds_with_first"] is None


def test_a_dense_model_saturates_at_the_minimum_batch_and_a_mixture_later() -> None:
    """295 sequences on an H100 in bf16.

    A mixture that computes with a quarter of its weights needs four times more.
    """
    assert serving(**FULL)["batch_saturates"] == pytest.approx(min_batch(**H100)["tokens"])
    mixture = {**FULL, "compute_params": LLAMA_70B["params"] / 4, "vocab": 0}
    assert serving(**mixture)["batch_saturates"] == pytest.approx(4 * min_batch(**H100)["tokens"])


def test_the_frontier_trades_latency_for_throughput() -> None:
    """A list of batches gives a table.

    Each step slower, each second more tokens, each token cheaper.
    """
    out = serving(**FULL, batch=np.array([1.0, 8.0, 64.0, 256.0]), price=2 / 3600)
    assert (np.diff(out["seconds"]) > 0).all() and (np.diff(out["tokens_per_s"]) > 0).all()
    assert (np.diff(out["usd_per_million_tokens"]) < 0).all()


def test_the_price_is_that_of_the_time_of_a_million_tokens() -> None:
    out = serving(**FULL, batch=64, price=2 / 3600)
    assert out["usd_per_million_tokens"] == pytest.approx(8 * 2 * 1e6 / out["tokens_per_s"] / 3600)
    by_hour = calculate("serving", model="llama-3-8b", chip="h100-sxm", seq=4096, price="2USD/h")
    by_second = calculate("serving", model="llama-3-8b", chip="h100-sxm", seq=4096, price=2 / 3600)
    assert by_hour["usd_per_million_tokens"] == pytest.approx(by_second["usd_per_million_tokens"])


def test_a_model_that_does_not_fit_says_so() -> None:
    """Llama 2 70B in bf16 on one H100: mlsysim prints "Feasible.

    No" beside a page that gives it a pace (defect 28).
    """
    out = serving(**{**FULL, "tp": 1}, price=2 / 3600)
    assert (out["batch_fits"], out["tokens_per_s"]) == (0, 0)
    assert out["seconds"] == out["usd_per_million_tokens"] == math.inf
    result = calculate("serving", model="llama-2-70b", chip="h100-sxm", seq=4096)
    assert "seconds: the weights do not fit" in result.notes


def test_gigabytes_are_not_gibibytes() -> None:
    """80 GB hold fewer sequences than 80 GiB, by the 7.4 percent of the whole, not of the room."""
    options = {"model": "llama-3-8b", "peak": "1PFLOP/s", "bandwidth": "3TB/s", "seq": 8192}
    small, large = (
        calculate("serving", **options, memory=text)["batch_fits"] for text in ("80GB", "80GiB")
    )
    per_sequence = calculate("kv-cache", model="llama-3-8b", seq=8192)["bytes"]
    assert large - small == pytest.approx((80 * 2**30 - 80e9) / per_sequence, abs=1)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"memory": 0}, "memory is 0, expected more than 0"),
        (
            {"memory_share": 1.1},
            "memory_share is 1.1, which is not a plausible size; expected at most 1",
        ),
        ({"memory_share": -0.5}, "memory_share is -0.5, expected more than 0"),
        ({"batch": 0.5}, "batch is 0.5, expected at least 1"),
        ({"price": -1}, "price is -1, expected more than 0"),
        ({"compute_params": 1e12}, "--compute-params is larger than --params"),
        ({"kv_heads": 128}, r"--kv-heads \d+ does not divide --heads \d+"),
        ({"seq": math.inf}, "not a plausible size"),
    ],
)
def test_refused_values_say_what_was_expected(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        serving(**{**FULL, **given_})


@given(st.floats(0.01, 1), st.integers(1, 40))
def test_the_tokens_of_a_pass_are_a_sum(acceptance: float, drafted: int) -> None:
    tokens = speculative_decoding(acceptance=acceptance, draft_tokens=drafted)["tokens_per_step"]
    assert tokens == pytest.approx(sum(acceptance**n for n in range(drafted + 1)), rel=1e-6)
    assert 1 < tokens <= (drafted + 1) * (1 + 1e-9)


def test_the_tokens_of_a_pass_by_throwing_dice() -> None:
    rng = random.Random("draft")
    passes = 20_000
    written = 0
    for _ in range(passes):
        written += 1 + next((n for n in range(5) if rng.random() >= 0.8), 5)
    assert speculative_decoding(acceptance=0.8, draft_tokens=5)["tokens_per_step"] == pytest.approx(
        written / passes, rel=0.02
    )


@pytest.mark.parametrize(
    ("acceptance", "drafted", "speedup", "operations"),
    [
        (0.6, 2, 1.96, 1.53),
        (0.7, 3, 2.53, 1.58),
        (0.8, 2, 2.44, 1.23),
        (0.8, 5, 3.69, 1.63),
        (0.9, 2, 2.71, 1.11),
        (0.9, 10, 6.86, 1.60),
    ],
)
def test_drafts_that_cost_nothing(
    acceptance: float, drafted: int, speedup: float, operations: float
) -> None:
    """Speed-up and operations for some acceptances, by the sum.

    The theorem is that of leviathan2023fast.
    """
    out = speculative_decoding(acceptance=acceptance, draft_tokens=drafted)
    assert (out["speedup"], out["operations"]) == (
        pytest.approx(speedup, abs=5e-3),
        pytest.approx(operations, abs=5e-3),
    )


def test_one_more_token_predicted_by_the_model_itself() -> None:
    """DeepSeek-V3: 1.8 times the tokens with one drafted token (deepseek2024v3).

    It is accepted in 80 to 90 percent.
    """
    low, high = (
        speculative_decoding(acceptance=a, draft_tokens=1, draft_time=1 / 61)["speedup"]
        for a in (0.8, 0.9)
    )
    assert low < 1.8 < high


def test_a_dear_draft_slows_down() -> None:
    assert speculative_decoding(acceptance=0.5, draft_tokens=4, draft_time=0.5)["speedup"] < 1
    assert speculative_decoding(acceptance=1, draft_tokens=4)["speedup"] == 5


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"acceptance": 0}, "acceptance is 0, expected more than 0"),
        ({"acceptance": 1.5}, "expected at most 1"),
        ({"draft_tokens": 0}, "draft_tokens is 0, expected at least 1"),
        ({"draft_tokens": 2.5}, "expected a whole number"),
        ({"draft_time": -1}, "draft_time is -1, expected more than 0"),
    ],
)
def test_refused_drafts_say_what_was_expected(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        speculative_decoding(**{"acceptance": 0.8, "draft_tokens": 4, **given_})


def test_arrays_equal_floats() -> None:
    rates = np.array([0.1, 0.5, 1.0])
    out = speculative_decoding(acceptance=rates, draft_tokens=4)
    for i, rate in enumerate(rates.tolist()):
        assert out["speedup"][i] == speculative_decoding(acceptance=rate, draft_tokens=4)["speedup"]


@given(st.integers(1, 4096), st.integers(1, 100_000), st.floats(1e-6, 1e-2))
def test_a_request_costs_its_prompt_and_its_steps(prompt: int, answer: int, price: float) -> None:
    """What goes in and what comes out, each at its own price; the prompt brings the first token."""
    out = serving(**FULL, prompt_tokens=prompt, answer_tokens=answer, price=price)
    goes_in = prompt * out["usd_per_million_prompt_tokens"] / 1e6
    comes_out = (answer - 1) * out["usd_per_million_tokens"] / 1e6
    assert out["usd_per_request"] == pytest.approx(goes_in + comes_out)
    # All chips, for as long as a request takes of them.
    assert out["requests_per_s"] * out["usd_per_request"] == pytest.approx(8 * price)


@given(st.sampled_from(model_ids()), st.integers(1, 100_000), st.sampled_from([1, 2, 4]))
def test_a_prompt_is_read_as_prefill_reads_it(model: str, seq: int, dp: int) -> None:
    """Every replica reads one, whatever the layers and experts of the model are."""
    roomy: dict[str, Any] = {"chip": "h100-sxm", "memory": 1e18, "dp": dp, "seq": seq}
    served = calculate("serving", model=model, prompt_tokens=seq, batch=64, **roomy)
    read = calculate("prefill", model=model, batch=dp, **roomy)
    assert served["prompt_seconds"] == pytest.approx(read["seconds"])


@given(st.integers(0, 3), st.integers(1, 4), st.integers(1, 9))
def test_the_head_works_on_the_last_token_of_a_tiny_prompt(
    vocab: int, d_model: int, seq: int
) -> None:
    """So small that one weight more or less shows; without a vocabulary all weights are layers."""
    tiny = {"params": 64, "compute_params": 64, "layers": 1, "heads": 1, "head_dim": 1}
    chip = {"peak": 1e3, "bandwidth": 1e12, "memory": 1e9}
    asked = {**tiny, **chip, "d_model": d_model, "vocab": vocab, "seq": seq}
    out = serving(**asked, batch=1, prompt_tokens=seq, answer_tokens=1)
    head = vocab * d_model
    work = 2 * (seq * (64 - head) + head) + 2 * 2 * seq * (seq + 1) / 2
    assert out["prompt_seconds"] == pytest.approx(work / 1e3)
    assert prefill(**asked, batch=1)["seconds"] == pytest.approx(work / 1e3)


def test_a_long_answer_costs_what_is_written() -> None:
    """The price of a request over its tokens tends to that of a written token."""
    out = serving(**FULL, prompt_tokens=1, answer_tokens=1e9, price=1e-3)
    assert out["usd_per_request"] / 1e3 == pytest.approx(out["usd_per_million_tokens"], rel=1e-6)


def test_one_token_costs_its_prompt_alone() -> None:
    out = serving(**FULL, prompt_tokens=2000, answer_tokens=1, price=1e-3)
    assert out["usd_per_request"] == 8e-3 * out["prompt_seconds"]


def test_where_nothing_fits_nothing_is_answered() -> None:
    alone = serving(**{**FULL, "tp": 1}, prompt_tokens=100, answer_tokens=10, price=1e-3)
    assert alone["requests_per_s"] == 0 and alone["usd_per_request"] == math.inf


def test_a_prompt_is_a_part_of_the_context() -> None:
    with pytest.raises(FlopbookError, match="--prompt-tokens 4097 are more than the context"):
        serving(**FULL, prompt_tokens=4097)
    result = calculate("serving", model="llama-3-8b", chip="h100-sxm", seq=4096, price="2USD/h")
    assert result["usd_per_request"] is None and result["usd_per_million_prompt_tokens"] is None


def test_memory_that_an_engine_keeps_is_told_with_its_size() -> None:
    """vllm2026cache: 0.92 of a GPU. An 8B model leaves 7.9 GB of a card of 24, an L4 or an A10."""
    card: dict[str, Any] = {"model": "llama-3-8b", "chip": "rtx-4090", "seq": 8192}
    result = calculate("serving", **card)
    room = 24e9 - result["weight_bytes"]
    told = result.omitted["memory_of_the_engine"]
    assert told.of == "batch_fits" and told.share == pytest.approx(-0.08 * 24e9 / room)
    kept = calculate("serving", **card, memory_share=0.92)
    assert "memory_of_the_engine" not in kept.omitted
    assert kept["batch_fits"] == pytest.approx(result["batch_fits"] * (1 + told.share), abs=1)
    large = calculate("serving", model="llama-3-8b", chip="h200-sxm", seq=8192)
    assert "memory_of_the_engine" not in large.omitted


def test_weights_of_a_chip_are_those_of_its_part() -> None:
    run: dict[str, Any] = {"model": "llama-3-70b", "chip": "h100-sxm", "seq": 4096}
    whole = calculate("params", model="llama-3-70b")["total"]
    assert calculate("serving", **run, tp=8)["weight_bytes"] == pytest.approx(2 * whole / 8)
    assert calculate("serving", **run)["weight_bytes"] == pytest.approx(2 * whole)


def test_free_drafts_say_what_a_twentieth_of_a_pass_takes() -> None:
    """Five drafts at 0.05 of a pass: the speed-up over 1.25 (leviathan2023fast)."""
    asked = {"acceptance": 0.8, "draft_tokens": 5}
    free, timed = (calculate("speculative-decoding", **asked, draft_time=t) for t in (0, 0.05))
    told = free.omitted["drafts_that_take_time"]
    assert free["speedup"] * (1 + told.share) == pytest.approx(timed["speedup"])
    name = "drafts_that_take_time"
    assert name not in timed.omitted
    assert name not in calculate("speculative-decoding", acceptance=0.8, draft_tokens=2).omitted


def test_where_arithmetic_limits_a_pass_operations_are_time() -> None:
    """Six tokens checked for 3.689 written: the speed-up of 2.951 turns into 0.615."""
    found = calculate("speculative-decoding", acceptance=0.8, draft_tokens=5, draft_time=0.05)
    told = found.omitted["checks_that_take_time"]
    assert found["speedup"] * (1 + told.share) == pytest.approx((1 - 0.8**6) / 0.2 / 6)


@pytest.mark.parametrize("layout", [{}, {"tp": 2, "dp": 2}])
def test_prompts_in_turn_wait_half_as_long(layout: dict[str, int]) -> None:
    """Of n prompts of a replica the average one waits for (n + 1) / 2 of them."""
    asked = {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 8192, **layout}
    replicas = layout.get("dp", 1)
    one, eight = (calculate("prefill", **asked, batch=n * replicas) for n in (1, 8))
    told = eight.omitted["prompts_in_turn"].share
    assert eight["seconds"] * (1 + told) == pytest.approx(one["seconds"] * 4.5, rel=1e-3)
    assert "prompts_in_turn" not in one.omitted
    # Short prompts share a read of the weights, which each would need anew.
    short = calculate("prefill", **{**asked, "seq": 16}, batch=8 * replicas)
    assert "prompts_in_turn" not in short.omitted
