"""The few operations a formula may use, for floats and NumPy arrays alike.

Nothing here imports NumPy: an argument that is an array brings it along. Arrays are typed as the
floats that they hold, so that a formula reads and type-checks as arithmetic. The same names exist
in the generated JavaScript, so a formula means one thing everywhere.
"""

from __future__ import annotations

import math
import sys
from typing import Protocol, TypeVar, cast

inf = math.inf

# A number, or one of several words that a formula chooses between.
Choice = TypeVar("Choice")


class _NumPy(Protocol):
    """What is used of NumPy, element by element."""

    def minimum(self, a: float, b: float) -> float: ...

    def maximum(self, a: float, b: float) -> float: ...

    def floor(self, a: float) -> float: ...

    def ceil(self, a: float) -> float: ...

    def sqrt(self, a: float) -> float: ...

    def where(self, condition: bool, then: Choice, otherwise: Choice) -> Choice: ...


_LOADED = sys.modules
# Nearly all values have these types, and a plan asks some million times: so each operation looks at
# them itself, and calls nothing.
_PLAIN = frozenset((float, int, bool, str))


def _numpy(*values: object) -> _NumPy | None:
    """Return the NumPy module if any value is one of its arrays or scalars, else None."""
    numpy = _LOADED.get("numpy")
    if numpy is None:  # nothing is an array
        return None
    kinds = (numpy.ndarray, numpy.generic)
    for value in values:
        if isinstance(value, kinds):
            return cast(_NumPy, numpy)
    return None


def minimum(a: float, b: float) -> float:
    """Smaller of two values, element by element."""
    if type(a) in _PLAIN and type(b) in _PLAIN:
        return b if b < a else a
    np = _numpy(a, b)
    return np.minimum(a, b) if np else min(a, b)


def maximum(a: float, b: float) -> float:
    """Larger of two values, element by element."""
    if type(a) in _PLAIN and type(b) in _PLAIN:
        return b if b > a else a
    np = _numpy(a, b)
    return np.maximum(a, b) if np else max(a, b)


def floor(a: float) -> float:
    """Largest whole number not above a; infinity and nan stay what they are."""
    if type(a) not in _PLAIN and (np := _numpy(a)):
        return np.floor(a)
    return float(math.floor(a)) if math.isfinite(a) else a


def ceil(a: float) -> float:
    """Smallest whole number not below a; infinity and nan stay what they are."""
    if type(a) not in _PLAIN and (np := _numpy(a)):
        return np.ceil(a)
    return float(math.ceil(a)) if math.isfinite(a) else a


def sqrt(a: float) -> float:
    """Square root, element by element."""
    if type(a) not in _PLAIN and (np := _numpy(a)):
        return np.sqrt(a)
    return math.sqrt(a)


def where(condition: bool, then: Choice, otherwise: Choice) -> Choice:
    """Choose `then` where the condition holds, else `otherwise`. Both sides are computed."""
    if type(condition) in _PLAIN and type(then) in _PLAIN and type(otherwise) in _PLAIN:
        return then if condition else otherwise
    np = _numpy(condition, then, otherwise)
    if np:
        return np.where(condition, then, otherwise)
    return then if condition else otherwise
