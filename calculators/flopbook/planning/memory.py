"""The memory of many layouts at once, by the formula of the `memory` calculator."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from flopbook.evaluation.calculator import resolved
from flopbook.formulas import get_formula
from flopbook.planning.question import Question
from flopbook.prediction.layouts import Column

# What a layout decides; all else comes from the model, the formats and the software.
LAYOUT = ("tp", "pp", "cp", "ep", "dp", "zero", "micro_batch", "microbatches", "virtual")
# Before this year no stack divided activations along the sequence (Korthikanti et al., 2022).
SEQUENCE_PARALLEL_YEAR = 2022
# Stacks that add up gradients of 16 bits in fp32.
WIDE_GRADIENTS = ("megatron-core", "nemo", "deepspeed", "nanotron")


def memory_options(question: Question) -> dict[str, Any]:
    """The options of `flopbook memory` that all layouts share.

    Tensor parallelism divides norms along the sequence too; attention is fused and kernels are
    compiled as the prediction takes them; dropout went out of use with fused attention.
    """
    run = question.run
    options = {
        "model": question.model,
        "chip": run.machine.chip,
        "seq": run.shape.tokens,
        "dtype": question.dtype,
        "sequence_parallel": "no" if run.year < SEQUENCE_PARALLEL_YEAR else "yes",
        "attention": "flash" if run.has_flash else "scores",
        "dropout": "no" if run.has_flash else "auto",
        "fusion": "fused" if run.is_compiled else "eager",
    }
    is_wide = run.stack in WIDE_GRADIENTS and question.dtype != "fp16"
    return {**options, **({"grad_dtype": "fp32"} if is_wide else {})}


def memory_inputs(question: Question) -> dict[str, Any]:
    """All inputs of the formula but those of a layout, as the calculator resolves them."""
    values = resolved("memory", **memory_options(question))
    return {name: value.value for name, value in values.items() if name not in LAYOUT}


def bytes_of(inputs: Mapping[str, Any], numbers: Mapping[str, Any], **words: str) -> Column:
    """Bytes on each device: `inputs` that are shared, `numbers` of layouts, and their words."""
    given = {**inputs, **numbers, **words}
    total: Column = np.asarray(_formula().compute(given)["total"])
    return total


@functools.cache
def _formula() -> Any:
    return get_formula("memory")
