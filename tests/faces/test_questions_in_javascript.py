"""The questions from the command line have the same answers in JavaScript as in Python."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.evaluation.calculator import resolved
from flopbook.faces.javascript import function_name, module
from flopbook.formulas import printed
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


def _near(value: Any) -> Any:
    return value if isinstance(value, str) else pytest.approx(float(value), rel=NEAR, nan_ok=True)
