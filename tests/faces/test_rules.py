"""Rules between inputs: written once, the same in Python, on arrays and in JavaScript."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Iterator
from string import Formatter
from typing import Any

import numpy as np
import pytest

from flopbook.errors import FlopbookError
from flopbook.faces.javascript import javascript_rules, module, rules_name, rules_on_page
from flopbook.faces.tree import FormulaSubsetError, statement_steps
from flopbook.formulas import formulas, get_formula, printed
from flopbook.formulas.conditions import Rule, chip_has_the_axes, kv_heads_are_shared, rule
from flopbook.formulas.declaration import Formula
from flopbook.formulas.pipeline import interleaved_rounds_are_full
from flopbook.formulas.statements import divisors_around, multiples_around
from flopbook.quantities.ops import inf
from scripts.attack.inputs import SMALL, Inputs, careless_inputs, is_within_bounds
from tests.support import byexample
from tests.support.cases import every

RULE_CALLS = 3000
WITH_RULES = [name for name, formula in printed().items() if rules_on_page(formula)]
# All tests of a calculator in turn, which share its cases.
with_rules = pytest.mark.parametrize("name", WITH_RULES, scope="module")


def starts(formula: Formula) -> list[Inputs]:
    """The inputs of every example, in SI units."""
    return [byexample.inputs(formula.id, number) for number in range(len(formula.examples))]


@functools.lru_cache(maxsize=1)
def careless(formula: Formula) -> list[Inputs]:
    """Random inputs in their bounds, valid or not, with what a form knows of a chip."""
    rng = random.Random(f"rules of {formula.id}")
    cases = starts(formula)
    drawn = [careless_inputs(formula, rng, rng.choice(cases)) for _ in range(RULE_CALLS)]
    return [inputs | of_chip(formula, rng) for inputs in drawn]


def of_chip(formula: Formula, rng: random.Random) -> Inputs:
    """Now and then a chip whose axes are known."""
    if chip_has_the_axes not in rules_on_page(formula) or rng.random() < 0.5:
        return {}
    return {"chip_axes": rng.choice((1.0, 2.0, 3.0)), "chip": "acme/one"}


def boundary(formula: Formula) -> Iterator[Inputs]:
    """Each input in turn at its bounds, at its default and at small numbers; every word."""
    for start in starts(formula):
        base = {**formula.defaults, **start}
        yield base
        for name, spec in formula.inputs.items():
            bounds = (spec.least, spec.most, inf, formula.defaults.get(name))
            for value in spec.choices or (*SMALL, *bounds):
                if is_within_bounds(formula, name, value):
                    yield {**base, name: value}


def first_message(formula: Formula, inputs: Inputs) -> str:
    """What Python says of inputs: the message of the first rule that they break, or nothing."""
    values = {"chip_axes": inf, "chip": "", **inputs}
    for each in rules_on_page(formula):
        try:
            each.check(values)
        except FlopbookError as error:
            return str(error)
    return ""


@pytest.mark.browser
@with_rules
def test_a_form_refuses_what_the_command_refuses_in_the_same_words(name: str, engine: Any) -> None:
    formula = get_formula(name)
    cases = [*careless(formula), *boundary(formula)]
    made = engine.run(module([formula]), [(rules_name(formula), inputs) for inputs in cases])
    for inputs, answer in zip(cases, made, strict=True):
        assert answer["message"] == first_message(formula, inputs), inputs


@pytest.mark.browser
def test_two_levels_have_no_sides_on_the_page_either(engine: Any) -> None:
    """The form once took the side of a torus beside two levels, which the command refuses."""
    formula = get_formula("collective")
    inputs = byexample.inputs("collective") | {
        "topology": "two-level",
        "side_x": 8.0,
        "chips": 512.0,
        "chips_per_node": 8.0,
        "scaleout_bandwidth": 5e10,
    }
    calls = [(rules_name(formula), {**formula.defaults, **inputs})]
    (answer,) = engine.run(module([formula]), calls)
    with pytest.raises(FlopbookError) as refused:
        formula(**inputs)
    assert answer["message"] == str(refused.value)
    assert "belong to a torus" in answer["message"]


@with_rules
def test_the_cases_above_keep_and_break_every_rule(name: str) -> None:
    """Else they would prove little."""
    formula = get_formula(name)
    cases = [{"chip_axes": inf, "chip": "", **inputs} for inputs in careless(formula)]
    for each in rules_on_page(formula):
        assert {each.is_kept(inputs) for inputs in cases} == {True, False}, each


@with_rules
def test_arrays_keep_a_rule_where_all_their_elements_do(name: str) -> None:
    """One wrong element among many is enough, and the message is of the first."""
    formula = get_formula(name)
    cases = [{"chip_axes": inf, "chip": "", **inputs} for inputs in careless(formula)[:300]]
    for each in formula.rules:
        used = [each.inputs[parameter] for parameter in each.parameters]
        words = [key for key in used if isinstance(cases[0][key], str)]
        alike = [case for case in cases if all(case[key] == cases[0][key] for key in words)][:20]
        stacked = {
            key: alike[0][key] if key in words else np.array([case[key] for case in alike])
            for key in used
        }
        broken = [case for case in alike if not each.is_kept(case)]
        assert each.is_kept(stacked) == (not broken)
        if broken:
            assert message_of(each, stacked) == message_of(each, broken[0])


def message_of(each: Rule, values: Inputs) -> str:
    with pytest.raises(FlopbookError) as refused:
        each.check(values)
    return str(refused.value)


def test_a_column_and_a_row_break_a_rule_at_one_place() -> None:
    values = {"heads": np.full((2, 1), 8.0), "kv_heads": np.array([1.0, 8.0, 16.0])}
    message = message_of(kv_heads_are_shared, values)
    assert message.startswith("--kv-heads 16 does not divide --heads 8:")


@every("formula", formulas().values())
def test_rules_name_inputs_and_show_whole_numbers_or_words(formula: Formula) -> None:
    """A number that is not whole would be written differently by the two languages."""
    for each in formula.rules:
        assert set(each.inputs.values()) <= set(formula.inputs), each
        for _, shown, suggestion, _ in Formatter().parse(each.message):
            numbers = [shown, (suggestion or "").partition(" of ")[2]]
            for parameter in filter(None, numbers):
                spec = formula.inputs[each.inputs[parameter]]
                assert spec.whole or spec.choices, (each, parameter)
        parameters = inspect.signature(each.function).parameters
        assert tuple(parameters) == each.parameters


def test_a_renamed_rule_names_the_other_option() -> None:
    renamed = interleaved_rounds_are_full.renamed(stages="pp")
    values = {"schedule": "interleaved", "microbatches": 9.0, "pp": 4.0}
    assert message_of(renamed, values).endswith("not 9 for --pp 4; use 8 or 12")
    assert renamed.is_kept(values | {"microbatches": inf})
    assert not interleaved_rounds_are_full.is_kept({**values, "stages": 4.0})


@pytest.mark.parametrize(
    ("value", "number", "text"),
    [(3, 64, "2 or 4"), (65, 64, "64"), (1.5, 7, "1 or 7"), (3, 1e9, "a divisor of 1000000000")],
)
def test_divisors_on_either_side(value: float, number: float, text: str) -> None:
    assert divisors_around(value, number) == text


@pytest.mark.parametrize(
    ("value", "number", "text"), [(9, 8, "8 or 16"), (5, 8, "8"), (17, 5, "15 or 20")]
)
def test_multiples_on_either_side(value: float, number: float, text: str) -> None:
    assert multiples_around(value, number) == text


def test_what_javascript_would_read_otherwise_is_escaped(throwaway: Any) -> None:
    formula = throwaway(lambda: {}, reads="1")._replace(rules=(quoting,))
    assert r"return `a \` and a \\ and a \${heads} of ${heads.toFixed(0)}`" in javascript_rules(
        formula
    )


@rule("a ` and a \\ and a ${{heads}} of {heads}")
def quoting(heads: float) -> bool:
    """Signs that end or open something in a template literal."""
    return heads > 1


@rule("uses `and`")
def joined(heads: float, tp: float) -> bool:
    """What fails on arrays."""
    return heads > 1 and tp > 1


@rule("calls what it likes")
def calling(heads: float) -> bool:
    """What JavaScript has not."""
    return bool(heads)


@rule("has no end")
def endless(heads: float) -> None:  # type: ignore[arg-type]  # what the test is about
    """No condition."""
    assert heads


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (joined, "BoolOp is outside the subset"),
        (calling, "may be called"),
        (endless, "end with `return expression`"),
    ],
)
def test_what_the_subset_lacks_is_refused(wrong: Rule, message: str) -> None:
    with pytest.raises(FormulaSubsetError, match=message) as refused:
        statement_steps(wrong)
    assert "test_rules.py:" in str(refused.value)
