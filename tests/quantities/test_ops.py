"""The operations of formulas: floats in, floats out; arrays in, arrays out.

The same answer either way.
"""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.quantities import ops

finite = st.floats(min_value=-1e15, max_value=1e15, allow_nan=False)
pairs = st.lists(st.tuples(finite, finite), min_size=1, max_size=8)


@given(finite)
def test_floor_and_ceil_bracket_a_number(x: float) -> None:
    assert ops.floor(x) <= x <= ops.ceil(x)
    assert ops.ceil(x) - ops.floor(x) == (0 if x.is_integer() else 1)


@pytest.mark.parametrize("operation", [ops.floor, ops.ceil])
@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinity_stays_infinity(operation: ops.Any, value: float) -> None:
    assert operation(value) == value


@pytest.mark.parametrize("operation", [ops.floor, ops.ceil])
def test_not_a_number_stays_so(operation: ops.Any) -> None:
    """As in JavaScript and in NumPy; an exception would make one formula mean two things."""
    assert math.isnan(operation(math.nan))
    assert np.isnan(operation(np.array([math.nan]))).all()


@pytest.mark.parametrize("operation", [ops.floor, ops.ceil])
def test_whole_numbers_come_back_as_floats(operation: ops.Any) -> None:
    assert isinstance(operation(2.5), float) and isinstance(operation(3), float)


@given(pairs)
def test_two_sided_operations_agree_with_arrays(values: list[tuple[float, float]]) -> None:
    left, right = (np.array(side) for side in zip(*values, strict=True))
    for operation in (ops.minimum, ops.maximum):
        assert operation(left, right).tolist() == [operation(a, b) for a, b in values]
    assert ops.where(left < right, left, right).tolist() == [
        ops.where(a < b, a, b) for a, b in values
    ]


@given(st.lists(finite, min_size=1, max_size=8))
def test_one_sided_operations_agree_with_arrays(values: list[float]) -> None:
    array = np.array(values)
    for operation in (ops.floor, ops.ceil):
        assert operation(array).tolist() == [operation(v) for v in values]
    assert ops.sqrt(abs(array)).tolist() == [ops.sqrt(abs(v)) for v in values]


def test_scalars_and_arrays_mix() -> None:
    array = np.array([1.0, 5.0])
    assert ops.minimum(array, 3).tolist() == [1, 3]
    assert ops.maximum(3, array).tolist() == [3, 5]
    assert ops.where(array > 2, array, math.inf).tolist() == [math.inf, 5]
    assert ops.where(True, 1, array).tolist() == [1, 1]
    assert ops.minimum(np.float64(2), 3) == 2


@given(finite, finite)
def test_minimum_and_maximum_are_a_pair(a: float, b: float) -> None:
    assert {ops.minimum(a, b), ops.maximum(a, b)} == {a, b}
    assert ops.minimum(a, b) <= ops.maximum(a, b)


def test_the_operations_do_not_load_numpy() -> None:
    """A cold command must not pay for it."""
    code = (
        "import sys; from flopbook.quantities import ops; ops.minimum(1, 2); ops.floor(2.5); "
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
