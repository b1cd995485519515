"""Answers that cannot be: no calculator gives a negative amount, a share above one or no number."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import resolved
from flopbook.formulas import formulas, get_formula
from tests.support.generated_inputs import Inputs, careless_inputs

TRIES = 60
# What is left of a memory may be less than nothing: that says by how much it is too small.
SIGNED = ("free",)
SHARES = ("mfu", "hfu", "efficiency", "useful_share", "fraction")
# Not mended yet: shared layers that are more than the full ones, where every layer has a window.
# The fit of 2020 gives no loss for a budget, which it says by an infinite one.
KNOWN = {("scaling-law", "inf")}


def start_of(name: str) -> Inputs:
    """The inputs of the first example."""
    options = {key.replace("-", "_"): value for key, value in get_formula(name).examples[0].items()}
    return {key: value.value for key, value in resolved(name, **options).items()}


def faults(outputs: dict[str, Any], *, finite: bool) -> Iterator[str]:
    """What cannot be; an open answer is no number, and a limit may be infinite by default."""
    for name, value in outputs.items():
        if isinstance(value, (str, tuple)) or value is None or not finite:
            continue
        if math.isnan(value) or math.isinf(value):
            yield f"{value}"
        elif value < 0 and name not in SIGNED:
            yield "negative"
        elif value > 1 + 1e-9 and name in SHARES:
            yield "above one"
    if outputs.get("hfu_over_mfu", 1) < 1 - 1e-12:
        yield "HFU below MFU"


@pytest.mark.parametrize("name", [one.id for one in formulas().values() if one.printed])
def test_no_answer_is_impossible(name: str) -> None:
    formula, start = get_formula(name), start_of(name)
    rng = random.Random(name)
    for _ in range(TRIES):
        given = careless_inputs(formula, rng, start)
        finite = not any(value == math.inf for value in given.values())
        try:
            found = set(faults(formula(**given), finite=finite))
        except FlopbookError:
            continue
        assert not {fault for fault in found if (name, fault) not in KNOWN}, given
