"""A number of chips in place of the data-parallel degree."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.sweeping import sweep
from flopbook.formulas import formulas, get_formula

SHAPE: dict[str, Any] = {"model": "llama-3-70b", "seq": 8192, "zero": 1}
DEGREES = st.sampled_from([1, 2, 4, 8])


@given(tp=DEGREES, pp=DEGREES, cp=DEGREES, dp=st.integers(1, 64))
def test_chips_give_what_the_degree_that_they_leave_gives(
    tp: int, pp: int, cp: int, dp: int
) -> None:
    cut = {"tp": tp, "pp": pp, "cp": cp}
    by_degree = calculate("memory", **SHAPE, **cut, dp=dp)
    by_chips = calculate("memory", **SHAPE, **cut, chips=tp * pp * cp * dp)
    assert dict(by_chips) == dict(by_degree)
    assert by_chips.inputs["dp"].value == dp
    assert by_degree.inputs["chips"].value == by_chips.inputs["chips"].value == tp * pp * cp * dp


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chips": 100, "tp": 8, "pp": 3}, "groups of 24 (--tp 8 x --pp 3); use 96 or 120"),
        ({"chips": 4, "tp": 8}, "groups of 8 (--tp 8); use 8"),
        ({"chips": 64, "dp": 8}, "give --chips or --dp, not both"),
        ({"chips": 2.5}, "whole number"),
        ({"chips": 0}, "--chips"),
        ({"chips": "many"}, "--chips"),
        ({"chips": math.inf}, "--chips"),
        ({"chips": math.nan}, "--chips"),
        ({"chips": 64, "tp": 0}, "--tp"),
        ({"chips": 64, "tp": 0.5}, "--tp"),
    ],
)
def test_chips_that_cannot_be_divided_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(FlopbookError, match=r".") as refused:
        calculate("memory", **SHAPE, **options)
    assert words in str(refused.value)


def test_a_sweep_over_a_degree_leaves_the_rest_of_the_chips() -> None:
    column = sweep("memory", **SHAPE, chips=64, tp=[1, 2, 4, 8])["optimizer"]
    alone = [calculate("memory", **SHAPE, chips=64, tp=tp)["optimizer"] for tp in (1, 2, 4, 8)]
    assert list(column) == alone


def test_a_calculator_that_divides_names_degrees_that_it_has() -> None:
    divided = {name: one.divides for name, one in formulas().items() if one.divides}
    assert set(divided) == {"memory", "fine-tuning"}
    for name, degrees in divided.items():
        inputs = get_formula(name).inputs
        assert set(degrees) <= set(inputs) and "chips" not in inputs
        assert all(get_formula(name).defaults[degree] == 1 for degree in degrees)
