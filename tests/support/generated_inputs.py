"""Random and boundary inputs of any formula, made from the bounds of its inputs."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Formula, Input
from flopbook.formulas.input_bounds import check_input
from flopbook.quantities.ops import inf

Inputs = dict[str, Any]
TRIES = 400
SMALL = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 12.0, 16.0, 64.0)


def fits(formula: Formula, given: Inputs) -> bool:
    """True when a formula takes these inputs: its rules hold."""
    try:
        formula(**given)
    except FlopbookError:
        return False
    return True


def _fits_still(formula: Formula, given: Inputs, changed: str) -> bool:
    """As `fits`, for inputs that fitted before one of them was changed: nothing is computed."""
    if not formula.printed:  # ordinary Python may refuse while it computes
        return fits(formula, given)
    value, defaults = given[changed], formula.defaults
    try:
        is_default = changed in defaults and value is defaults[changed]
        check_input(changed, formula.inputs[changed], value, is_default)
        for rule in formula.rules:
            rule.check(given)
    except FlopbookError:
        return False
    return True


def _sizes(spec: Input, default: Any) -> tuple[float, float]:
    """Between what a random size lies: narrow bounds as they are, else a few powers of ten."""
    low = max(spec.least, 1e-3)
    high = min(spec.most, 1e4 if spec.whole else 1e15)
    return low, max(high, low)


def _one(spec: Input, default: Any, rng: random.Random) -> Any:
    if spec.choices:
        return rng.choice(spec.choices)
    if default is not None and rng.random() < 0.4:
        return default
    low, high = _sizes(spec, default)
    value = math.exp(rng.uniform(math.log(low), math.log(high)))
    return float(max(round(value), math.ceil(low))) if spec.whole else value


def random_inputs(formula: Formula, rng: random.Random, start: Inputs | None = None) -> Inputs:
    """Random values for every input that keep the rules of a formula.

    With `start`, values are changed one after the other from there, and a change against the rules
    is taken back.
    """
    if start is None:
        for _ in range(TRIES):
            given = {
                name: _one(spec, formula.defaults.get(name), rng)
                for name, spec in formula.inputs.items()
            }
            if fits(formula, given):
                return given
        raise AssertionError(f"no random inputs of {formula.id} keep its rules; give a start")
    given = {**formula.defaults, **start}
    for name, spec in formula.inputs.items():
        changed = {**given, name: _one(spec, formula.defaults.get(name), rng)}
        given = changed if rng.random() < 0.7 and _fits_still(formula, changed, name) else given
    return given


def careless_inputs(formula: Formula, rng: random.Random, start: Inputs) -> Inputs:
    """Values that are each within their bounds, whatever the rules between them say.

    About half are those of `start`; many others are small whole numbers, which divide each other
    often enough for both verdicts of most rules.
    """
    values = {**formula.defaults, **start}
    for name, spec in formula.inputs.items():
        default = formula.defaults.get(name)
        candidates = [_one(spec, default, rng), default]
        if spec.is_number:
            candidates += [rng.choice(SMALL), rng.choice(SMALL)]
        value = rng.choice(candidates)
        if rng.random() < 0.5 and is_within_bounds(formula, name, value):
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


def boundary_inputs(formula: Formula, start: Inputs) -> Iterator[Inputs]:
    """Each input in turn at its bounds and at its default, the others as they are.

    Every word of every choice.
    """
    base = {**formula.defaults, **start}
    yield base
    for name, spec in formula.inputs.items():
        edges: tuple[Any, ...] = spec.choices or (
            spec.least or 1e-3,
            min(spec.most, 1e15),
            2.0,
            3.0,
        )
        more = (formula.defaults[name],) if name in formula.defaults else ()
        for value in (
            *edges,
            *more,
            *((0.0,) if spec.none else ()),
            *((inf,) if more == (inf,) else ()),
        ):
            if fits(formula, {**base, name: value}):
                yield {**base, name: value}
