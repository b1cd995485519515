"""Questions from the command line, answered by a module that shares no code with the formulas."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import pytest

from flopbook.cli.app import run
from flopbook.formulas import SECTIONS
from tests.evaluation.questions.asked import QUESTIONS
from tests.evaluation.questions.question import Question

LEAST = 300
LEAST_OF_ONE = 8


def asked(question: Question) -> Any:
    """The question as a test; one with a known defect must fail until that is mended."""
    marks = [pytest.mark.xfail(strict=True, reason=question.defect)] if question.defect else []
    return pytest.param(question, id=question.command, marks=marks)


@pytest.mark.parametrize("question", [asked(one) for one in QUESTIONS])
def test_the_calculator_gives_the_answer(
    question: Question, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run([*question.words, "--json"])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    outputs = json.loads(printed.out)["outputs"]
    expected = question.expected()
    given = {name: outputs[name]["value"] for name in expected}
    assert given == {name: nearly(value, question.rel) for name, value in expected.items()}


def nearly(value: Any, rel: float) -> Any:
    """Numbers to within `rel`; words and open answers as they are."""
    if isinstance(value, (list, tuple)):
        return [nearly(one, rel) for one in value]
    if value is None or isinstance(value, str):
        return value
    return pytest.approx(value, rel=rel, abs=1e-12) if math.isfinite(value) else None


def test_every_calculator_is_asked() -> None:
    """Three hundred questions or more, and several on each calculator."""
    counts = Counter(question.calculator for question in QUESTIONS)
    every = {name for names in SECTIONS.values() for name in names}
    assert len(QUESTIONS) >= LEAST
    assert {name for name in every if counts[name] < LEAST_OF_ONE} == set()


def test_no_question_is_asked_twice() -> None:
    commands = [question.command for question in QUESTIONS]
    assert len(commands) == len(set(commands))
