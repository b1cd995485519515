"""A number of chips in place of the data-parallel degree: what the other degrees leave of it."""

from __future__ import annotations

import math

from flopbook.errors import FlopbookError
from flopbook.evaluation.request import CHIPS, Request, divides_chips, flag, read_input
from flopbook.formulas.declaration import Input
from flopbook.formulas.input_bounds import check_input

CHIPS_INPUT = Input(
    "chip",
    "X",
    "number of chips (default: product of the degrees)",
    least=1,
    whole=True,
    most=1e9,
)


def degree_left(name: str, request: Request) -> float | None:
    """The degree that the others leave of --chips; None for any other input.

    Raises FlopbookError where both were given, or the others do not divide the chips.
    """
    formula = request.formula
    if not divides_chips(formula) or name != formula.divides[0] or CHIPS not in request.options:
        return None
    if name in request.options:
        raise FlopbookError(f"give {flag(CHIPS)} or {flag(name)}, not both")
    chips = read_input(CHIPS, CHIPS_INPUT, request.options[CHIPS])
    check_input(flag(CHIPS), CHIPS_INPUT, chips)
    degrees = {
        degree_name: read_input(
            degree_name, formula.inputs[degree_name], request.options[degree_name]
        )
        for degree_name in formula.divides[1:]
        if degree_name in request.options
    }
    for degree_name, degree in degrees.items():
        check_input(flag(degree_name), formula.inputs[degree_name], degree)
    group = math.prod(degrees.values())
    if chips % group:
        product = " x ".join(
            f"{flag(degree_name)} {degree:.0f}" for degree_name, degree in degrees.items()
        )
        raise FlopbookError(
            f"{flag(CHIPS)} {chips:,.0f} does not divide into groups of {group:,.0f} ({product}); "
            f"use {_nearest(chips, group)}"
        )
    return float(chips / group)


def _nearest(chips: float, group: float) -> str:
    """The numbers of chips on either side that whole groups make."""
    below = chips // group * group
    above = f"{below + group:,.0f}"
    return f"{below:,.0f} or {above}" if below else above
