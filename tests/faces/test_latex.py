"""A formula as LaTeX: the right symbols, the right brackets, nothing of the machinery."""

import re
from typing import Annotated, Any

import pytest

from flopbook.faces.latex import latex, symbols
from flopbook.formulas import get_formula, printed
from flopbook.formulas.declaration import Constant, Input
from flopbook.quantities.ops import ceil, floor, inf, maximum, minimum, sqrt, where

A = Annotated[float, Input("1", "a", "a number")]
B = Annotated[float, Input("1", "b", "a number")]
C = Annotated[float, Input("1", "c", "a number")]
HUGE = Constant(8.64e19, "1", "a large number")
SMALL = Constant(0.5, "1", "a half")


@pytest.mark.parametrize("name", printed())
def test_every_equation_is_balanced_and_named(name: str) -> None:
    """Braces, \\left and \\right and environments close; each output has its equation."""
    formula = get_formula(name)
    lines = latex(formula)
    for line in lines:
        assert line.count("{") == line.count("}")
        assert line.count(r"\left") == line.count(r"\right") and line.count(
            r"\begin"
        ) == line.count(r"\end")
        assert not re.search(r"\d\.\d+e|None|nan|\*|_[a-z]+_", line)
        assert not re.search(r"(?<![\d._])0 \\(times|,)", line), (
            "nothing times something is nothing"
        )
    left = [line.partition(" = ")[0] for line in lines]
    assert len(set(left)) == len(left)
    assert {spec.symbol for spec in formula.outputs.values()} <= set(left)


@pytest.mark.parametrize("name", printed())
def test_no_two_quantities_share_a_symbol(name: str) -> None:
    formula = get_formula(name)
    found = [symbol for key, symbol in symbols(formula).items() if key != "inf"]
    assert len(set(found)) == len(found)


def test_the_four_formulas_read_as_in_the_literature() -> None:
    assert latex(get_formula("training-flops"))[:2] == [r"c = 6 \, N", r"W = c \, T"]
    assert latex(get_formula("min-batch"))[:2] == [
        r"R = \frac{\pi}{\beta}",
        r"B_\text{min} = \frac{b \, R}{2}",
    ]
    limit = latex(get_formula("fsdp-limit"))
    assert r"U = \frac{\rho \, b \, C}{2}" in limit and r"B_1 = \frac{U}{W}" in limit
    assert r"f = \frac{i}{u + i}" in latex(get_formula("bubble"))


def test_a_guard_against_dividing_by_zero_is_not_shown() -> None:
    exact = latex(get_formula("min-batch"))[-1]
    assert exact.count(r"\begin{cases}") == 1 and r"\infty & \text{otherwise}" in exact


def test_large_constants_are_powers_of_ten() -> None:
    assert r"W_\text{PF-day} = \frac{W}{8.64 \times 10^{19}}" in latex(
        get_formula("training-flops")
    )


def brackets(a: A, b: B, c: C) -> dict[str, Any]:
    """One output for each rule of printing."""
    return {
        "minus": a - (b - c),
        "product": a * (b + c),
        "plus": a + (b + c),
        "fraction": a * (b / c),
        "quotient": (a / b) ** 2,
        "negative": (-a) ** 2,
        "sum": (a + b) ** 2,
        "power": a**2,
        "opposite": -(a + b),
        "numbers": a * 2,
        "named": a * SMALL,
        "large": HUGE * a,
        "root": sqrt(a + b),
        "least": minimum(a, b),
        "most": maximum(a, b),
        "down": floor(a),
        "up": ceil(a),
        "choice": a if a != b else c,
        "edge": where(a <= b, a, inf),
    }


EXPECTED = {
    "minus": r"a - \left(b - c\right)",
    "product": r"a \, \left(b + c\right)",
    "plus": "a + b + c",
    "fraction": r"a \, \frac{b}{c}",
    "quotient": r"\left(\frac{a}{b}\right)^{2}",
    "negative": r"\left(-a\right)^{2}",
    "sum": r"\left(a + b\right)^{2}",
    "power": "a^{2}",
    "opposite": r"-\left(a + b\right)",
    "numbers": r"a \times 2",
    "named": r"a \times 0.5",
    "large": r"8.64 \times 10^{19} \, a",
    "root": r"\sqrt{a + b}",
    "least": r"\min\left(a, b\right)",
    "most": r"\max\left(a, b\right)",
    "down": r"\left\lfloor a \right\rfloor",
    "up": r"\left\lceil a \right\rceil",
    "choice": r"\begin{cases} a & \text{if } a \ne b \\ c & \text{otherwise} \end{cases}",
    "edge": r"\begin{cases} a & \text{if } a \le b \\ \infty & \text{otherwise} \end{cases}",
}


def test_brackets_where_they_are_needed_and_nowhere_else(throwaway: Any) -> None:
    lines = latex(throwaway(brackets, **dict.fromkeys(EXPECTED, "1")))
    assert [line.partition(" = ")[2] for line in lines] == list(EXPECTED.values())


def unnamed(a: A) -> dict[str, Any]:
    step = a + 1
    return {"result": step}


def test_a_step_without_a_symbol_is_shown_by_name(throwaway: Any) -> None:
    assert latex(throwaway(unnamed, result="1"))[0] == r"\text{step} = a + 1"
