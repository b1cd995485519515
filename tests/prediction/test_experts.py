"""What mixtures of experts add to a step, by how their software sends tokens."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.prediction.experts import mask_products
from flopbook.prediction.layouts import OneRun, RunLayout, training_run
from tests.support.training_rows import FITTED, LLAMA, layout, parts, row

MIXTURE = {**LLAMA, "n_experts": 64, "experts_per_token": 2, "moe_d_ff": 2048}
REPORT = "Megatron-Bridge docs/performance-summary.md"


def mixture(container: str, chip: str = "H100-SXM-80GB", **options: Any) -> RunLayout:
    """A mixture in 8 bits, eight ranks of experts, in a container of NeMo."""
    words = options.pop("words", "")
    said = {"precision": "FP8", "software": f"NeMo container {container}"}
    asked = row(model=MIXTURE, run=said, tp=1, dp=64, ep=8, zero_stage=1, **options)
    return training_run(asked._replace(hardware={**asked.hardware, "chip": chip}), 2026, words)


def routing(run: RunLayout, replayed: float = 1.0) -> float:
    """Seconds of a step in which routing and eight experts are launched, forward and backward."""
    layer = FITTED["expert_launch"] + 8 * FITTED["expert_kernels"]
    return layer * replayed * LLAMA["n_layers"] * run.micro_batches


def test_a_host_that_counts_tokens_makes_the_chip_wait() -> None:
    run = mixture("25.11")
    assert parts(run).launches[0] > routing(run)
    # However long the work is, nothing hides them.
    slow = {**FITTED, "expert_cost": 100.0}
    assert parts(run, slow).launches[0] > routing(run)


@pytest.mark.parametrize(
    ("container", "chip"), [("26.02", "H100-SXM-80GB"), ("25.11", "GB200-NVL72")]
)
def test_one_kernel_that_sends_tokens_is_launched_behind_work(container: str, chip: str) -> None:
    run = mixture(container, chip)
    plain = run._replace(year=2025.0)
    assert parts(run).launches[0] < routing(run, 0.3) < parts(plain).launches[0]


def test_a_step_in_one_graph_launches_nothing() -> None:
    """And one kernel multiplies for all experts, as fast as for one matrix."""
    run, before = mixture("26.06", "GB200-NVL72"), mixture("26.04", "GB200-NVL72")
    assert parts(run).launches[0] == 0 < parts(before).launches[0]
    ratio = parts(before).experts[0] / parts(run).experts[0]
    assert ratio == pytest.approx(FITTED["expert_cost"])


def test_whole_graphs_attend_in_8_bits() -> None:
    """Products take half as long, exponentials as long as before."""
    run, before = mixture("26.06", "GB200-NVL72"), mixture("26.04", "GB200-NVL72")
    half = FITTED["half_head"]
    ratio = parts(before).attention[0] / parts(run).attention[0]
    assert run.shape.head_dim == 128 and ratio == pytest.approx((128 + half) / (64 + half))


@pytest.mark.parametrize("change", [{"precision": "bf16"}, {"stack": "megatron-core"}])
def test_only_narrow_formats_of_the_recipes_run_in_one_graph(change: dict[str, Any]) -> None:
    assert parts(mixture("26.06", "GB200-NVL72")._replace(**change)).launches[0] > 0


def test_dense_models_launch_as_before() -> None:
    run = mixture("26.06", "GB200-NVL72")
    dense = run._replace(shape=run.shape._replace(experts=1.0, experts_per_token=1.0))
    plain = dense._replace(year=2025.0)
    assert parts(dense).launches[0] == pytest.approx(parts(plain).launches[0], rel=0.01) != 0


def test_a_benchmark_with_balanced_experts_waits_for_no_busiest_rank() -> None:
    run, balanced = mixture("25.11"), mixture("25.11", words=REPORT)
    assert balanced.is_balanced and not run.is_balanced
    assert (balanced.gradient_bytes, run.gradient_bytes) == (2.0, 4.0)
    beyond = 1 + FITTED["imbalance"] * (8 / 64) ** 0.5
    assert parts(run).experts[0] / parts(balanced).experts[0] == pytest.approx(beyond)
    assert parts(run).expert_parallel[0] > parts(balanced).expert_parallel[0]


CAPACITY = {**MIXTURE, "capacity_factor": 1.5}


def test_experts_with_a_capacity_multiply_every_place_and_wait_for_no_busiest_rank() -> None:
    """As one plain product for all, which takes what the capacity is over the even share."""
    without, filled = (
        layout(model=one, tp=1, dp=64, ep=8, zero_stage=1) for one in (MIXTURE, CAPACITY)
    )
    masks = filled._replace(shape=filled.shape._replace(tokens=1e-9))
    none = without._replace(shape=masks.shape._replace(capacity=0.0))
    busiest = 1 + FITTED["imbalance"] * (8 / 64) ** 0.5
    ratio = parts(masks).experts[0] / parts(none).experts[0]
    assert ratio == pytest.approx(1.5 / busiest / FITTED["expert_cost"], rel=1e-3)
    sent = parts(filled).expert_parallel[0] / parts(without).expert_parallel[0]
    assert sent == pytest.approx(1.5 / busiest)


def test_masks_of_a_capacity_multiply_as_often_as_a_sequence_is_long() -> None:
    """Two products of a token with the places of all experts, each as wide as the model."""
    for length in (4096, 8192):
        run = layout(model={**CAPACITY, "seq_len_tokens": length}, tp=1, dp=64)
        assert mask_products(OneRun(run)) == 2 * 1.5 * 2 * length * 8192
        without = run._replace(shape=run.shape._replace(capacity=0.0))
        assert mask_products(OneRun(without)) == 0
