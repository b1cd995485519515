"""What the memory of training leaves out, on paper: shares of a hundred bytes."""

from __future__ import annotations

import pytest

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
