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


# Without NumPy nothing is an array; a prediction of one run asks that some ten thousand times.
_LOADED = sys.modules
# By type, since nearly all values are these and a calculator asks of some hundred.
_PLAIN = frozenset((float, int, bool, str))


def _numpy(*values: object) -> _NumPy | None:
    """Return the NumPy module if any value is one of its arrays or scalars, else None."""
    if _PLAIN.issuperset(map(type, values)):
        return None
    numpy = _LOADED.get("numpy")
    if numpy is not None and any(isinstance(v, (numpy.ndarray, numpy.generic)) for v in values):
        return cast(_NumPy, numpy)
    return None


def minimum(a: float, b: float) -> float:
    """Smaller of two values, element by element."""
    np = _numpy(a, b) if "numpy" in _LOADED else None
    return np.minimum(a, b) if np else min(a, b)


def maximum(a: float, b: float) -> float:
    """Larger of two values, element by element."""
    np = _numpy(a, b) if "numpy" in _LOADED else None
    return np.maximum(a, b) if np else max(a, b)


def floor(a: float) -> float:
    """Largest whole number not above a; infinity and nan stay what they are."""
    np = _numpy(a) if "numpy" in _LOADED else None
    if np:
        return np.floor(a)
    return float(math.floor(a)) if math.isfinite(a) else a


def ceil(a: float) -> float:
    """Smallest whole number not below a; infinity and nan stay what they are."""
    np = _numpy(a) if "numpy" in _LOADED else None
    if np:
        return np.ceil(a)
    return float(math.ceil(a)) if math.isfinite(a) else a


def sqrt(a: float) -> float:
    """Square root, element by element."""
    np = _numpy(a) if "numpy" in _LOADED else None
    return np.sqrt(a) if np else math.sqrt(a)


def where(condition: bool, then: Choice, otherwise: Choice) -> Choice:
    """Choose `then` where the condition holds, else `otherwise`. Both sides are computed."""
    np = _numpy(condition, then, otherwise) if "numpy" in _LOADED else None
    if np:
        return np.where(condition, then, otherwise)
    return then if condition else otherwise
