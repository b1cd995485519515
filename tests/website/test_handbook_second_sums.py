"""Sums of chapters that a second reading found wrong or short of a number, beside what is right."""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from tests.website.test_handbook_errors import text_of

MI = 1024 * 1024


def _faster(times: float, critical: float) -> float:
    """How much faster eight times the GPUs are, with a batch so many times as large.

    512 GPUs had 4 Mi tokens; a sum hides behind 4 units for each of 2,474 tokens.
    """
    before, tokens, hidden = 6 * 4 * MI / 512, times * 4 * MI / 4096, 2473.5
    now = 2 * tokens + 4 * max(tokens, hidden)
    return (1 + critical) * before / ((1 + critical / times) * now)


def test_keeping_the_batch_beats_eight_times_as_many_tokens_at_the_critical_batch() -> None:
    assert _faster(1, critical=1) == pytest.approx(4.1, abs=0.05)
    assert _faster(8, critical=1) == pytest.approx(1.8, abs=0.05)
    assert _faster(8, critical=8) == pytest.approx(4.5, abs=0.05)


@pytest.mark.parametrize("critical", [1, 8])
def test_the_batch_that_just_hides_the_sum_is_better_than_either(critical: float) -> None:
    between = _faster(2473.5 / 1024, critical)
    assert between > max(_faster(1, critical), _faster(8, critical))


@pytest.mark.parametrize("times", [1.0, 1.5, 4.0, 100.0])
def test_beyond_the_critical_batch_a_doubling_saves_a_quarter_of_the_steps_at_most(
    times: float,
) -> None:
    saved = 1 - (1 + 1 / (2 * times)) / (1 + 1 / times)
    more = (1 + 2 * times) / (1 + times) - 1
    assert saved <= 0.25 and more >= 0.5


def test_adam_moves_five_times_what_a_micro_batch_reads() -> None:
    ridge = calculate("min-batch", chip="h100-sxm")["tokens"]
    moved = 4 * (4 + 3) + 2  # four numbers read and three written in fp32, and a copy in bf16
    assert moved / 6 * ridge == pytest.approx(1477, abs=2)


def _micro_batches_of(schedule: str, **more: float) -> float:
    return float(
        calculate("bubble", schedule=schedule, stages=8, microbatches=8, **more)["fraction"]
    )


def test_as_many_micro_batches_as_stages_explain_the_measured_gain_of_interleaving() -> None:
    """torchtitan's default: 8 micro-batches on 8 stages, two chunks, 100 and 128 tokens/s."""
    gain = (1 - _micro_batches_of("interleaved", virtual=2)) / (1 - _micro_batches_of("1f1b"))
    assert gain == pytest.approx(1.304, abs=0.001)
    assert gain == pytest.approx(128 / 100, rel=0.02)


def test_ten_layers_of_a_70b_model_have_fewer_weights_than_an_eighth_of_it() -> None:
    counted = calculate("params", model="llama-3-70b")
    layers = (counted["total"] - counted["embedding"]) / 8
    assert layers / 1e9 == pytest.approx(8.557, abs=0.001)
    assert counted["total"] / 8 / layers == pytest.approx(1.03, abs=0.005)


def test_eight_micro_batches_of_a_stage_keep_23_gb_on_a_gpu() -> None:
    """What a layer keeps for a token in bf16, ten layers, 8,192 tokens, TP 8 with SP."""
    width, heads, kv_heads, head, inner = 8192, 64, 8, 128, 28672
    line = 2 * (4 * width + 2 * heads * head + 2 * kv_heads * head + 3 * inner) + 4 * heads
    assert 8 * line * 10 * 8192 / 8 / 1e9 == pytest.approx(22.5, abs=0.1)


def test_the_best_fp8_run_leaves_nvfp4_less_to_gain() -> None:
    """Tokens per second and GPU of one table: fp8, MXFP8, NVFP4."""
    rates = {"70b": (4224, 3712, 4864), "405b": (864, 800, 1184)}
    gains = {name: (four / mx, four / best) for name, (best, mx, four) in rates.items()}
    assert gains["70b"] == pytest.approx((1.31, 1.15), abs=0.005)
    assert gains["405b"] == pytest.approx((1.48, 1.37), abs=0.005)


def test_logits_at_12_bytes_are_less_than_what_the_head_keeps() -> None:
    kept = calculate("memory", model="llama-3-8b", seq=8192, recompute="none")["logits"]
    assert pytest.approx(12.61, abs=0.01) == 12 * 8192 * 128256 / 1e9
    assert (kept - 12 * 8192 * 128256) / 1e6 == pytest.approx(134, abs=1)


def test_eight_sums_of_single_numbers_would_take_longer_than_was_measured() -> None:
    """A chain of two cycles for eight pairs is a quarter of a cycle a pair; 0.13 were measured."""
    assert 2 / 8 > 0.13 > 2 / 64
    assert "64 | unit" in text_of("computer")
