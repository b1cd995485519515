"""Elasticities: exact for powers, equal to what the solver finds, honest at corners and rules."""

from __future__ import annotations

import json
import math
import random
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flopbook
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import Result, Value, calculate
from flopbook.evaluation.sensitivity import NOTHING, STEP, Sensitivities, sensitivities
from flopbook.evaluation.solving.solver import solve
from flopbook.formulas import formulas, get_formula
from flopbook.formulas.conditions import Rule
from flopbook.formulas.declaration import Formula, Input, Output
from tests.support.states import FEW, SEEDS, states

RUN = {
    "params": 8e9,
    "tokens": 15e12,
    "peak": 1e15,
    "chips": 1024,
    "mfu": 0.4,
    "power": 700,
    "price": 1e-3,
    "chip_mtbf": 0.0,
}
Number = Annotated[float, Input("1", "a", "a number")]
Whole = Annotated[float, Input("1", "n", "a whole number", least=1, whole=True)]


def answer_of(function: Any, rules: tuple[Any, ...] = (), **values: float) -> Result:
    """The answer of a function that is no calculator of the catalogue."""
    kinds = {
        name: Input("1", name, name, least=1, whole=True) if name == "n" else Input("1", name, name)
        for name in values
    }
    made = Formula(
        "one", "One", "Why?", function, kinds, {"y": Output("1", "y", "y")}, {}, (), rules=rules
    )
    return Result(made, {name: Value(value, "1") for name, value in values.items()}, made(**values))


def by_name(found: Sensitivities) -> dict[str, float]:
    return {one.name: one.elasticity for one in found.inputs}


@given(
    power=st.floats(min_value=-4, max_value=4).filter(lambda p: abs(p) > 1e-3),
    x=st.floats(min_value=1e-6, max_value=1e6),
    n=st.integers(min_value=2, max_value=10**6),
)
def test_the_elasticity_of_a_power_is_its_exponent(power: float, x: float, n: int) -> None:
    """For numbers and for whole numbers alike, whatever the step."""

    def law(x: float, n: float) -> dict[str, float]:
        return {"y": 3.7 * x**power / n}

    found = by_name(sensitivities(answer_of(law, x=x, n=float(n))))
    assert found["x"] == pytest.approx(power, rel=1e-6, abs=1e-9)
    assert found["n"] == pytest.approx(-1, rel=1e-6)


def test_training_time_is_a_product() -> None:
    found = sensitivities(calculate("training-time", **RUN))
    assert by_name(found) == pytest.approx(
        {"params": 1, "tokens": 1, "peak": -1, "chips": -1, "mfu": -1}, abs=1e-9
    )
    assert (
        found.output == "seconds"
        and {"power", "price", "pue", "restart", "storage"} <= set(found.without_effect)
        and not found.held
    )
    cost = sensitivities(calculate("training-time", **RUN), "cost")
    assert by_name(cost)["price"] == pytest.approx(1) and "chips" in cost.without_effect


@FEW
@given(seed=SEEDS)
@pytest.mark.parametrize("name", formulas())
def test_every_input_is_told_once_and_the_strongest_first(name: str, seed: int) -> None:
    formula, rng = get_formula(name), random.Random(seed)
    for _, result in states(formula, rng, 1):
        try:
            found = sensitivities(result)
        except FlopbookError:
            continue
        told = [*by_name(found), *found.without_effect, *found.held]
        assert len(told) == len(set(told)) and set(told) <= set(formula.inputs)
        given_ = [
            key
            for key, item in result.inputs.items()
            if isinstance(item.value, float) and item.value > 0
        ]
        used = {key for key in given_ if math.isfinite(result.inputs[key].value)}
        assert used & set(formula.inputs) <= set(told)
        sizes = [round(abs(one.elasticity), 6) for one in found.inputs]
        assert sizes == sorted(sizes, reverse=True) and all(math.isfinite(size) for size in sizes)
        assert all(one.low < one.high for one in found.inputs)
        assert json.loads(json.dumps(found.as_json(), allow_nan=False)) == found.as_json()


@pytest.mark.parametrize("name", formulas())
def test_the_solver_finds_the_input_that_an_elasticity_foretells(name: str) -> None:
    """An output that shall rise by 0.01 % needs an input risen by that over the elasticity."""
    formula, rng = get_formula(name), random.Random(f"foretold {name}")
    for options, result in states(formula, rng, 3):
        try:
            found = sensitivities(result)
        except FlopbookError:
            continue
        for one in found.inputs:
            smooth = (
                one.below is None
                and not formula.inputs[one.name].whole
                and abs(one.elasticity) > 0.01
            )
            if (
                one.name not in options
                or not smooth
                or one.low >= options[one.name]
                or one.high <= options[one.name]
            ):
                continue
            others = {key: value for key, value in options.items() if key != one.name}
            wanted = options[one.name] * 1.0001 ** (1 / one.elasticity)
            try:
                solved = solve(
                    name, one.name, {found.output: result[found.output] * 1.0001}, **others
                )
            except FlopbookError:
                continue  # a bound is near, or a step
            nearest = min(solved.answers, key=lambda answer: abs(answer.value - wanted))
            if nearest.to is None:
                assert math.log(nearest.value / options[one.name]) == pytest.approx(
                    math.log(wanted / options[one.name]), rel=0.05
                )


def test_a_corner_tells_both_of_its_sides() -> None:
    (one,) = sensitivities(answer_of(lambda x: {"y": max(x, 2.0) ** 2}, x=2.0)).inputs
    assert (one.below, one.above) == pytest.approx((0, 2)) and one.elasticity == pytest.approx(1)
    (smooth,) = sensitivities(answer_of(lambda x: {"y": x**2 + 1}, x=2.0)).inputs
    assert (
        smooth.below is None and smooth.above is None and smooth.elasticity == pytest.approx(8 / 5)
    )


def test_at_a_bound_there_is_one_side() -> None:
    """A utilisation of one cannot rise; the answer still moves as it falls."""
    found = sensitivities(calculate("training-time", **{**RUN, "mfu": 1.0, "chips": 1}))
    moved = {one.name: one for one in found.inputs}
    assert moved["mfu"].high == 1.0 and moved["mfu"].elasticity == pytest.approx(-1)
    assert (moved["chips"].low, moved["chips"].high) == (1, 2) and moved[
        "chips"
    ].elasticity == pytest.approx(-1)


def test_a_whole_number_that_cannot_step_is_halved_and_doubled() -> None:
    rules = (Rule(lambda n: n in (4, 8, 16), "n is no power"),)
    (one,) = sensitivities(answer_of(lambda n: {"y": 1 / n}, rules, n=8.0)).inputs
    assert (one.low, one.high) == (4, 16) and one.elasticity == pytest.approx(-1)
    alone = (Rule(lambda n: n == 8, "n is eight"),)
    assert sensitivities(answer_of(lambda n: {"y": 1 / n}, alone, n=8.0)).held == ("n",)


def test_zero_that_stands_for_none_is_no_point_of_a_curve() -> None:
    """ZeRO stage 1 beside none at all: the step is taken upwards only."""
    shape = {"model": "llama-3-8b", "seq": 8192, "dp": 8, "zero": 1}
    (zero,) = [
        one for one in sensitivities(calculate("memory", **shape)).inputs if one.name == "zero"
    ]
    assert (zero.low, zero.high) == (1, 2) and zero.elasticity < 0
    none = sensitivities(calculate("memory", **{**shape, "zero": 0}))
    assert "zero" not in [*by_name(none), *none.without_effect, *none.held]


def test_an_output_that_passes_zero_is_measured_by_its_change() -> None:
    (one,) = sensitivities(answer_of(lambda x: {"y": x - 1}, x=1 + STEP / 2)).inputs
    assert one.elasticity == pytest.approx(2 / STEP, rel=1e-3)
    negative = sensitivities(answer_of(lambda x: {"y": -(x**3)}, x=2.0))
    assert by_name(negative)["x"] == pytest.approx(3)


def test_what_has_no_elasticity_is_said() -> None:
    result = calculate("min-batch", chip="h100-sxm")
    with pytest.raises(FlopbookError, match="tokens_exact is no number other than zero here"):
        sensitivities(result, "tokens_exact")
    bound = calculate("decode", model="llama-3-8b", chip="h100-sxm", seq=1024)
    with pytest.raises(FlopbookError, match="bound is no number"):
        sensitivities(bound, "bound")
    with pytest.raises(FlopbookError, match="every output is no number"):
        sensitivities(answer_of(lambda x: {"y": 0 * x}, x=1.0))


def test_noise_is_no_effect() -> None:
    found = sensitivities(answer_of(lambda x, z: {"y": x + z - z}, x=1.0, z=3.0))
    assert set(by_name(found)) == {"x"} and found.without_effect == ("z",) and NOTHING < 1e-6
    assert flopbook.sensitivities is sensitivities
