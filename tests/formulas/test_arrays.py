"""Every number that a calculator takes may be an array.

The answers are those of its elements, one by one.
"""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any

import numpy as np
import pytest

from flopbook.errors import FlopbookError
from flopbook.faces.javascript import javascript
from flopbook.formulas import get_formula, printed
from flopbook.formulas.declaration import Formula
from flopbook.quantities.ops import inf
from tests.faces.test_javascript import RANDOM
from tests.faces.test_worked import INPUTS
from tests.support.cases import every
from tests.support.generated_inputs import Inputs, fits

SIZE, CASES, TRIES = 5, 12, 60
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
every_formula = every("name", printed())


def numbers(formula: Formula) -> list[str]:
    return [name for name, spec in formula.inputs.items() if spec.is_number]


def drawn(formula: Formula, rng: random.Random) -> list[Inputs]:
    """Several sets of inputs that share their words, and which inputs are left open."""
    first = {**formula.defaults, **RANDOM[formula.id](rng)}
    same = {
        name: value for name, value in first.items() if isinstance(value, str) or value in (0, inf)
    }
    found = [first]
    for _ in range(TRIES):
        one = {**formula.defaults, **RANDOM[formula.id](rng), **same}
        one |= {
            name: first[name]
            for name, value in one.items()
            if value in (0, inf) and name not in same
        }
        found += [one] if fits(formula, one) else []
        if len(found) == SIZE:
            break
    return found


@functools.cache
def has_power(name: str) -> bool:
    return "Math.pow(" in javascript(get_formula(name))


def agree(formula: Formula, got: Any, wanted: Any) -> None:
    """Equal to the last bit but for powers, which the array library may round in its own way."""
    if isinstance(wanted, str):
        assert str(got) == wanted
    elif has_power(formula.id):
        assert float(got) == pytest.approx(wanted, rel=1e-9)
    else:
        assert float(got) == wanted


@every_formula
def test_arrays_equal_floats_element_by_element(name: str) -> None:
    formula, rng = get_formula(name), random.Random(f"arrays of {name}")
    sizes = set()
    for _ in range(CASES):
        cases = drawn(formula, rng)
        sizes.add(len(cases))
        stacked = {
            key: value
            if isinstance(value, str) or value in (0, inf)
            else np.array([c[key] for c in cases])
            for key, value in cases[0].items()
        }
        out = formula(**stacked)
        for number, case in enumerate(cases):
            for key, value in formula(**case).items():
                agree(formula, np.broadcast_to(out[key], len(cases))[number], value)
    assert max(sizes) >= 3, "no two cases share their words"


@every_formula
def test_each_number_alone_may_be_an_array(name: str) -> None:
    """Of one axis or two, beside floats; whole numbers as numbers of NumPy, too."""
    formula = get_formula(name)
    base = {**formula.defaults, **INPUTS[name]}
    for key in numbers(formula):
        value = base[key]
        if value in (0, inf):
            continue
        for array in (np.array([value, value]), np.full((2, 3), value), np.float64(value)):
            out = formula(**{**base, key: array})
            for one, wanted in formula(**base).items():
                shown = np.broadcast_to(out[one], np.shape(array))
                assert shown.shape == np.shape(array)
                agree(formula, shown.flat[-1], wanted)


@every_formula
def test_arrays_broadcast(name: str) -> None:
    """A column and a row make a table, whichever two inputs they are."""
    formula = get_formula(name)
    base = {**formula.defaults, **INPUTS[name]}
    given = [key for key in numbers(formula) if base[key] not in (0, inf)]
    for column, row in itertools.pairwise(given):
        out = formula(**{**base, column: np.full((2, 1), base[column]), row: np.full(3, base[row])})
        for one, wanted in formula(**base).items():
            agree(formula, np.broadcast_to(out[one], (2, 3))[1, 2], wanted)


@every_formula
def test_an_array_with_one_wrong_element_is_refused(name: str) -> None:
    formula = get_formula(name)
    base = {**formula.defaults, **INPUTS[name]}
    for key in numbers(formula):
        if base[key] == inf:
            continue
        for wrong in (-1.0, np.nan, np.inf, 1e41):
            with pytest.raises(FlopbookError, match=key):
                formula(**{**base, key: np.array([base[key], wrong])})
