"""Every argument of every part, omission and rule changes what it gives, in some case or other.

An argument that never does is either not needed, or a comparison beside it stands the wrong way
round, so that what was given is never looked at.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from flopbook.formulas import get_formula, printed
from flopbook.formulas.conditions import always
from flopbook.formulas.declaration import Formula
from flopbook.quantities.ops import inf
from tests.formulas.test_least_sizes import contexts
from tests.support.generated_inputs import Inputs, fits, random_inputs

DRAWS = 4
TRIES = 80  # with other values beside an argument
# Arguments that change nothing, and why they are there.
SHOWN = "read by a rule, a note or another part, for which it declares the input"
WITHOUT_EFFECT = {
    ("causal_terms", "heads"): SHOWN,
    ("causal_terms", "layers"): SHOWN,
    ("failure_rate", "chips"): SHOWN,
    ("fit", "published"): SHOWN,
    ("fit", "published_share"): SHOWN,
    ("fit", "published_beside"): SHOWN,
    ("network_rate", "chips"): SHOWN,
    ("network_rate", "topology"): SHOWN,
}
# Only where a few numbers divide each other in one way: tests/formulas/test_fitting_chips.py.
BY_CHANCE = {("no_such_degree", "kv_heads"), ("no_such_degree", "kv_lora_rank")}


def others(formula: Formula, name: str, value: Any) -> list[Any]:
    """Other values for an argument: other words, or numbers beside, below and far above."""
    spec = formula.inputs.get(name)
    if isinstance(value, str):
        return [word for word in (spec.choices if spec else ()) if word != value]
    near = [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 12.0, 64.0, 1e4, 1e9, 31e9, 1e15, inf]
    around = [] if value == inf else [2 * value, value / 2, 1.05 * value]
    return [number for number in (*around, *near) if number != value]


def steps(formula: Formula, values: Inputs) -> Inputs:
    """All that is known when the last part has run."""
    known = dict(values)
    for part in formula.parts:
        known |= part(**{name: known[name] for name in inspect.signature(part).parameters})
    return known


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal, group by group."""
    if isinstance(one, dict):
        return all(same(one[name], other[name]) for name in one)
    return always(one == other) or (one != one and other != other)


def result(function: Callable[..., Any], given: Inputs) -> Any:
    """What a function gives; None for numbers that the rules keep from it."""
    try:
        return function(**given)
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return None


def counts(
    formula: Formula, function: Callable[..., Any], known: Inputs, name: str, rng: random.Random
) -> bool:
    """Whether a change of an argument changes a result, whatever the other arguments are."""
    given = {one: known[one] for one in inspect.signature(function).parameters}
    for number in range(TRIES):
        # First as it is, then with more and more of the other arguments changed, too.
        beside = {
            one: rng.choice(others(formula, one, value) or [value])
            for one, value in given.items()
            if rng.random() < number / TRIES
        }
        tried = {**given, **beside}
        base = result(function, tried)
        for other in others(formula, name, tried[name]):
            changed = result(function, {**tried, name: other})
            if base is not None and changed is not None and not same(base, changed):
                return True
    return False


def cases(formula: Formula) -> Iterator[Inputs]:
    """Examples, models, layouts, and random inputs near the examples, those that are allowed."""
    rng = random.Random(f"arguments of {formula.id}")
    near = [
        {name: value for name, value in context.items() if name in formula.inputs}
        for context in contexts(formula)
    ]
    drawn = (random_inputs(formula, rng, rng.choice(near)) for _ in range(DRAWS))
    yield from (given for given in (*near, *drawn) if fits(formula, given))


def functions_of(formula: Formula) -> dict[str, Callable[..., Any]]:
    """Parts and omissions by their names."""
    named = {part.__name__: part for part in formula.parts}
    return named | {one.function.__name__: one.function for one in formula.omissions}


def test_each_argument_counts() -> None:
    """Of all parts and omissions; one that several calculators share counts where it counts."""
    idle: set[tuple[str, str]] = set()
    effective: set[tuple[str, str]] = set()
    rng = random.Random("arguments beside")
    for formula in map(get_formula, printed()):
        for values in cases(formula):
            given = {**formula.defaults, **values}
            known = {**given, **steps(formula, given), **formula(**given)}
            for name, function in functions_of(formula).items():
                for argument in inspect.signature(function).parameters:
                    pair = (name, argument)
                    if pair in effective:
                        continue
                    with np.errstate(all="ignore"):
                        is_effective = counts(formula, function, known, argument, rng)
                    (effective if is_effective else idle).add(pair)
    assert sorted(idle - effective - BY_CHANCE) == sorted(WITHOUT_EFFECT)
