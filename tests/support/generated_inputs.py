"""Random and boundary inputs of any formula, made from the bounds of its inputs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Formula
from flopbook.formulas.input_bounds import check_input
from flopbook.quantities.ops import inf
from scripts.attack.inputs import Inputs, one_input

TRIES = 400


def shared_heads(given: Inputs, rng: random.Random) -> Inputs:
    """KV heads that do not divide the attention heads, drawn anew as one of their divisors.

    Those that divide stay as they are, and so do those that are open or none of their own.
    """
    heads = int(given.get("heads", 1))
    divisors = [float(n) for n in range(1, heads + 1) if heads % n == 0]
    return {
        name: rng.choice(divisors)
        for name in ("kv_heads", "window_kv_heads")
        if 0 < given.get(name, inf) < inf and heads % given[name] != 0
    }


def fits(formula: Formula, given: Inputs) -> bool:
    """True when a formula takes these inputs: its rules hold."""
    try:
        formula(**given)
    except FlopbookError:
        return False
    return True


def _fits_still(formula: Formula, given: Inputs, changed: str) -> bool:
    """As `fits`, for inputs that fitted before one of them was changed.

    Nothing is computed, and only the rules that know this input are asked.
    """
    if not formula.printed:  # ordinary Python may refuse while it computes
        return fits(formula, given)
    value, defaults = given[changed], formula.defaults
    try:
        is_default = changed in defaults and value is defaults[changed]
        check_input(changed, formula.inputs[changed], value, is_default)
    except FlopbookError:
        return False
    asked = (rule for rule in formula.rules if changed in rule.inputs.values())
    return all(rule.is_kept(given) for rule in asked)


def random_inputs(formula: Formula, rng: random.Random, start: Inputs | None = None) -> Inputs:
    """Random values for every input that keep the rules of a formula.

    With `start`, values are changed one after the other from there, and a change against the rules
    is taken back.
    """
    if start is None:
        for _ in range(TRIES):
            given = {
                name: one_input(spec, formula.defaults.get(name), rng)
                for name, spec in formula.inputs.items()
            }
            if fits(formula, given):
                return given
        raise AssertionError(f"no random inputs of {formula.id} keep its rules; give a start")
    given = {**formula.defaults, **start}
    for name, spec in formula.inputs.items():
        changed = {**given, name: one_input(spec, formula.defaults.get(name), rng)}
        given = changed if rng.random() < 0.7 and _fits_still(formula, changed, name) else given
    return given


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
