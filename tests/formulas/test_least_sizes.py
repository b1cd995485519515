"""Nothing jumps where a size is least: one rank, two chips and three are what many are.

An answer follows a size x as a + b x + c x^2 + d / x, or in steps, or it has a limit. Where it
follows it over five sizes, it has to follow it down to the least one too, unless that one is
special: a threshold that is off by one shows there and nowhere else. One of something is the least,
except of what one switches off, such as degrees: of those it is two.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import resolved
from flopbook.formulas import formulas, get_formula
from flopbook.formulas.declaration import Formula
from tests.support import byexample
from tests.support.generated_inputs import Inputs

# Each kind of layer, of experts and of attention is in one of them.
MODELS = (
    *("deepseek-v3", "gemma-3-27b", "llama-4-maverick", "deepseek-v4-flash"),
    *("kimi-linear-48b-a3b", "nemotron-3-super-120b-a12b"),
)
# Degrees that examples leave at one, with room for others beside them.
LAYOUTS: dict[str, tuple[Inputs, ...]] = {
    "memory": ({"dp": 64.0, "zero": 1.0}, {"dp": 64.0, "zero": 3.0, "tp": 2.0, "cp": 2.0}),
    "decode": ({"dp": 64.0}, {"tp": 4.0, "dp": 64.0}),
    "prefill": ({"dp": 64.0, "batch": 64.0},),
    "serving": ({"dp": 64.0, "batch": 64.0},),
}
# Sizes to be followed, and the least sizes that they foretell.
NEXT_TO_ONE = ((1.0,), (2.0, 3.0, 4.0, 5.0, 6.0))
NEXT_TO_TWO = ((2.0, 3.0), (4.0, 8.0, 16.0, 32.0, 64.0))
# One of these is none: a degree, a ring, an expert, a layer or a token that stands for itself.
OFF_AT_ONE = {
    *("dp", "tp", "pp", "cp", "ep", "hsdp", "virtual", "axes", "links_per_axis", "ring_side"),
    *("chips", "chips_per_node", "loss_chunks", "layers", "experts", "expert_layers", "stages"),
    *("compression", "index_compression", "microbatches", "host_chips", "side_x", "side_y"),
}
# Whole numbers of chips, sequences and waves, and what is counted of them, go in steps; the peak
# that is enough for products and for attention goes with the one that needs more.
ROUNDED = {
    "enough_peak",
    *("fewest_chips", "batch_fits", "batch_runs", "max_chips", "waves"),
    *("~no_such_degree", "~idle_chips_of_a_node"),
}
# Where the least is special, or an answer goes in steps: the reason for each.
SPECIAL = {
    ("attention-traffic", "block"): "the last block is filled",
    ("wave-quantisation", "processors"): "the last wave is filled",
    ("cluster-power", "chips_per_rack"): "the last rack is filled",
    ("training-time", "chips_per_node"): "the last node is paid whole",
    ("memory", "dense_layers"): "more experts than there are parameters leave none for the rest",
    ("memory", "dp"): "of a short step and the passes the longer one is the peak",
    ("fine-tuning", "attention_layers"): "those with a window are some of them",
    ("collective", "chips"): "the sides of a torus and the steps of a tree are whole",
    ("ep-limit", "chips"): "an open axis has half the links",
    ("mixed-limit", "chips"): "the sides of a slice are whole",
    ("mixed-limit", "chips_per_node"): "of two networks the slower one limits",
    ("serving", "window"): "as many sequences run as fit, a whole number",
    ("serving", "kv_lora_rank"): "as many sequences run as fit, a whole number",
    ("serving", "ep"): "as many sequences run as fit, a whole number",
    ("serving", "experts_per_token"): "as many sequences run as fit, a whole number",
}
# An entry stands for four tokens or more, and the last one is filled.
ENTRIES = {"seq", "compression", "index_compression"}


def contexts(formula: Formula) -> Iterator[Inputs]:
    """The examples of a formula, and the first of them for other models and layouts."""
    for number in range(len(formula.examples)):
        yield byexample.inputs(formula.id, number)
    first: Inputs = {name.replace("-", "_"): value for name, value in formula.examples[0].items()}
    if "model" in first:
        for model in MODELS:
            yield from asked(formula, {**first, "model": model})
    placed = {name: value for name, value in first.items() if name != "chips"}
    for layout in LAYOUTS.get(formula.id, ()):
        yield from asked(formula, {**placed, "model": "deepseek-v3", **layout})


def asked(formula: Formula, options: Inputs) -> Iterator[Inputs]:
    """The inputs of a question; none where a model is no subject of the calculator."""
    with contextlib.suppress(FlopbookError):
        yield {name: one.value for name, one in resolved(formula.id, **options).items()}


def numbers(formula: Formula, values: Inputs) -> dict[str, float] | None:
    """Outputs and sizes of omissions that are numbers; None where the inputs are refused."""
    try:
        out = formula(**values)
    except FlopbookError:
        return None
    known: dict[str, Any] = {**formula.defaults, **values, **out}
    sizes = {f"~{one.function.__name__}": one.value(known) for one in formula.omissions}
    found = {**out, **sizes}
    return {
        name: float(value)
        for name, value in found.items()
        if isinstance(value, (int, float)) and name not in ROUNDED
    }


@functools.cache
def row(size: float) -> tuple[float, ...]:
    return (1.0, size, size * size, 1 / size)


def foretold(sizes: tuple[float, ...], answers: list[float], least: float) -> float | None:
    """What five answers say of the least size; None where they do not follow the size."""
    scale = max(map(abs, answers))
    weights = np.linalg.solve([row(size) for size in sizes[:4]], answers[:4])
    if not scale or abs(np.dot(row(sizes[4]), weights) - answers[4]) > 1e-7 * scale:
        return None
    return float(np.dot(row(least), weights))


def jumps(formula: Formula, values: Inputs, name: str) -> Iterator[str]:
    """Answers at the least sizes of one input that are not those that larger ones foretell."""
    followed_to = (NEXT_TO_TWO,) if name in OFF_AT_ONE else (NEXT_TO_ONE, NEXT_TO_TWO)
    for least_sizes, sizes in followed_to:
        found = [numbers(formula, {**values, name: size}) for size in sizes]
        answers = [one for one in found if one is not None]
        if len(answers) < len(sizes):
            continue
        for least in least_sizes:
            at_least = numbers(formula, {**values, name: least})
            for output, answer in (at_least or {}).items():
                followed = [one[output] for one in answers]
                if not all(map(math.isfinite, (answer, *followed))):
                    continue
                awaited = foretold(sizes, followed, least)
                scale = max(abs(answer), *map(abs, followed))
                if awaited is not None and abs(awaited - answer) > 1e-5 * scale:
                    yield f"{output} at {name}={least:g}: {answer:g}, foretold {awaited:g}"


def whole_inputs(formula: Formula) -> list[str]:
    """Inputs that count something."""
    return [name for name, spec in formula.inputs.items() if spec.is_number and spec.whole]


@pytest.mark.parametrize("id", [name for name, one in formulas().items() if whole_inputs(one)])
def test_the_least_size_is_no_exception(id: str) -> None:
    formula = get_formula(id)
    found = []
    for context in contexts(formula):
        values = {**formula.defaults, **{k: v for k, v in context.items() if k in formula.inputs}}
        has_entries = values.get("compressed_layers", 0) > 0
        for name in whole_inputs(formula):
            if (id, name) in SPECIAL or (has_entries and name in ENTRIES):
                continue
            found += jumps(formula, values, name)
    assert not found, "\n".join(found)
