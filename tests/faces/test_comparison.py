"""What compares the two languages: inputs that keep the rules, values that cross unchanged."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from flopbook.errors import FlopbookError
from flopbook.formulas import get_formula, printed
from flopbook.formulas.declaration import Formula
from scripts.attack.inputs import Inputs, one_input
from tests.support import byexample
from tests.support.cases import every
from tests.support.generated_inputs import _fits_still, boundary_inputs, fits, random_inputs

# JavaScript that says what came in: numbers come back as they are, words as words.
_ECHO = """export function echo(inputs) { return inputs; }
export function refuse(inputs) { return `no ${inputs.word}`; }
export function nothing(inputs) { return {}; }
export function kinds(inputs) {
  return Object.fromEntries(Object.entries(inputs).map(([key, value]) => [key, typeof value]));
}"""
_NUMBERS = (0.0, -0.0, 1.0, 0.1, 5e-324, 1.7976931348623157e308, math.pi, -2.5, math.inf, 2.0**53)


def _starts(formula: Formula) -> list[Inputs]:
    """The inputs of all examples of a calculator, open inputs at their defaults."""
    numbers = range(len(formula.examples))
    return [{**formula.defaults, **byexample.inputs(formula.id, number)} for number in numbers]


@every("name", [name for name, one in printed().items() if one.rules])
def test_only_the_rules_of_a_changed_input_decide(name: str) -> None:
    """Whatever is changed, these refuse exactly what the whole formula refuses."""
    formula, rng = get_formula(name), random.Random(f"rules of {name}")
    for start in _starts(formula):
        if not fits(formula, start):
            continue
        for key, spec in formula.inputs.items():
            value = one_input(spec, formula.defaults.get(key), rng)
            changed = {**start, key: value}
            assert _fits_still(formula, changed, key) == fits(formula, changed), (key, value)


@every("name", list(printed()))
def test_random_inputs_keep_the_rules_and_differ(name: str) -> None:
    """Inputs that a formula refuses would compare nothing; the same chance draws the same."""
    formula, draw = get_formula(name), byexample.generator(name)
    drawn = [draw(random.Random(seed)) for seed in range(8)]
    assert all(fits(formula, given) for given in drawn)
    assert [draw(random.Random(seed)) for seed in range(8)] == drawn
    assert len({repr(given) for given in drawn}) > 1
    assert all(set(given) == set(formula.inputs) for given in drawn)


def test_an_example_is_not_changed_by_what_is_drawn_from_it() -> None:
    draw, before = byexample.generator("min-batch"), byexample.inputs("min-batch")
    first = draw(random.Random(1))
    first.clear()
    assert draw(random.Random(1)) and byexample.inputs("min-batch") == before


def test_inputs_that_cannot_be_found_are_an_error() -> None:
    """Rather than a comparison of nothing."""
    formula = get_formula("memory")
    with pytest.raises((AssertionError, FlopbookError)):
        for seed in range(400):
            random_inputs(formula, random.Random(seed))


@every("name", list(printed()))
def test_boundaries_begin_with_the_example_and_change_one_input(name: str) -> None:
    formula, start = get_formula(name), byexample.inputs(name)
    base, *changed = boundary_inputs(formula, start)
    assert base == {**formula.defaults, **start}
    for given in changed:
        assert sum(given[key] != base[key] for key in base) <= 1


@pytest.mark.browser
def test_numbers_cross_to_the_last_bit(engine: Any) -> None:
    """Minus zero, infinity, the smallest and the largest double, there and back."""
    calls = [("echo", {"value": number, "again": number}) for number in _NUMBERS]
    for number, answer in zip(_NUMBERS, engine.run(_ECHO, calls), strict=True):
        assert list(answer) == ["value", "again"]
        assert [one.hex() for one in answer.values()] == [number.hex()] * 2


@pytest.mark.browser
def test_words_messages_and_empty_answers_cross(engine: Any) -> None:
    """A word that reads like a number stays a word."""
    calls = [
        ("echo", {"word": "bf16", "digits": "12"}),
        ("refuse", {"word": "more"}),
        ("nothing", {"word": "x"}),
        ("kinds", {"word": "x", "open": math.inf, "number": 1.5}),
        ("nothing", {}),
    ]
    assert engine.run(_ECHO, calls) == [
        {"word": "bf16", "digits": "12"},
        {"message": "no more"},
        {},
        {"word": "string", "open": "number", "number": "number"},
        {},
    ]


@pytest.mark.browser
def test_calls_with_other_names_keep_their_order(engine: Any) -> None:
    """Each answer is that of its call, whichever inputs the calls before it have."""
    given = [{"a": 1.0}, {"b": 2.0, "a": 3.0}, {"a": 4.0}, {"a": 5.0, "b": 6.0}, {"b": 7.0}]
    assert engine.run(_ECHO, [("echo", one) for one in given]) == given
    assert engine.run(_ECHO, []) == []
