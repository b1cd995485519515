"""Inputs of a formula by chance: each within its bounds, whatever the rules between them say."""

from __future__ import annotations

import math
import random
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Formula, Input
from flopbook.formulas.input_bounds import check_input

Inputs = dict[str, Any]
SMALL = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 12.0, 16.0, 64.0)


def one_input(spec: Input, default: Any, rng: random.Random) -> Any:
    """A word of a choice, the default, or a size: narrow bounds as they are, else powers of ten."""
    if spec.choices:
        return rng.choice(spec.choices)
    if default is not None and rng.random() < 0.4:
        return default
    low = max(spec.least, 1e-3)
    high = max(min(spec.most, 1e4 if spec.whole else 1e15), low)
    value = math.exp(rng.uniform(math.log(low), math.log(high)))
    return float(max(round(value), math.ceil(low))) if spec.whole else value


def careless_inputs(
    formula: Formula, rng: random.Random, start: Inputs, share: float = 0.5
) -> Inputs:
    """Values that are each within their bounds, whatever the rules between them say.

    About a `share` is changed from `start`, in many cases to small whole numbers, which divide each
    other often enough for both verdicts of most rules. Free text stays as it is.
    """
    values = {**formula.defaults, **start}
    for name, spec in formula.inputs.items():
        if rng.random() >= share or not (spec.is_number or spec.choices):
            continue
        default = formula.defaults.get(name)
        candidates = [one_input(spec, default, rng), default]
        if spec.is_number:
            candidates += [rng.choice(SMALL), rng.choice(SMALL)]
        value = rng.choice(candidates)
        if is_within_bounds(formula, name, value):
            values[name] = value
    return values


def is_within_bounds(formula: Formula, name: str, value: Any) -> bool:
    """Whether a value is one that an input alone may have, other inputs apart."""
    if value is None:
        return False
    try:
        check_input(name, formula.inputs[name], value, value == formula.defaults.get(name))
    except FlopbookError:
        return False
    return True
