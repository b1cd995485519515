"""A formula in a special case is the formula.

Its expressions give what the formula gives, and print in short.
"""

from __future__ import annotations

import ast
import functools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.faces.special_cases import folded, inputs_of, special
from flopbook.formulas import get_formula
from flopbook.quantities import ops
from scripts.website.pages.equations import SECTIONS, Shown

SHOWN = [shown for section in SECTIONS.values() for shown in section]
NAMES = {
    "minimum": min,
    "maximum": max,
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "inf": math.inf,
    "where": ops.where,
}


@functools.cache
def _written_out(number: int) -> dict[str, Any]:
    """The expressions of a case as code, once for all inputs: that can take most of a second."""
    shown = SHOWN[number]
    expressions = folded(get_formula(shown.calculator), shown.given, shown.inline)
    return {
        name: compile(ast.fix_missing_locations(ast.Expression(tree)), "special", "eval")
        for name, tree in expressions.items()
    }


def value(code: Any, known: dict[str, Any]) -> float:
    """What an expression of the subset gives."""
    return float(eval(code, {"__builtins__": {}}, {**NAMES, **known}))


@pytest.mark.parametrize(
    "shown", SHOWN, ids=lambda shown: f"{shown.calculator}-{next(iter(shown.names))}"
)
@settings(max_examples=25)
@given(data=st.data())
def test_a_special_case_computes_what_the_formula_computes(
    shown: Shown, data: st.DataObject
) -> None:
    """All outputs of the sheet, for random inputs, equal those of the whole formula.

    The case is put into the whole formula as well.
    """
    formula = get_formula(shown.calculator)
    inputs: dict[str, Any] = {}
    for name, spec in formula.inputs.items():
        if spec.choices:
            inputs[name] = shown.given.get(name, formula.defaults.get(name, spec.choices[0]))
        else:
            inputs[name] = shown.given.get(name, float(data.draw(st.integers(2, 9), label=name)))
    for name in ("acceptance", "memory_share", "mfu", "load"):
        if name in inputs:
            inputs[name] = data.draw(st.floats(0.1, 0.9), label=name)
    expected = formula.compute(inputs)
    known = dict(inputs)
    for name, code in _written_out(SHOWN.index(shown)).items():
        try:
            known[name] = value(code, known)
        except (NameError, TypeError, ValueError, ZeroDivisionError, AttributeError):
            continue  # words, and steps that only another case takes
    for name in shown.names:
        if name in expected and math.isfinite(expected[name]) and expected[name] > 0:
            assert known[name] == pytest.approx(expected[name], rel=1e-9), name


def one(calculator: str, name: str, inline: tuple[str, ...] = (), **given: Any) -> str:
    return special(get_formula(calculator), [name], given, inline)[name]


def test_choices_that_are_decided_vanish() -> None:
    """A gated block has three matrices; the rule of six is one product.

    A ring both ways halves the time.
    """
    assert (
        one("ep-limit", "least_width", ("matrices", "least_bytes"), ffn_kind="gated")
        == r"F_\text{min} = \frac{b \, C}{3 \, W}"
    )
    assert one("training-flops", "flop", ("flop_per_token",)) == r"W = 6 \, N \, T"
    assert one("min-batch", "tokens") == r"B_\text{min} = \frac{b \, R}{2}"


def test_what_is_not_decided_stays() -> None:
    """Without a word for the block, both cases are printed."""
    assert r"\begin{cases}" in one("ep-limit", "matrices")
    assert r"\begin{cases}" not in one("ep-limit", "matrices", ffn_kind="plain")


def test_steps_are_written_out_only_when_asked() -> None:
    assert one("training-time", "seconds") == r"t = \frac{t_0}{G}"
    steps = ("work", "flop", "rate", "busy")
    written = one("training-time", "seconds", steps, counts="mfu")
    assert written == r"t = \frac{6 \, N \, T + \alpha_c}{X \, \pi \, u \, G}"


@pytest.mark.parametrize(
    "shown", SHOWN, ids=lambda shown: f"{shown.calculator}-{next(iter(shown.names))}"
)
def test_equations_of_the_sheet_are_short_and_have_symbols(shown: Shown) -> None:
    """No case is left open, no name of the code is printed, and each has a left side of its own."""
    made = special(get_formula(shown.calculator), shown.names, shown.given, shown.inline)
    assert list(made) == list(shown.names)
    for equation in made.values():
        left, _, right = equation.partition(" = ")
        assert left != right and r"\begin{cases}" not in equation and "_seconds" not in equation
        assert r"\infty" not in equation and len(equation) < 130, equation


def test_the_letters_of_an_expression_are_inputs() -> None:
    """Steps do not count, they have an equation or are written out."""
    formula = get_formula("max-params")
    assert inputs_of(formula, folded(formula, {})["params"]) == (
        "memory",
        "bytes_per_param",
        "chips",
    )
    assert inputs_of(formula, ast.Constant(1)) == ()


def test_ordinary_python_has_no_special_case() -> None:
    """A calculator with loops is not printed, and not printed by half."""
    with pytest.raises(FlopbookError):
        special(get_formula("shard"), ["devices"], {})


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        special(get_formula("ridge-point"), ["no_such_output"], {})
