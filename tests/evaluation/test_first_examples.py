"""The first example of a calculator is what its form opens with.

It must survive another choice of chip or model.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.data.library import entry_ids, model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate, takes
from flopbook.formulas import formulas, get_formula

# What another chip or model may lack. All else is a rule that the rest of the example breaks.
LACKS = ("published", "recorded", "does not exist", "no dense", "not a chip", "without experts")
# True of small models and eight chips.
UNEVEN = ("--tp 8 ", "--chips 8 does not give every replica a TP degree that divides")


def _first(name: str) -> dict[str, Any]:
    return {key.replace("-", "_"): value for key, value in get_formula(name).examples[0].items()}


@pytest.mark.parametrize(
    "name", [name for name, formula in formulas().items() if "model" in takes(formula)]
)
def test_the_first_example_answers_for_every_model(name: str) -> None:
    problems = {}
    for model in model_ids():
        try:
            calculate(name, **{**_first(name), "model": model})
        except FlopbookError as error:
            if not any(word in str(error) for word in (*LACKS, *UNEVEN)):
                problems[model] = str(error)
    assert problems == {}


@pytest.mark.parametrize(
    "name", [name for name, formula in formulas().items() if "chip" in takes(formula)]
)
def test_the_first_example_answers_for_every_chip(name: str) -> None:
    problems = {}
    for chip in entry_ids():
        try:
            calculate(name, **{**_first(name), "chip": chip})
        except FlopbookError as error:
            if not any(word in str(error) for word in LACKS):
                problems[chip] = str(error)
    assert problems == {}


@pytest.mark.parametrize("name", formulas())
def test_the_first_example_gives_nothing_that_its_chip_or_model_supplies(name: str) -> None:
    """Else the form keeps the value of the old chip when another is picked, in silence."""
    formula, example = get_formula(name), _first(name)
    supplied = {
        one
        for one, spec in formula.inputs.items()
        if (spec.chip and "chip" in example) or (spec.model and "model" in example)
    }
    assert supplied & set(example) == set()


@pytest.mark.parametrize("name", formulas())
def test_symbols_have_no_dollar_sign(name: str) -> None:
    """On a page it would end the mathematics in which the symbol stands."""
    formula = get_formula(name)
    symbols = [spec.symbol for spec in (*formula.inputs.values(), *formula.outputs.values())]
    assert not [symbol for symbol in symbols if "$" in symbol]
