"""Groups of ranks on a torus have an axis of its links each, and none has those of another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.measured_runs import run_files
from flopbook.evaluation.calculator import calculate
from flopbook.prediction.asking import run_of
from flopbook.prediction.layouts import OneRun, RunLayout, training_run
from flopbook.prediction.machines import machine
from flopbook.prediction.replicas_traffic import BYTES_16, experts_elsewhere, shared_elsewhere
from flopbook.prediction.step_time import SUMS, step_parts
from flopbook.prediction.torus import (
    axes_of,
    share_of_exchange,
    share_of_replicas,
    share_of_ring,
)
from tests.support.cases import every
from tests.support.training_rows import FITTED

MODEL = {"model": "llama-3-405b", "batch": "256", "seq": "8192", "stack": "maxtext"}


def on_torus(chip: str, chips: int, tp: int, **options: str) -> RunLayout:
    degrees = {"tp": f"{tp}", "dp": f"{chips // tp}", "zero": "3"}
    return run_of({**MODEL, "chip": chip, "chips": f"{chips}", **degrees, **options})


@every(
    "chip, chips, tp, axes",
    [
        ("tpu-v5p", 64, 4, 1),  # 4x4x4
        ("tpu-v5p", 128, 8, 1),  # 4x4x8
        ("tpu-v5p", 1024, 16, 1),  # 8x8x16
        ("tpu-v5p", 1024, 32, 2),
        ("tpu-v5p", 1024, 1024, 3),
        ("tpu-v6e", 256, 16, 1),  # 16x16, and no side is longer
        ("tpu-v6e", 256, 32, 2),
        ("tpu-v6e", 256, 256, 2),
    ],
)
def test_a_group_lies_along_as_few_axes_as_hold_it(
    chip: str, chips: int, tp: int, axes: int
) -> None:
    run = on_torus(chip, chips, tp, batch="1024")
    assert axes_of(OneRun(run), run.tp) == axes


@given(
    st.sampled_from([("tpu-v4", 3), ("tpu-v5p", 3), ("tpu-v6e", 2), ("tpu-v5e", 2)]),
    st.sampled_from([1, 2, 4, 8, 16, 32, 64]),
)
def test_groups_have_no_links_twice(chip: tuple[str, int], tp: int) -> None:
    """Replicas keep half an axis where a group lies along all of them; that is all they share."""
    name, axes = chip
    run = OneRun(on_torus(name, 256, tp))
    assert run["axes"] == axes
    tensor, replicas = share_of_ring(run, run["tp"]), share_of_replicas(run)
    assert 0 < tensor <= 1 and 0 < replicas <= 1
    if tp == 1:
        assert replicas == 1
        return
    assert tensor + replicas <= 1 + 0.5 / axes + 1e-9
    if tp < 16:
        assert tensor + replicas <= 1 + 1e-9


@given(
    st.sampled_from(["tpu-v4", "tpu-v5p", "tpu-v6e", "tpu-v7x"]),
    st.sampled_from([2, 4, 8, 16, 32]),
    st.sampled_from([64, 256]),
)
def test_no_step_is_shorter_than_its_sums_on_their_axes(chip: str, tp: int, chips: int) -> None:
    """Llama 3 8B with TP 8 on 64 Ironwood took 0.53 s where the links of its axis need 0.60 s."""
    run = on_torus(chip, chips, tp, model="llama-3-8b", batch="64", recompute="none")
    tokens = run.micro_batch * run.micro_batches * run.shape.tokens
    sent = SUMS * 2 * BYTES_16 * tokens * run.shape.layers * run.shape.d_model * (1 - 1 / tp)
    share = axes_of(OneRun(run), run.tp) / run.machine.axes
    assert step_parts(OneRun(run), FITTED).seconds >= sent / (run.machine.link_bandwidth * share)


def test_an_exchange_is_as_slow_as_that_of_the_calculator() -> None:
    """An all-to-all over the ring of 16 of a v6e, as `collective` has it."""
    run = OneRun(on_torus("tpu-v6e", 256, 1))
    whole = calculate(
        "collective",
        op="all-to-all",
        chip="tpu-v6e",
        chips=16,
        axes=1,
        bytes="16GB",
        latency="1e-12s",
    )
    each = 1e9 * (1 - 1 / 16)
    rate = run["link_bandwidth"] * share_of_exchange(run, 16)
    assert each / rate == pytest.approx(whole["bandwidth_seconds"])


def test_experts_that_every_rank_has_for_itself_are_not_gathered() -> None:
    asked = {"model": "mixtral-8x7b", "chip": "h100-sxm", "chips": "64", "batch": "64"}
    own, shared = (
        OneRun(run_of({**asked, "zero": "3", "ep": ep, "dp": "8", "tp": "8"})) for ep in ("8", "1")
    )
    dense = (own["parameters"] - own["expert_parameters"]) / 8
    for run in (own, shared):
        assert shared_elsewhere(run) == pytest.approx(dense * (1 - 1 / 8))
    assert experts_elsewhere(own) == 0
    assert experts_elsewhere(shared) == pytest.approx(own["expert_parameters"] / 8 * (1 - 1 / 8))


def _rows(*files: str) -> list[Any]:
    return [row for name in files for row in run_files()[name].rows]


def test_rows_of_maxtext_count_the_sequences_of_all_ranks() -> None:
    """Its `per_device_batch_size` counts chips: a step has that many times all chips."""
    per_chip = {"32B": 6, "128B": 1, "512B": 2, "1024B": 2}
    for row in _rows("maxtext-v5p"):
        each = per_chip[row.model["name"].removeprefix("MaxText-")]
        assert row.parallelism["micro_batch_seqs"] == each * row.parallelism["tp"]


def test_tokens_of_a_micro_batch_are_those_of_a_replica() -> None:
    """They were read by nothing: 16 ranks of a 900B model had a single sequence."""
    (row,) = (one for one in _rows("maxtext-custom") if "900B" in one.id)
    run = training_run(row, 2025, "MaxText")
    assert run.micro_batch * run.shape.tokens == 4096 * run.tp == 65_536


def test_a_run_in_int8_has_the_peak_of_int8() -> None:
    """GPT-3 on v5p, whose script quantises to int8; a v5p multiplies fp8 no faster than bf16."""
    (row,) = (one for one in _rows("tpu-recipes") if "v5p-gpt3" in one.id)
    run = training_run(row, 2025, "MaxText")
    assert run.precision == "fp8" and run.machine.peak_8bit == 2 * run.machine.peak_16bit
    assert machine("tpu-v5p").peak_8bit == run.machine.peak_16bit
