"""What the planner's page takes for granted when it leaves layouts out: no step is faster.

`leastSeconds` of docs/assets/flopbook/plan/search.js bounds the steps of a cell from below by one
of them. It holds while these parts depend on nothing else and no part is below zero.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from flopbook.planning.explaining import run_with
from flopbook.planning.planner import plan
from flopbook.planning.question import Question, question_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.step_time import StepParts, step_parts
from scripts.website.build.content import DOCS

PROGRAM = (DOCS / "assets/flopbook/plan/search.js").read_text(encoding="utf-8")
SHARDED = ("gathers", "bubble", "gradients", "optimizer", "offload", "straggling")
RUNS = {
    "dense": ("llama-3-70b", "h100-sxm", "512", "megatron-core"),
    "mixture": ("deepseek-v3", "h100-sxm", "256", "megatron-core"),
    "torus": ("llama-3-70b", "tpu-v5p", "256", "maxtext"),
    "old": ("gpt-3-13b", "a100-sxm-80gb", "32", "deepspeed"),
    "waiting": ("llama-3-8b", "h100-sxm", "16", "torchtitan"),
}


def _names(total: str) -> tuple[str, ...]:
    """The parts that a sum of the program adds up, those of a sum in it included."""
    found = re.search(rf"const {total} = ([\w +]+);", PROGRAM)
    assert found
    names = found[1].split(" + ")
    return tuple(part for name in names for part in (_names(name) if name == "body" else (name,)))


BODY, COMMON = _names("body"), _names("common")


def _question(case: str) -> Question:
    model, chip, chips, stack = RUNS[case]
    asked = {"model": model, "chip": chip, "chips": chips, "stack": stack, "batch_tokens": "1Mi"}
    return question_of({**asked, "seq": "2048"})


def _cells(case: str) -> dict[tuple[object, ...], dict[tuple[int, int, str], StepParts]]:
    """Parts of steps by cell, and in it by ZeRO stage, groups and recomputation."""
    question = _question(case)
    layouts = plan(question, 4000).layouts
    parameters = fitted_kinds()["training_throughput"].parameters
    cells: dict[tuple[object, ...], dict[tuple[int, int, str], StepParts]] = {}
    for layout in layouts[:: max(1, len(layouts) // 60)]:
        cell = (layout.tp, layout.pp, layout.cp, layout.ep, layout.virtual, layout.micro_batch)
        for zero in (0, 1, 3):
            for recompute in ("none", "selective", "full"):
                one = layout._replace(zero=zero, hsdp=1, recompute=recompute)
                parts = step_parts(Layouts([run_with(question, one)]), parameters)
                cells.setdefault(cell, {})[zero, 1, recompute] = parts
    return cells


def _sum(parts: StepParts, names: tuple[str, ...]) -> float:
    return float(sum(np.sum(getattr(parts, name)) for name in names))


def test_the_parts_of_the_program_are_those_of_a_step() -> None:
    assert set(COMMON) | set(SHARDED) == set(StepParts._fields)
    assert len(set(COMMON)) == len(COMMON) and not set(COMMON) & set(SHARDED)
    added = re.search(r"function total\(.*?return ([\w +]+);", PROGRAM, re.DOTALL)
    assert added and tuple(added[1].split(" + ")) == StepParts._fields


@pytest.mark.parametrize("case", RUNS)
def test_more_chunks_are_not_below_what_the_page_takes_for_their_least(case: str) -> None:
    """Of the same degrees and micro-batches, whatever is sharded or computed again."""
    question = _question(case)
    parameters = fitted_kinds()["training_throughput"].parameters
    layouts = [one for one in plan(question, 4000).layouts if one.pp > 1 and one.virtual > 1]
    for layout in layouts[:: max(1, len(layouts) // 60)]:
        plain = layout._replace(virtual=1, schedule="1f1b", zero=0, hsdp=1, recompute="none")
        first, parts = (
            step_parts(Layouts([run_with(question, one)]), parameters) for one in (plain, layout)
        )
        slower = first.seconds / (first.seconds - first.straggling)
        assert parts.seconds >= _sum(first, BODY) * slower * (1 - 1e-9)
    assert layouts or case not in ("dense", "mixture")


@pytest.mark.parametrize("case", RUNS)
def test_no_step_of_a_cell_is_below_what_the_page_takes_for_its_least(case: str) -> None:
    cells = _cells(case)
    assert len(cells) > 5
    for variants in cells.values():
        plain = variants[0, 1, "none"]
        for (_, _, recompute), parts in variants.items():
            assert all(float(np.min(part)) >= 0 for part in parts)
            unsharded = variants[0, 1, recompute]
            for name in COMMON:
                assert getattr(parts, name) == getattr(unsharded, name), name
            assert _sum(parts, BODY) >= _sum(plain, BODY) * (1 - 1e-12)
            assert parts.bubble >= unsharded.bubble
            for bounding, names in ((unsharded, COMMON), (plain, BODY)):
                common = sum(getattr(bounding, name) for name in COMMON)
                slower = bounding.seconds / (bounding.seconds - bounding.straggling)
                least = sum(getattr(bounding, name) for name in names) * slower
                least = least * (1 + bounding.bubble / common) * (1 - 1e-9)
                assert parts.seconds >= least
