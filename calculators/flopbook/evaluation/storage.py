"""Columns and sets of points of a sweep: NumPy arrays, or lists where NumPy is not installed."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any

from flopbook.evaluation.axes import Axis


class ListStorage:
    """Lists, for calculators without NumPy: every point is computed for itself."""

    has_arrays = False

    def spread(self, axis: Axis, stride: int, size: int) -> Any:
        """The values of an axis at every point; `stride` points in a row have the same one."""
        count = len(axis.values)
        return [axis.values[point // stride % count] for point in range(size)]

    def empty(self, size: int, words: bool) -> Any:
        """A column without any value yet."""
        return [None if words else math.nan] * size

    def all_points(self, size: int) -> Any:
        """The numbers of all points."""
        return range(size)

    def at_place(self, points: Any, stride: int, count: int, place: int) -> Any:
        """Those of some points that have the value number `place` on an axis."""
        return [point for point in points if point // stride % count == place]

    def as_points(self, points: Sequence[Any]) -> Any:
        """Some points, ready to index a column with."""
        return points

    def as_numbers(self, values: Sequence[float]) -> Any:
        """Numbers that are checked together; None where that takes an array."""
        return None

    def quiet(self) -> contextlib.AbstractContextManager[Any]:
        """While this is entered, overflow and division by zero raise no warnings."""
        return contextlib.nullcontext()


class ArrayStorage(ListStorage):
    """NumPy arrays: all points that share their words are computed in one call."""

    has_arrays = True

    def __init__(self, numpy: Any) -> None:
        self.np = numpy

    def spread(self, axis: Axis, stride: int, size: int) -> Any:
        """The values of an axis at every point; `stride` points in a row have the same one."""
        values = self.np.asarray(axis.values, dtype=float if axis.is_number else object)
        count = len(axis.values)
        if count == size:  # a single axis: no copy
            return values
        return self.np.tile(self.np.repeat(values, stride), size // (stride * count))

    def empty(self, size: int, words: bool) -> Any:
        """A column without any value yet."""
        return self.np.full(size, None, object) if words else self.np.full(size, math.nan)

    def all_points(self, size: int) -> Any:
        """The numbers of all points."""
        return self.np.arange(size)

    def at_place(self, points: Any, stride: int, count: int, place: int) -> Any:
        """Those of some points that have the value number `place` on an axis."""
        return points[points // stride % count == place]

    def as_points(self, points: Sequence[Any]) -> Any:
        """Some points, ready to index a column with."""
        return self.np.array(points, dtype=int)

    def as_numbers(self, values: Sequence[float]) -> Any:
        """Numbers that are checked together."""
        return self.np.asarray(values)

    def quiet(self) -> contextlib.AbstractContextManager[Any]:
        """While this is entered, overflow and division by zero raise no warnings."""
        return self.np.errstate(all="ignore")  # type: ignore[no-any-return]  # NumPy is optional


def storage() -> ListStorage:
    """Arrays where NumPy is installed, which is an optional dependency, else lists."""
    try:
        import numpy
    except ImportError:
        return ListStorage()
    return ArrayStorage(numpy)
