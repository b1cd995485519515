"""Steps and sums of chapters that left a reader with a wrong result, each computed here again."""

from __future__ import annotations

import numpy as np
import pytest

from flopbook.evaluation.calculator import calculate
from tests.support.rendering import text_of


def test_the_backward_pass_of_a_block_has_the_slope_of_its_function() -> None:
    """Without it the gradient of the input is wrong by more than its own length."""
    rng = np.random.default_rng(0)
    tokens, d_out = rng.normal(size=(32, 16)), rng.normal(size=(32, 16))
    w_in, w_out = rng.normal(size=(16, 24)), rng.normal(size=(24, 16))
    before = tokens @ w_in
    with_slope = (d_out @ w_out.T * (before > 0)) @ w_in.T
    without = d_out @ w_out.T @ w_in.T
    moved = np.maximum((tokens + 1e-6 * d_out) @ w_in, 0) - np.maximum(before, 0)
    assert (moved @ w_out * d_out).sum() / 1e-6 == pytest.approx((with_slope * d_out).sum())
    assert np.linalg.norm(without - with_slope) > np.linalg.norm(with_slope)
    text = text_of("tensor-parallelism")
    assert r"multiply $d\text{Tmp}$ by the slope of $f$" in text


def test_an_update_longer_than_its_step_is_named() -> None:
    """Of 32 GPUs the source prints a step of 295 s and an update in it of 314 s."""
    text = text_of("reinforcement-learning")
    step, update = 294.77, 313.81
    assert update > step
    assert "the update takes longer than the step that it is a part of" in text


def test_a_model_laid_out_by_the_five_steps() -> None:
    """Llama 2 70B on 256 H100: stages leave activations as they are, so TP 2 overflows."""
    params, whole = 68_976_648_192, 90.01e9
    held = {tp: 6 * params / 16 + 12 * params / 256 + whole / tp for tp in (2, 4)}
    assert held[2] == pytest.approx(74.1e9, rel=0.01) and held[4] == pytest.approx(51.6e9, rel=0.01)
    asked = {"model": "llama-2-70b", "chip": "h100-sxm", "seq": 4096, "dp": 16, "zero": 1}
    kinds = {"recompute": "none", "attention": "flash", "dropout": "no", "grad_bytes": 4}
    shared = {"schedule": "1f1b", "microbatches": 64, "sequence_parallel": "yes"}
    total = {
        tp: float(calculate("memory", **asked, **kinds, **shared, tp=tp, pp=16 // tp)["total"])
        for tp in (2, 4)
    }
    assert total[4] < 80e9 < total[2]
    assert "by the five steps: {{ 1024" in text_of("choosing-a-configuration")


def test_the_first_token_and_the_queue_before_it_have_two_means() -> None:
    """In M/M/1 they differ by one service time, 1 / (1 - rho) against rho / (1 - rho)."""
    busy = 0.7
    assert 1 / (1 - busy) - busy / (1 - busy) == pytest.approx(1)
    text = text_of("serving")
    assert "In this queue the wait is exponential" not in text
    assert r"$\rho \, T_\text{prefill} / (1 - \rho)$" in text


def test_the_limit_of_two_is_that_of_a_node_for_each_rank() -> None:
    """A card of its own allows Llama 3 70B a degree of 2; the eight cards of whole nodes 17."""
    alone, together = (1.5 * 28_672 * rate / 989.4e12 for rate in (50e9, 400e9))
    assert (alone, together) == pytest.approx((2.2, 17.4), abs=0.05)
    text = text_of("tensor-parallelism")
    assert "TP across nodes, where the limit falls to about two." not in text
    assert "about two where each rank has a node of its own" in text
