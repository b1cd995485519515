"""Fine-tuning with adapters leaves most weights as they are: they get no gradients."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import ADAPTED_SHARE, OneRun, RunLayout, training_run
from flopbook.prediction.memory import MODEL as MEMORY
from flopbook.prediction.similar import similar_runs
from flopbook.prediction.step_time import StepParts, step_parts
from tests.prediction.test_step_time import LLAMA, row

FITTED = fitted_kinds()["training_throughput"].parameters


def layout(task: str = "", **degrees: Any) -> RunLayout:
    return training_run(row(run={"task": task} if task else None, **degrees), 2025, "NeMo")


def parts(run: RunLayout) -> StepParts:
    return step_parts(OneRun(run), FITTED)


@pytest.mark.parametrize("task", ["LoRA fine-tuning", "QLoRA", "adapter fine-tuning", "adapters"])
def test_a_task_with_adapters_trains_a_few_weights(task: str) -> None:
    assert layout(task).trained == ADAPTED_SHARE


@pytest.mark.parametrize("task", ["", "pretraining", "full fine-tuning", "exploration"])
def test_other_tasks_train_all_weights(task: str) -> None:
    assert layout(task).trained == 1


def test_gradients_of_weights_are_a_third_of_the_products() -> None:
    """Forward, backward to the layer before, and the gradient of the weights cost the same."""
    whole = parts(layout())
    frozen = parts(layout()._replace(trained=0.0))
    assert float(frozen.products / whole.products) == pytest.approx(2 / 3)
    assert frozen.attention == whole.attention and frozen.elementwise == whole.elementwise
    assert float(frozen.head) < float(whole.head)


def test_with_recomputation_they_are_a_quarter() -> None:
    whole = layout()._replace(recompute="full")
    ratio = parts(whole._replace(trained=0.0)).products / parts(whole).products
    assert float(ratio) == pytest.approx(3 / 4)


def test_what_is_not_trained_is_neither_summed_nor_updated() -> None:
    frozen = parts(layout(zero_stage=1)._replace(trained=0.0))
    half = parts(layout(zero_stage=1)._replace(trained=0.5))
    whole = parts(layout(zero_stage=1))
    assert frozen.optimizer == 0
    assert float(half.optimizer) == pytest.approx(float(whole.optimizer) / 2)
    assert float(frozen.gradients) < float(half.gradients) < float(whole.gradients)


def test_sharded_weights_are_still_gathered_twice() -> None:
    """On a network so slow that nothing hides, gathers are two thirds and less a few hops."""
    slow = layout(tp=1, dp=64, zero_stage=3)
    machine = slow.machine._replace(link_bandwidth=1e6, card_bandwidth=1e6)
    slow = slow._replace(machine=machine)
    ratio = parts(slow._replace(trained=0.0)).gathers / parts(slow).gathers
    assert float(ratio) == pytest.approx(2 / 3, rel=1e-3)


def test_a_model_that_is_not_trained_fits_chips_that_could_not_train_it() -> None:
    """70B takes 141 GB in bf16 and 1.1 TB with gradients and optimizer."""
    hardware = {"chip": "H200-SXM-141GB", "n_chips": 8, "chips_per_node": 8}
    silent = row(LLAMA)._replace(hardware=hardware, parallelism={"global_batch_seqs": 8})
    whole = training_run(silent, 2025, "NeMo")
    adapted = training_run(silent._replace(run={**silent.run, "task": "LoRA"}), 2025, "NeMo")
    assert whole.zero == 3
    assert adapted.zero < 3 or adapted.tp < 8


def test_memory_and_time_agree_on_who_trains_adapters() -> None:
    sources = {name: one for file in run_files().values() for name, one in file.sources.items()}
    measured = {"peak_memory_gb": 40.0}
    adapted = row(run={"task": "adapter fine-tuning"})._replace(measured=measured)
    whole = row()._replace(measured=measured)
    source = sources["litgpt-res"]
    assert MEMORY.read(adapted, source).inputs.options["optimizer_bytes"] < 1
    assert MEMORY.read(whole, source).inputs.options.get("optimizer_bytes", 12) > 1


def test_runs_alike_train_the_same_share() -> None:
    """A 70B that is pretrained was once shown beside fine-tunings of MLPerf."""
    adapted = similar_runs(layout("LoRA")._replace(precision="fp8")).nearest
    whole = similar_runs(layout()._replace(precision="fp8")).nearest
    assert adapted and whole
    assert all("lora" in run.id or "adapter" in run.id for run in adapted)
    assert not any("lora" in run.id for run in whole)
