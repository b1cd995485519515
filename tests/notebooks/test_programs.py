"""Formulas that are ordinary Python.

Free text in, one case at a time, steps in words, no face from a syntax tree.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest

from flopbook.cli.calculators import command
from flopbook.cli.explain import explanation
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import answer, example
from flopbook.evaluation.calculator import Result, Value
from flopbook.export.records import calculator_record
from flopbook.formulas import declaration as registry
from flopbook.formulas import formulas, printed
from flopbook.formulas.declaration import Formula, Input, Output, formula
from flopbook.formulas.input_bounds import LONGEST_TEXT

Words = Annotated[str, Input("1", r"\text{words}", "words, each counted", text="WORDS")]
Rate = Annotated[float, Input("1/s", "r", "words a second")]


def count_words(words: Words, rate: Rate = 2.0) -> dict[str, Any]:
    """Time to say some words.

    Leaves out:
        Pauses.
    """
    found = words.split()
    return {
        "longest": tuple(w for w in found if len(w) == max(map(len, found))),
        "seconds": len(found) / rate,
    }


def in_words(words: str, rate: float) -> list[str]:
    return [f"{len(words.split())} words at {rate:g} a second"]


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Formula:
    """A calculator that loops over words, registered for one test."""
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    outputs = {
        "longest": Output("1", "w", "the longest words"),
        "seconds": Output("s", "T", "time"),
    }
    examples = ({"words": "one two *", "rate": "2"},)
    extra: dict[str, Any] = {"sources": (), "examples": examples, "working": in_words}
    return formula("count-words", title="Count", question="How long?", outputs=outputs, **extra)(
        count_words
    )


def result(made: Formula, words: str) -> Result:
    return Result(
        made, {"words": Value(words, ""), "rate": Value(2.0, "1/s", "default")}, made(words=words)
    )


def test_what_loops_has_no_printed_faces(counting: Formula) -> None:
    assert not counting.printed and counting(words="one two three")["seconds"] == 1.5
    record = calculator_record(counting)
    assert (
        record["latex"] == []
        and record["javascript"] is None
        and record["inputs"]["words"]["required"]
    )


def test_every_calculator_is_printed_or_told_in_words() -> None:
    assert set(printed()) == {name for name, found in formulas().items() if found.working is None}


def test_an_input_is_a_number_a_word_or_free_text() -> None:
    assert (
        Input("s", "t", "time").is_number and not Input("1", "w", "word", choices=("a",)).is_number
    )
    assert not Input("1", "w", "text", text="WORDS").is_number


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3.0, "words is '3.0', expected a text"),
        (None, "expected a text"),
        (["a"], "expected a text"),
        ("x" * (LONGEST_TEXT + 1), "words has 2,001 characters, at most 2,000 are read"),
    ],
)
def test_free_text_is_a_text_of_plausible_length(
    counting: Formula, value: Any, message: str
) -> None:
    with pytest.raises(FlopbookError, match=message):
        counting(words=value)


def test_arrays_are_refused_where_one_case_is_computed(counting: Formula) -> None:
    with pytest.raises(
        FlopbookError, match="rate is an array; count-words takes one case at a time"
    ):
        counting(words="one", rate=np.array([1.0, 2.0]))


def test_several_results_are_a_list_in_json_and_a_line_in_text(counting: Formula) -> None:
    made = result(counting, "one two three seven")
    record = made.as_json()
    assert record["outputs"]["longest"] == {"value": ["three", "seven"], "unit": "1"}
    assert record["inputs"]["words"] == {"value": "one two three seven", "unit": None}
    assert answer(made).splitlines()[0].split("  ")[:2] == ["longest", "three; seven"]


def test_none_of_several_is_said(counting: Formula) -> None:
    made = Result(counting, {}, {"longest": ()})
    assert "longest  none" in answer(made) and made.as_json()["outputs"]["longest"]["value"] == []


def test_the_working_is_in_words_and_ends_in_the_answers(counting: Formula) -> None:
    text = explanation(result(counting, "one two"))
    steps = text.partition("\nSteps\n")[2].partition("\n\n")[0].splitlines()
    assert steps == ["  2 words at 2 a second", "  longest = one; two", "  seconds = 1 s"]
    assert text.rstrip().endswith("Sources") and "  - Pauses." in text


def test_the_help_names_free_text_by_its_word(counting: Formula) -> None:
    (option,) = [o for o in command(counting).options if o.name == "words"]
    assert (option.flag, option.metavar) == ("--words", "WORDS")


def test_examples_are_quoted_for_a_shell(counting: Formula) -> None:
    assert example(counting) == "flopbook count-words --words 'one two *' --rate 2"
