"""What a calculator is tested with that names no inputs of its own: those of its first example.

So a new calculator is tested on every face as soon as it is registered.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Container, Iterator

from flopbook.evaluation.calculator import resolved
from flopbook.formulas import formulas, get_formula, printed
from flopbook.hardware.chip import chip
from tests.support.generated_inputs import Inputs, boundary_inputs, random_inputs


def others(known: Container[str], printed_only: bool = True) -> list[str]:
    """The calculators that are not among these; those in ordinary Python only if asked for."""
    calculators = printed() if printed_only else formulas()
    return [name for name in calculators if name not in known]


def inputs(name: str, number: int = 0) -> Inputs:
    """The inputs of an example, the first if no other is asked for, in SI units."""
    example = get_formula(name).examples[number]
    options = {key.replace("-", "_"): value for key, value in example.items()}
    return {key: item.value for key, item in resolved(name, **options).items()}


def words(name: str) -> list[str]:
    """The first example as words of a command line."""
    return [word for key, value in state(name).items() for word in (f"--{key}", value)]


def state(name: str) -> dict[str, str]:
    """The first example as a form has it: a picker knows a chip by its id alone."""
    return {
        key: chip(value).id if key == "chip" else value
        for key, value in get_formula(name).examples[0].items()
    }


def units(name: str) -> dict[str, str]:
    """The outputs that an answer must have, with their units."""
    return {key: spec.unit for key, spec in get_formula(name).outputs.items()}


def generator(name: str) -> Callable[[random.Random], Inputs]:
    """Random inputs near the example."""
    start = functools.cache(lambda: inputs(name))  # looked up in data once, not for every draw
    return lambda rng: random_inputs(get_formula(name), rng, start())


def edges(name: str) -> Callable[[], Iterator[Inputs]]:
    """The example with each input at its bounds."""
    return lambda: boundary_inputs(get_formula(name), inputs(name))
