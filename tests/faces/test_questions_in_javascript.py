"""The questions from the command line have the same answers in JavaScript as in Python."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.evaluation.calculator import resolved
from flopbook.evaluation.fit import BATCH, BATCH_FITS, SERVING, largest_batch, names_batch
from flopbook.faces.javascript import function_name, javascript_output, module
from flopbook.formulas import get_formula, printed
from flopbook.quantities.ops import inf
from tests.evaluation.questions.asked import QUESTIONS

pytestmark = pytest.mark.browser

NEAR = 1e-12  # the two libraries round the last bits of a power in their own way


def test_all_questions_have_one_answer(engine: Any) -> None:
    """One module with all formulas, as the page loads it, and every question put to it."""
    formulas = printed()
    calls = [
        (
            formulas[one.calculator],
            {name: used.value for name, used in resolved(one.calculator, **one.options).items()},
        )
        for one in QUESTIONS
        if one.calculator in formulas
    ]
    there = engine.run(
        module(list(formulas.values())), [(function_name(f), given) for f, given in calls]
    )
    for (formula, given), answer in zip(calls, there, strict=True):
        here = formula(**given)
        assert answer == {name: _near(value) for name, value in here.items()}, (formula.id, given)


def test_the_largest_batch_is_the_same_in_the_form(engine: Any) -> None:
    """One output of serving, with the steps that it needs and no others, for each question."""
    source = javascript_output(get_formula(SERVING), BATCH_FITS, "largest")
    assert "likely" not in source
    asked = [
        (formula, {name: used.value for name, used in values.items() if used.value is not None})
        for one in QUESTIONS
        if (formula := printed().get(one.calculator)) and names_batch(formula)
        for values in [resolved(one.calculator, **one.options)]
    ]
    known = [(formula, given) for formula, given in asked if given.get("memory", inf) < inf]
    assert len({formula.id for formula, _ in known}) == 3
    calls = [("largest", {**given, BATCH: inf}) for _, given in known]
    for (formula, given), answer in zip(known, engine.run(source, calls), strict=True):
        assert answer == {BATCH_FITS: largest_batch(formula, given)}, (formula.id, given)


def _near(value: Any) -> Any:
    return value if isinstance(value, str) else pytest.approx(float(value), rel=NEAR, nan_ok=True)
