"""Answers that cannot be: a negative amount, no number, a share above one, HFU below MFU.

Each calculator gets 20,000 inputs within their bounds, from a few changes of its first example to
half of all values.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import resolved
from flopbook.formulas import formulas
from flopbook.formulas.declaration import Formula
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.inputs import Inputs, careless_inputs

NAME = "answers"
_INPUTS = 20_000
_LEAST_ANSWERED = 0.05  # of the inputs of a calculator, or what was tried says little of it
# How many of the inputs are changed: the more, the likelier a rule refuses them.
_CHANGED = (0.05, 0.15, 0.5)
# What is left of a memory may be less than nothing: that says by how much it is too small.
_SIGNED = ("free",)
_SHARES = ("mfu", "hfu", "efficiency", "useful_share", "fraction", "goodput", "wave_share", "lost")
# Without failures there is no end to the time between them.
_UNLIMITED = {("reliability", "mtbf"), ("reliability", "best_interval")}
_ROUNDING = 1e-9


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Every calculator in turn."""
    for formula in formulas().values():
        yield from _answers(formula, campaign)


def _answers(formula: Formula, campaign: Campaign) -> Iterator[Attempt]:
    # The chances of a calculator are its own: a new one changes those of no other.
    rng, start = random.Random(f"{campaign.rng.random()} {formula.id}"), start_of(formula)
    tries, answered = campaign.count(_INPUTS), 0
    for _ in range(tries):
        inputs = careless_inputs(formula, rng, start, share=rng.choice(_CHANGED))
        try:
            outputs = formula(**inputs)
        except FlopbookError:
            yield Attempt("refused")
            continue
        answered += 1
        fault = next(faults(formula, inputs, outputs), "")
        yield Attempt(f"{formula.id} of {inputs}" if fault else "", fault)
    is_enough = answered >= _LEAST_ANSWERED * tries
    yield Attempt(formula.id, "" if is_enough else f"answers {answered} of {tries} inputs")


def start_of(formula: Formula) -> Inputs:
    """The inputs of the first example."""
    options = {key.replace("-", "_"): value for key, value in formula.examples[0].items()}
    return {key: value.value for key, value in resolved(formula.id, **options).items()}


def faults(formula: Formula, given: Mapping[str, Any], outputs: Mapping[str, Any]) -> Iterator[str]:
    """What of an answer cannot be; an output that is left open is no number."""
    for name, value in outputs.items():
        declared = formula.outputs[name]
        if any(given[need] == formula.defaults.get(need) for need in declared.needs):
            continue
        may_be_infinite = declared.absent or (formula.id, name) in _UNLIMITED
        for number in numbers(value):
            if number == math.inf and may_be_infinite:
                continue
            if fault := _fault(name, number):
                yield f"{name} is {fault}"
    if outputs.get("hfu_over_mfu", 1) < 1 - _ROUNDING:
        yield "HFU is below MFU"


def numbers(value: Any) -> tuple[float, ...]:
    """The numbers of an output: one, several, or none of a text."""
    values = value if isinstance(value, tuple) else (value,)
    return tuple(one for one in values if isinstance(one, (int, float)))


def _fault(name: str, number: float) -> str:
    if not math.isfinite(number):
        return str(number)
    if number < 0 and name not in _SIGNED:
        return f"negative: {number}"
    if number > 1 + _ROUNDING and name in _SHARES:
        return f"a share of {number}"
    return ""
