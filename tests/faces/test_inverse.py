"""Closed forms of inverses.

Where one is given it is a root, and it is given where there must be one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Annotated, Any

import pytest

from flopbook.faces.inverse import closed_roots, depends
from flopbook.formulas import formulas, get_formula
from flopbook.formulas.declaration import Input
from flopbook.quantities.ops import ceil, inf, maximum, minimum, sqrt, where
from tests.support.states import is_amount, states

Number = Annotated[float, Input("1", "a", "a number")]


def power(a: Number, b: Number) -> dict[str, Any]:
    return {"result": 3 * a**2 / b**0.5}


def affine(a: Number, b: Number) -> dict[str, Any]:
    part = a * b
    return {"result": part + 2 * part - b}


def quadratic(a: Number, b: Number) -> dict[str, Any]:
    return {"result": (a + b) ** 2 - b * b + 1 / (1 / a)}


def ratio(a: Number, b: Number) -> dict[str, Any]:
    return {"result": (a - b) / (a + b)}


def pieces(a: Number, b: Number) -> dict[str, Any]:
    low = minimum(a, 2 * b)
    return {"result": where(a > 5 * b, 7 * a, maximum(low, b / 2)) if b > 0 else a}


def root(a: Number, b: Number) -> dict[str, Any]:
    return {"result": sqrt(a * b) - a * 0}


def steps_up(a: Number, b: Number) -> dict[str, Any]:
    return {"result": ceil(a / b) * b}


def exponential(a: Number, b: Number) -> dict[str, Any]:
    return {"result": b**a}


def open_end(a: Number, b: Number) -> dict[str, Any]:
    return {"result": 1 - a * (1 / b + 1 / inf)}


def bowl(a: Number, b: Number) -> dict[str, Any]:
    return {"result": a + b / a}


SOLVABLE = (power, affine, quadratic, ratio, pieces, root)


@pytest.mark.parametrize("function", SOLVABLE, ids=lambda f: f.__name__)
def test_the_root_is_where_the_value_was_taken(
    function: Callable[..., Any], throwaway: Any
) -> None:
    formula = throwaway(function, result="1")
    rng = random.Random(function.__name__)
    for _ in range(200):
        values = {name: math.exp(rng.uniform(-5, 5)) for name in "ab"}
        if function is pieces and 2 * values["b"] < values["a"] < 5 * values["b"]:
            continue  # flat there: any value is a root
        if function is pieces and values["a"] < values["b"] / 2:
            continue
        target = formula(**values)["result"]
        roots = closed_roots(formula, values, "a", "result", target)
        assert any(one == pytest.approx(values["a"], rel=1e-6) for one in roots), values


def test_a_quadratic_has_both_of_its_roots(throwaway: Any) -> None:
    """a + b/a is the same at a and at b/a."""
    formula = throwaway(bowl, result="1")
    rng = random.Random("bowl")
    for _ in range(100):
        a, b = (math.exp(rng.uniform(-9, 9)) for _ in range(2))
        found = closed_roots(formula, {"a": a, "b": b}, "a", "result", formula(a=a, b=b)["result"])
        assert sorted(found) == pytest.approx(sorted((a, b / a)), rel=1e-6)


@pytest.mark.parametrize("function", [steps_up, exponential], ids=lambda f: f.__name__)
def test_there_is_none_for_steps_and_exponents(
    function: Callable[..., Any], throwaway: Any
) -> None:
    formula = throwaway(function, result="1")
    assert closed_roots(formula, {"a": 3.0, "b": 2.0}, "a", "result", 8.0) == []


def test_what_is_divided_by_infinity_is_nothing(throwaway: Any) -> None:
    formula = throwaway(open_end, result="1")
    assert closed_roots(formula, {"a": 0.1, "b": 2.0}, "a", "result", 0.75) == [0.5]
    assert closed_roots(formula, {"a": 0.1, "b": inf}, "a", "result", 0.75) == []


def test_no_root_below_zero(throwaway: Any) -> None:
    formula = throwaway(affine, result="1")
    assert closed_roots(formula, {"a": 1.0, "b": 2.0}, "a", "result", -100.0) == []
    assert (
        closed_roots(throwaway(quadratic, result="1"), {"a": 1.0, "b": 1.0}, "a", "result", -1e3)
        == []
    )


@pytest.mark.parametrize("name", formulas())
def test_on_every_calculator_a_root_on_the_same_branch_is_a_root(name: str) -> None:
    """The nearest of the roots, computed forward, is the target.

    And most inputs of most calculators have one.
    """
    formula, rng = get_formula(name), random.Random(name)
    for options, result in states(formula, rng, 6):
        values = {**formula.defaults, **options}
        for key, spec in formula.inputs.items():
            if spec.choices or key not in options or spec.whole:
                continue
            for output in (one for one, value in result.items() if is_amount(value)):
                for one in closed_roots(formula, values, key, output, result[output]):
                    if one == pytest.approx(values[key], rel=1e-9):
                        there = formula.compute({**values, key: one})[output]
                        assert there == pytest.approx(
                            result[output], rel=1e-6, abs=1e-9 * abs(values[key])
                        )


def test_what_an_output_depends_on() -> None:
    batch = get_formula("min-batch")
    assert depends(batch, "tokens", "peak") and depends(batch, "tokens_exact", "d_ff")
    assert not depends(batch, "tokens", "d_ff") and not depends(
        batch, "flop_per_byte", "bytes_per_param"
    )
    memory = get_formula("memory")  # through its parts
    assert depends(memory, "weights", "ep") and not depends(memory, "weights", "micro_batch")
