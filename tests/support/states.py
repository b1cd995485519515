"""Random states of every calculator, as options: from its examples, changed within its rules."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import Result, calculate, resolved
from flopbook.formulas.declaration import Formula
from tests.support.generated_inputs import random_inputs

Options = dict[str, Any]
# A random state for each: hypothesis counts down to the smallest seed that fails.
SEEDS = st.integers(min_value=0, max_value=2**32)
FEW = settings(max_examples=6)  # for each of all calculators


def example(formula: Formula, number: int = 0) -> Options:
    """The options of an example, as Python parameters."""
    return {key.replace("-", "_"): value for key, value in formula.examples[number].items()}


def states(formula: Formula, rng: random.Random, count: int) -> Iterator[tuple[Options, Result]]:
    """Random options with their answer.

    What is as by default is left out, so what is open stays open.
    """
    for _ in range(count):
        options = example(formula, rng.randrange(len(formula.examples)))
        values = {name: item.value for name, item in resolved(formula.id, **options).items()}
        found = random_inputs(formula, rng, values)
        given = {
            name: value for name, value in found.items() if formula.defaults.get(name) != value
        }
        try:
            yield given, calculate(formula.id, **given)
        except FlopbookError:  # what only an input that was left out made valid
            continue


def is_amount(value: Any) -> bool:
    """A finite number that is no word."""
    return isinstance(value, float) and math.isfinite(value)
