"""What the parts of a step use of NumPy, for columns, and for one run without loading NumPy.

A plain number takes the place of a column of one element: a single prediction is asked for more
often than many, and to load NumPy takes longer than to answer it.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from flopbook.quantities import ops

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Numbers = Column | float
else:
    Column = Mask = Numbers = Any


# The operations of formulas, element by element; to a type checker they take and give columns.
if TYPE_CHECKING:

    def where(condition: Mask | bool, then: Numbers, otherwise: Numbers) -> Column:
        """Numbers of one choice where a condition holds, and of the other elsewhere."""

    def maximum(a: Numbers, b: Numbers) -> Column:
        """The larger of two numbers."""

    def minimum(a: Numbers, b: Numbers) -> Column:
        """The smaller of two numbers."""

    def ceil(a: Numbers) -> Column:
        """The smallest whole number that is not below a number."""

    def sqrt(a: Numbers) -> Column:
        """The square root."""

    def log(a: Numbers) -> Column:
        """The natural logarithm."""
else:
    where, maximum, minimum = ops.where, ops.maximum, ops.minimum
    ceil, sqrt = ops.ceil, ops.sqrt

    def log(a: Any) -> Any:
        """The natural logarithm, of a column by NumPy, which then is loaded."""
        numpy = sys.modules.get("numpy")
        is_column = numpy is not None and isinstance(a, (numpy.ndarray, numpy.generic))
        return numpy.log(a) if is_column else math.log(a)


def holds_anywhere(condition: Mask | bool) -> bool:
    """Whether a condition holds for some element."""
    numpy = sys.modules.get("numpy")
    return bool(numpy.any(condition) if numpy else condition)
