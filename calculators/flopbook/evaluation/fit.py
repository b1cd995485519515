"""Whether an answer fits into memory: what to read before all other numbers, and a way out.

A calculator takes part by having an output `free`, the memory left on each chip; `fewest_chips` is
added where it has that too. How many sequences would fit is what the calculator `serving` says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.evaluation.remedies import first_remedy
from flopbook.evaluation.results import Fit, Value
from flopbook.formulas import get_formula
from flopbook.formulas.declaration import Formula

# The calculator and its output that say how many sequences fit at once, and the input for it.
SERVING, BATCH_FITS, BATCH = "serving", "batch_fits", "batch"


def fit_of(formula: Formula, values: Mapping[str, Value], outputs: Mapping[str, Any]) -> Fit | None:
    """How an answer fits; None where it has no memory, or is one of many."""
    free = outputs.get("free")
    if not isinstance(free, float):
        return None
    fewest = outputs.get("fewest_chips")
    if free >= 0:
        return Fit(free, fewest, "")
    inputs = {name: used.value for name, used in values.items()}

    def fits(changes: Mapping[str, Any]) -> bool:
        # A format is an option that fills inputs, and none itself.
        changed = {name: value for name, value in changes.items() if name in formula.inputs}
        return _free(formula, {**inputs, **changed}) >= 0

    largest = largest_batch(formula, inputs)
    return Fit(free, fewest, first_remedy(formula, values, fits), largest)


def names_batch(formula: Formula) -> bool:
    """Whether an answer that does not fit names the largest batch that does."""
    return BATCH in formula.inputs and "free" in formula.outputs


def largest_batch(formula: Formula, inputs: Mapping[str, Any]) -> float | None:
    """Sequences that fit at once on the same chips (1); None for a calculator without a batch."""
    if not names_batch(formula):
        return None
    served = get_formula(SERVING)
    asked = {name: value for name, value in inputs.items() if name in served.inputs}
    try:
        return float(served(**{**asked, BATCH: math.inf})[BATCH_FITS])
    except FlopbookError:
        return None


def _free(formula: Formula, given: Mapping[str, Any]) -> float:
    """Memory left with these inputs; less than nothing where a rule refuses them."""
    try:
        return float(formula(**given)["free"])
    except FlopbookError:
        return -math.inf
