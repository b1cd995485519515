"""What the memory of training leaves out, on paper: shares of a hundred bytes."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas import memory, prefill
from flopbook.formulas import training_omissions as left_out
from flopbook.formulas.launches import kernels_beside_dense_ones, messages_below_the_rate
from flopbook.formulas.network_omissions import BUS_SHARE, MEASURED_SHARE
from flopbook.formulas.training_compute import head_is_a_part, sequences_of_a_run
from flopbook.quantities.ops import inf

near = pytest.approx


def test_gradients_in_fp32() -> None:
    """20 bytes of gradients in two bytes each are 20 more."""
    size = left_out.gradients_in_fp32.function
    assert size(2, 20, 0, 100) == size(2, 20, 2, 100) == near(0.2)
    assert size(1, 20, 0, 100) == near(0.6)
    assert size(2, 20, 3, 100) == size(4, 20, 0, 100) == size(8, 20, 0, 100) == 0


def test_master_weights_beside_eight_bits() -> None:
    """Four of six bytes of each parameter, and what the step casts, with a reserve of a tenth."""
    size = left_out.master_beside_8_bits.function
    assert size("adam-8bit", 2, 60, 5, 0.1, 100) == near(-1.1 * 45 / 100)
    assert size("adam-8bit", 4, 60, 5, 0.1, 100) == size("adam", 2, 60, 5, 0.1, 100) == 0


def test_master_weights_of_tuned_ones() -> None:
    """Of twelve bytes four are left, two moments in bf16; so are four of eight."""
    size = left_out.master_of_tuned_weights.function
    assert size("adam", 2, 4, 60, 5, 0.1, 100) == near(-1.1 * (60 * 8 / 12 + 5) / 100)
    assert size("adam", 2, 2, 60, 5, 0, 100) == near(-(60 * 4 / 8 + 5) / 100)
    assert size("adam", 4, 4, 60, 5, 0.1, 100) == size("sgd", 2, 4, 60, 5, 0.1, 100) == 0


def test_outputs_that_wait_for_the_end_of_a_step() -> None:
    """Two sequences of 6 tokens on three ranks, 5 values of 2 bytes: 40 bytes a micro-batch."""
    size = left_out.waiting_outputs.function
    assert size(2, 7, 6, 5, 3, 4, 2, 1000) == near(7 * 40 / 1000)
    assert size(2, inf, 6, 5, 3, 4, 2, 1000) == near(4 * 40 / 1000)
    assert size(2, 7, 6, 5, 3, 2, 2, 1000) == near(0.28)
    assert size(2, 7, 6, 5, 3, 1, 2, 1000) == 0


@pytest.mark.parametrize(("zero", "parts"), [(0, 0), (1, 30), (2, 50), (3, 60)])
def test_both_copies_of_dualpipe_divide(zero: int, parts: int) -> None:
    size = left_out.copies_of_dualpipe.function
    for schedule in ("dualpipe", "dualpipe-v"):
        assert size(schedule, zero, 10, 20, 30, 100) == near(-parts / 2 / 100)
    assert size("1f1b", zero, 10, 20, 30, 100) == 0


def test_kernels_of_experts_and_latents() -> None:
    """Ten kernels of a layer take 0.5 s: four more for experts, five for latent attention."""
    size = kernels_beside_dense_ones.function
    assert size(10, 4, 0.5, 2, 0, 20) == near(4 * 4 * 0.05 / 20)
    assert size(10, inf, 0.5, 8, 0, 20) == near(10 * 4 * 0.05 / 20)
    assert size(10, 4, 0.5, 1, 1, 20) == near(10 * 5 * 0.05 / 20)
    assert size(10, 4, 0.5, 8, 1, 20) == near((16 + 50) * 0.05 / 20)
    assert size(10, 4, 0.5, 1, 0, 20) == 0


def test_messages_at_the_rate_that_links_reach() -> None:
    size = messages_below_the_rate.function
    for rate in (30e9, 34e9, 61e9, 66e9, 450e9):
        assert size(rate, 3, 30) == near((1 / MEASURED_SHARE - 1) / 10)
    for rate in (31.5e9, 63e9):
        assert size(rate, 3, 30) == near((1 / BUS_SHARE - 1) / 10)


def test_sequences_and_heads_of_a_run() -> None:
    assert sequences_of_a_run(tokens=12, seq=4)["sequences"] == 3
    assert sequences_of_a_run(tokens=12, seq=0.5)["sequences"] == 24
    assert sequences_of_a_run(tokens=12)["sequences"] == 12
    fits = head_is_a_part.function
    assert fits(77, 11, 7) and not fits(76, 11, 7)
    assert fits(1, inf, 7) and fits(1, 11, inf) and fits(1, inf, inf)


# So few values that a byte shows: two layers, width 8, nothing reserved, no context of a process.
TINY: dict[str, Any] = {
    **{"params": 2000, "layers": 2, "d_model": 8, "heads": 2, "kv_heads": 2, "head_dim": 4},
    **{"vocab": 4, "d_ff": 16, "seq": 64, "micro_batch": 1, "tp": 2},
    **{"reserve": 0, "context_bytes": 0, "group_bytes": 0},
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dropout": "yes"},
        {"seq": 640, "micro_batch": 3},
        {"recompute": "full"},
        {"recompute": "none", "attention": "scores"},
        {"experts": 4, "experts_per_token": 2, "expert_d_ff": 4},
        {"norms_per_layer": 4, "residual_streams": 2},
        {"q_lora_rank": 3},
    ],
)
def test_rows_of_a_tiny_model(options: dict[str, Any]) -> None:
    """What is promised is what sequence parallelism saves, to the byte."""
    values = {name: size for name, size in {**TINY, **options}.items() if name in memory.inputs}
    whole, cut = memory(**values), memory(**values, sequence_parallel="yes")
    known = {**memory.defaults, **values, **whole}
    promised = -left_out.rows_kept_whole.value(known) * whole["total"]
    assert promised == near(whole["total"] - cut["total"], abs=1e-6)


def test_prompts_of_a_tuned_engine() -> None:
    """Half of the rates, and half a second for each of two layers."""
    sizes = {"params": 1000, "compute_params": 1000, "layers": 2, "heads": 2, "head_dim": 5}
    rates = {"bandwidth": 10, "peak": 1000, "prompt_share": 0.5, "layer_overhead": 0.25}
    found = prefill(**sizes, **rates, seq=10, batch=3)
    assert found["likely_seconds"] == near(found["seconds"] / 0.5 + 0.5)
    assert found["likely_tokens_per_s"] == near(30 / found["likely_seconds"])
    assert found["tokens_per_s"] == near(30 / found["seconds"])
    linked = prefill(**sizes, **rates, seq=10, batch=3, tp=2, d_model=10, link_bandwidth=10)
    assert linked["message_seconds"] > 0
    beside = linked["seconds"] / 0.5 + 0.5 + linked["message_seconds"]
    assert linked["likely_seconds"] == near(beside)
