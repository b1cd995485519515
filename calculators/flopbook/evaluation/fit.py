"""Whether an answer fits into memory: what to read before all other numbers, and a way out.

A calculator takes part by having an output `free`, the memory left on each chip; `fewest_chips` is
added where it has that too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.evaluation.request import flag
from flopbook.evaluation.results import DEFAULT, Fit, Value
from flopbook.formulas.declaration import Formula
from flopbook.quantities.dtypes import WIDTHS

# Beyond the last no single change is proposed.
_POWERS = tuple(2.0**n for n in range(1, 13))


def fit_of(formula: Formula, values: Mapping[str, Value], outputs: Mapping[str, Any]) -> Fit | None:
    """How an answer fits; None where it has no memory, or is one of many."""
    free = outputs.get("free")
    if not isinstance(free, float):
        return None
    fewest = outputs.get("fewest_chips")
    return Fit(free, fewest, "" if free >= 0 else _remedy(formula, values))


def _remedy(formula: Formula, values: Mapping[str, Value]) -> str:
    """The first change of one input with which the answer fits, as an option; empty if none."""
    inputs = {name: used.value for name, used in values.items()}
    for changes in _changes(formula, values):
        # A format is an option that fills inputs, and none itself.
        changed = {name: value for name, value in changes.items() if name in formula.inputs}
        if _free(formula, {**inputs, **changed}) >= 0:
            name, value = next(iter(changes.items()))
            text = value if isinstance(value, str) else f"{value:.0f}"
            return f"{flag(name)} {text}"
    return ""


def _changes(formula: Formula, values: Mapping[str, Value]) -> Iterator[dict[str, Any]]:
    """Changes to try, in the order in which people would: weights as published, sharding,
    recomputation, fewer at once. The first entry is what is said; others follow from it.
    """
    yield from _as_published(values)
    if "zero" in formula.inputs:
        yield {"zero": 3.0}
    if "recompute" in formula.inputs:
        yield {"recompute": "full"}
    for name in ("tp", "ep"):
        if name in formula.inputs:
            # What was filled from a number of chips would contradict the new layout.
            freed = {
                unbounded: math.inf
                for unbounded in ("chips", "dp")
                if _is_limit(formula, unbounded)
            }
            yield from ({name: degree, **freed} for degree in _POWERS)
    for name in ("batch", "micro_batch"):
        if name in formula.inputs and values[name].origin != DEFAULT:
            yield from ({name: float(size)} for size in _smaller(values[name].value))


def _as_published(values: Mapping[str, Value]) -> Iterator[dict[str, Any]]:
    """Weights as narrow as in the published checkpoint, where they are counted wider."""
    published, counted = values.get("published"), values.get("bytes_per_param")
    if published is None or counted is None or published.value is None:
        return
    width = WIDTHS[published.value]
    if width < counted.value:
        yield {"weight_dtype": published.value, "bytes_per_param": width}


def _is_limit(formula: Formula, name: str) -> bool:
    """Whether an input may stay open."""
    return formula.defaults.get(name) == math.inf


def _smaller(batch: float) -> Iterator[int]:
    """Smaller batches, each half of the one before."""
    size = int(batch) // 2
    while size >= 1:
        yield size
        size //= 2


def _free(formula: Formula, given: Mapping[str, Any]) -> float:
    """Memory left with these inputs; less than nothing where a rule refuses them."""
    try:
        return float(formula(**given)["free"])
    except FlopbookError:
        return -math.inf
