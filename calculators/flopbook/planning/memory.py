"""The memory of many layouts at once, by the formula of the `memory` calculator."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from flopbook.evaluation.calculator import resolved
from flopbook.formulas import get_formula
from flopbook.planning.question import Question
from flopbook.prediction.arrays import Column
from flopbook.prediction.layout_memory import software_options

# What a layout decides; all else comes from the model, the formats and the software.
LAYOUT = ("tp", "pp", "cp", "ep", "dp", "zero", "micro_batch", "microbatches", "virtual")


def memory_inputs(question: Question) -> dict[str, Any]:
    """All inputs of the formula but those of a layout, as the calculator resolves them."""
    values = resolved("memory", **software_options(question.model, question.run))
    return {name: value.value for name, value in values.items() if name not in LAYOUT}


def bytes_of(inputs: Mapping[str, Any], numbers: Mapping[str, Any], **words: str) -> Column:
    """Bytes on each device: `inputs` that are shared, `numbers` of layouts, and their words."""
    options = {**inputs, **numbers, **words}
    total: Column = np.asarray(_formula().compute(options)["total"])
    return total


@functools.cache
def _formula() -> Any:
    return get_formula("memory")
