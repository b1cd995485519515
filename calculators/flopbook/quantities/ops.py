"""The few operations a formula may use, for floats and NumPy arrays alike.

Nothing here imports NumPy: an argument that is an array brings it along. The same
names exist in the generated JavaScript, so a formula means one thing everywhere.
"""

from __future__ import annotations

import math
import sys
from typing import Any

inf = math.inf


def _numpy(*values: Any) -> Any:
    """Return the NumPy module if any value is one of its arrays or scalars, else None."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and any(isinstance(v, (numpy.ndarray, numpy.generic)) for v in values):
        return numpy
    return None


def minimum(a: Any, b: Any) -> Any:
    """Smaller of two values, element by element."""
    np = _numpy(a, b)
    return np.minimum(a, b) if np else min(a, b)


def maximum(a: Any, b: Any) -> Any:
    """Larger of two values, element by element."""
    np = _numpy(a, b)
    return np.maximum(a, b) if np else max(a, b)


def floor(a: Any) -> Any:
    """Largest whole number not above a; infinity and nan stay what they are."""
    np = _numpy(a)
    if np:
        return np.floor(a)
    return float(math.floor(a)) if math.isfinite(a) else a


def ceil(a: Any) -> Any:
    """Smallest whole number not below a; infinity and nan stay what they are."""
    np = _numpy(a)
    if np:
        return np.ceil(a)
    return float(math.ceil(a)) if math.isfinite(a) else a


def sqrt(a: Any) -> Any:
    """Square root, element by element."""
    np = _numpy(a)
    return np.sqrt(a) if np else math.sqrt(a)


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """Choose `then` where the condition holds, else `otherwise`. Both sides are computed."""
    np = _numpy(condition, then, otherwise)
    if np:
        return np.where(condition, then, otherwise)
    return then if condition else otherwise
