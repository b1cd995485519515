"""The slice that the chapter on configurations plans can be rented."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip

CHAPTER = (
    Path(__file__).resolve().parents[2] / "docs" / "handbook" / "choosing-a-configuration.md"
).read_text(encoding="utf-8")
POD = load_entry("google/tpu-v5p-pod")
LARGEST_JOB = 16 * 16 * 24
BATCH = 4 * 2**20


def traffic(tensor_degree: int, chips: int, tensor_axes: float, fsdp_axes: int) -> float:
    """Time of messages over that of arithmetic, for a 70B on a torus of v5p."""
    v5p = chip("google/tpu-v5p")
    intensity = v5p.peak("bf16") / (v5p.scaleup_bandwidth() / 3)
    weights = chips / tensor_degree * intensity / (fsdp_axes * BATCH)
    activations = tensor_degree * intensity / (1.5 * 28672 * tensor_axes)
    return weights + activations


def test_no_exercise_plans_more_chips_than_one_job_gets() -> None:
    """6,144 chips are on file with their source; 8,960 are named as what the book plans."""
    jobs = [one.si_value for one in POD.claims if one.quote and "(6144 chip) job" in one.quote]
    assert jobs == [LARGEST_JOB]
    assert "{% set slice = job.si_value %}" in CHAPTER
    assert "chips=slice" in CHAPTER and "chips=8960" not in CHAPTER


def test_a_side_of_16_for_tensor_parallelism_hides_on_the_slice() -> None:
    """0.959 of the arithmetic; on the whole pod of 8,960 it would be 1.007."""
    assert traffic(16, LARGEST_JOB, 1, 2) == pytest.approx(0.959, abs=1e-3)
    assert traffic(16, 8960, 1, 2) == pytest.approx(1.007, abs=1e-3)


def test_half_a_side_does_not() -> None:
    """Eight chips in a line have one link at their ends: half the rate for activations."""
    assert traffic(8, LARGEST_JOB, 0.5, 2) == pytest.approx(1.06, abs=5e-3)


def test_the_limit_of_both_leaves_room_on_the_slice() -> None:
    asked = {"axes": 3, "tensor_axes": 1, "chips": LARGEST_JOB, "batch_tokens": BATCH}
    limit = calculate("mixed-limit", chip="tpu-v5p", model="llama-3-70b", **asked)
    assert (
        limit["tokens_per_chip"]
        < BATCH / LARGEST_JOB
        < calculate("fsdp-limit", chip="tpu-v5p", axes=3)["tokens_per_chip"]
    )
