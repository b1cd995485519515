"""Each form asks three to five questions, which its calculator names; its help begins with them."""

from __future__ import annotations

import pytest

from flopbook.cli.calculators import command
from flopbook.evaluation.calculator import divides_chips, takes
from flopbook.formulas import formulas, get_formula
from scripts.website.pages.forms import form_record

# A compute budget and a fit are all that there is to ask.
FEWER = {"scaling-law": 2}


@pytest.mark.parametrize("name", formulas())
def test_a_calculator_names_its_questions(name: str) -> None:
    formula = get_formula(name)
    known = {*takes(formula), *divides_chips(formula), *formula.inputs}
    assert set(formula.asks) <= known and len(set(formula.asks)) == len(formula.asks)
    assert FEWER.get(name, 3) <= len(formula.asks) <= 5
    assert form_record(formula)["asks"] == list(formula.asks)


@pytest.mark.parametrize("name", formulas())
def test_what_must_be_given_is_asked_or_comes_from_what_is_asked(name: str) -> None:
    """With its questions answered, a form has an answer."""
    formula = get_formula(name)
    for one, spec in formula.inputs.items():
        lent = (spec.chip and "chip" in formula.asks) or (spec.model and "model" in formula.asks)
        dtype = spec.dtype and not spec.chip
        assert one in formula.asks or one in formula.defaults or lent or dtype, one


@pytest.mark.parametrize("name", formulas())
def test_the_help_begins_with_the_questions(name: str) -> None:
    formula = get_formula(name)
    options = [option.name for option in command(formula).options]
    assert tuple(options[: len(formula.asks)]) == formula.asks
    assert len(options) == len(set(options))
