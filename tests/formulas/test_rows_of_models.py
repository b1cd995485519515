"""What sequence parallelism saves of published models, as the note of `memory` says it."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.evaluation.calculator import resolved
from flopbook.formulas import get_formula
from flopbook.formulas.training_omissions import rows_kept_whole

RUN: dict[str, Any] = {"tp": 8, "dp": 64, "zero": 3, "seq": 8192, "micro_batch": 2}


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize(
    "model",
    [
        *("llama-3-8b", "gpt-3-175b", "qwen-3-30b-a3b"),
        # All but three layers, every second layer, and a third of the blocks hold experts.
        *("deepseek-v3", "llama-4-maverick", "longcat-flash"),
        "nemotron-3-super-120b-a12b",  # each layer is a mixer, or experts in a narrow space
    ],
)
def test_the_note_has_what_it_saves(model: str, recompute: str) -> None:
    assert_promised({"model": model, "recompute": recompute})


@pytest.mark.parametrize("model", ["llama-3-8b", "deepseek-v3"])
@pytest.mark.parametrize("vocab", [32_000, 2_000_000])
@pytest.mark.parametrize(
    ("schedule", "pp", "virtual"),
    [("1f1b", 4, 1), ("gpipe", 4, 1), ("interleaved", 4, 2), ("interleaved", 8, 4)],
)
def test_the_note_has_what_stages_save(
    schedule: str, pp: int, virtual: int, vocab: int, model: str
) -> None:
    """The first stage is the fullest, or with a large vocabulary the last, which holds less."""
    stages = {"schedule": schedule, "pp": pp, "virtual": virtual, "microbatches": 16}
    assert_promised({"model": model, "vocab": vocab, "dp": 8, "zero": 1, **stages})


@pytest.mark.parametrize("pp", [1, 4])
def test_activations_on_the_host_leave_those_of_two_layers(pp: int) -> None:
    """Of what waits there, as much stays behind on the chip."""
    assert_promised({"model": "llama-3-8b", "pp": pp, "offload_activations": "yes", "dp": 8})


def assert_promised(options: dict[str, Any]) -> None:
    """The share in the note is that by which the memory shrinks."""
    formula = get_formula("memory")
    used = resolved("memory", **{**RUN, **options})
    run = {name: one.value for name, one in used.items() if name in formula.inputs}
    whole, cut = (formula(**{**run, "sequence_parallel": kind}) for kind in ("no", "yes"))
    values = {**formula.defaults, **run, "sequence_parallel": "no", **whole}
    saved = cut["total"] / whole["total"] - 1
    assert rows_kept_whole.value(values) == pytest.approx(saved, abs=1e-6)
