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
    formula = get_formula("memory")
    used = resolved("memory", model=model, recompute=recompute, **RUN)
    run = {name: one.value for name, one in used.items() if name in formula.inputs}
    whole, cut = (formula(**{**run, "sequence_parallel": kind}) for kind in ("no", "yes"))
    values = {**formula.defaults, **run, "sequence_parallel": "no", **whole}
    saved = cut["total"] / whole["total"] - 1
    assert rows_kept_whole.value(values) == pytest.approx(saved, abs=1e-6)
