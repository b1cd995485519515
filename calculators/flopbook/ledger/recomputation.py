"""Evaluates the expressions of the ledger: `chip("h100-sxm").peak("bf16") / q("3.35TB/s")`.

An expression may name chips, models, calculators and quantities, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from flopbook.architectures.shape import Shape, shape
from flopbook.errors import FlopbookError, shorten
from flopbook.evaluation.calculator import Result, calculate
from flopbook.hardware.chip import Chip, chip
from flopbook.quantities import ops
from flopbook.quantities.expressions import evaluate
from flopbook.quantities.units import UnitError, parse_quantity, unit


class ChipView:
    """What an expression may ask of a chip: its values, no record and no source."""

    expression_attributes = (
        *("peak", "memory", "memory_bandwidth", "scaleup_bandwidth"),
        *("power", "total"),
    )

    def __init__(self, name: str) -> None:
        inner: Chip = chip(name)
        for attribute in self.expression_attributes:
            setattr(self, attribute, getattr(inner, attribute))


class ModelView:
    """What an expression may ask of a model."""

    expression_attributes = (
        *("params", "published_params", "active_params"),
        *("layers", "d_model", "d_ff", "vocab", "context"),
        *("heads", "kv_heads", "head_dim", "experts", "experts_per_token"),
        *("tokens", "batch_tokens", "train_flop", "gpu_hours", "chips"),
    )

    def __init__(self, name: str) -> None:
        self._inner: Shape = shape(name)

    def __getattr__(self, name: str) -> float:
        number: float = getattr(self._inner, name)
        return number


_QUANTITY = re.compile(r"\s*[-+]?[0-9._]+(?:[eE][-+]?[0-9]+)?\s*(.*?)\s*")


def quantity(text: str) -> float:
    """`q("80GB")`: an amount with its unit, in SI. Raises UnitError."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise UnitError(f"'{shorten(text)}' is not a quantity")
    name = match[1]
    return parse_quantity(text, unit(name).si if name else "1")


def calculated(name: str, /, **options: Any) -> Result:
    """A calculator's answer inside of data or prose. Raises FlopbookError.

    A configuration is a file of this machine, which whoever writes the expression has no right to.
    """
    if "config" in options:
        raise FlopbookError("an expression reads no file: give a model instead of config")
    return calculate(name, **options)


NAMES: Mapping[str, Any] = {
    "chip": ChipView,
    "model": ModelView,
    "calc": calculated,
    "q": quantity,
    "min": ops.minimum,
    "max": ops.maximum,
    "sqrt": ops.sqrt,
    "floor": ops.floor,
    "ceil": ops.ceil,
    "abs": abs,
}


def recompute(expression: str) -> float:
    """Evaluate an expression of the ledger to an SI number. Raises FlopbookError."""
    answer = evaluate(expression, NAMES)
    if isinstance(answer, Mapping) and answer:  # a calculator, of which the first output counts
        answer = next(iter(answer.values()))
    if not isinstance(answer, (int, float)):
        raise FlopbookError(f"'{shorten(expression)}' gives no number")
    return float(answer)
