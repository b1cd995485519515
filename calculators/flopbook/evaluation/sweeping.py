"""A calculator over ranges and lists of its inputs: columns of numbers, computed as arrays.

Points that a rule or a bound refuses keep their place, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.evaluation.axes import MOST_POINTS, Axis, make_axis, read_axis
from flopbook.evaluation.calculator import calculate, resolved
from flopbook.evaluation.grid import Sweep
from flopbook.evaluation.results import Result
from flopbook.evaluation.storage import storage
from flopbook.formulas import get_formula
from flopbook.formulas.declaration import Input
from flopbook.formulas.input_bounds import check_input
from flopbook.formulas.omissions import Noted

# Points of a calculator that is ordinary Python: about 2 s, where others do a million.
MOST_ONE_BY_ONE = 5_000
__all__ = ("MOST_POINTS", "Axis", "Sweep", "read_axis", "sweep")

MOST_TRIES = 20_000  # so often a block of points with a refused one among them is halved


def sweep(calculator: str, /, **options: Any) -> Sweep:
    """A calculator at every combination of the options that are lists, ranges or arrays.

    All other options hold for every point. Raises FlopbookError for unknown names, and where no
    point at all has an answer.

    >>> sweep("min-batch", bandwidth=["1TB/s", "2TB/s"], peak=1e15)["tokens"].tolist()
    [1000.0, 500.0]
    """
    formula = get_formula(calculator)
    axes, fixed = [], {}
    for name, value in options.items():
        if isinstance(value, Axis):
            axes.append(value)
        elif _is_list(value):
            axes.append(make_axis(formula, name, value))
        elif value is not None:
            fixed[name] = value
    if not axes:
        raise FlopbookError("nothing to sweep: give a list of values for at least one input")
    grid = Sweep(formula, tuple(axes), fixed)
    most = MOST_POINTS if formula.printed else MOST_ONE_BY_ONE
    if grid.size > most:
        why = "" if formula.printed else f" for {formula.id}, which computes one at a time"
        raise FlopbookError(f"{grid.size:,} points are too many{why}, at most {most:,}")
    _Filler(grid).fill()
    if len(grid.problems) == grid.size:
        reason, *further = dict.fromkeys(grid.problems.values())
        unnamed = f" ({len(further)} more reasons)" if further else ""
        raise FlopbookError(f"no point of the sweep has an answer: {reason}{unnamed}")
    return grid


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


class _Filler:
    """Computes the points of a sweep block by block: those that share their words at once.

    A point is a number from 0 on; on an axis it has the value number `point // stride % count`.
    """

    def __init__(self, grid: Sweep) -> None:
        self.grid, self.tries = grid, 0
        self.storage = storage()
        # In the order in which the calculator looks at them, so that the first reason is the same.
        order = list(grid.formula.inputs)
        numbers = [axis for axis in grid.axes if axis.is_number]
        self.numbers = sorted(numbers, key=lambda axis: order.index(axis.name))
        self.words = [axis for axis in grid.axes if not axis.is_number]
        self.notes: dict[str, None] = {}
        self.omitted: dict[str, Noted] = {}
        self.sources: dict[str, None] = {}
        # A calculator that is ordinary Python computes one case at a time.
        has_numbers = bool(self.numbers)
        self.computes_arrays = self.storage.has_arrays and has_numbers and grid.formula.printed
        # The last axis moves fastest: its stride is one.
        self.strides = {}
        stride = 1
        for axis in reversed(grid.axes):
            self.strides[axis.name] = stride
            stride *= len(axis.values)

    def fill(self) -> None:
        """Fill the columns of the sweep, its problems, notes and sources."""
        grid = self.grid
        for axis in grid.axes:
            stride = self.strides[axis.name]
            grid.columns[axis.name] = self.storage.spread(axis, stride, grid.size)
        # Outputs behind the inputs that were swept, all of them open at first.
        for name, spec in grid.formula.outputs.items():
            grid.columns[name] = self.storage.empty(grid.size, bool(spec.choices))
        self._fill_words({}, self.storage.all_points(grid.size), self.words)
        left_out = (noted.text for noted in self.omitted.values())
        grid.notes, grid.sources = (*self.notes, *left_out), tuple(self.sources)

    def _fill_words(self, words: Mapping[str, Any], points: Any, axes: list[Axis]) -> None:
        """Fill the points that have these words, for each combination of those still to choose."""
        if not axes:
            self._fill_numbers(words, points)
            return
        first, *inner = axes
        stride, count = self.strides[first.name], len(first.values)
        for place, word in enumerate(first.values):
            chosen = self.storage.at_place(points, stride, count, place)
            self._fill_words({**words, first.name: word}, chosen, inner)

    def _fill_numbers(self, words: Mapping[str, Any], points: Any) -> None:
        """Fill all points that have these words."""
        try:  # what has nothing to do with the numbers is refused at once, not point by point
            resolved(self.grid.formula.id, **self.grid.fixed, **words, **self._allowed_numbers())
        except FlopbookError as error:
            self._refuse(points, str(error))
            return
        for axis in self.numbers:
            points = self._within_bounds(axis, points)
        if len(points):
            self._fill_block(words, points)

    def _allowed_numbers(self) -> dict[str, float]:
        """A number within its bounds for each axis of numbers."""
        specs = {axis.name: self.grid.formula.inputs[axis.name] for axis in self.numbers}
        return {name: min(max(1.0, spec.least), spec.most) for name, spec in specs.items()}

    def _within_bounds(self, axis: Axis, points: Any) -> Any:
        """The points whose value of an axis is within its bounds; the others are refused."""
        reasons = self._refused_values(axis)
        if not reasons:
            return points
        column = self.grid.column(axis.name)
        kept = []
        for point in points:
            reason = reasons.get(column[point])
            if reason is None:
                kept.append(point)
            else:
                self._refuse([point], reason)
        return self.storage.as_points(kept)

    def _refused_values(self, axis: Axis) -> dict[float, str]:
        """The values of an axis that are out of its bounds, each with the reason."""
        spec, flag = self.grid.formula.inputs[axis.name], f"--{axis.name.replace('_', '-')}"
        # All values in one check; only where one of them fails is each looked at.
        together = self.storage.as_numbers(axis.values)
        if together is not None and not _refusal(flag, spec, together):
            return {}
        reasons = {value: _refusal(flag, spec, value) for value in dict.fromkeys(axis.values)}
        return {value: reason for value, reason in reasons.items() if reason}

    def _refuse(self, points: Iterable[Any], reason: str) -> None:
        self.grid.problems |= dict.fromkeys(map(int, points), reason)

    def _fill_block(self, words: Mapping[str, Any], points: Any) -> None:
        """Compute points as arrays; where one of them is refused, halves, down to each alone."""
        if len(points) == 1:
            self._fill_point(words, int(points[0]))
            return
        if not self.computes_arrays:
            for point in points:
                self._fill_point(words, int(point))
            return
        place = self._place(points)
        numbers = {axis.name: self.grid.columns[axis.name][place] for axis in self.numbers}
        try:
            result = self._calculate(words, numbers)
        except (FlopbookError, TypeError, ValueError) as error:
            # Which of the points was refused is not known, so each half is tried. TypeError and
            # ValueError come from a rule or a part that cannot take arrays.
            self._count_try(error)
            half = len(points) // 2
            self._fill_block(words, points[:half])
            self._fill_block(words, points[half:])
            return
        self._store(result, place)

    def _fill_point(self, words: Mapping[str, Any], point: int) -> None:
        columns = self.grid.columns
        numbers = {axis.name: float(columns[axis.name][point]) for axis in self.numbers}
        try:
            result = self._calculate(words, numbers)
        except FlopbookError as error:
            self._refuse([point], str(error))
            return
        self._store(result, point)

    def _calculate(self, words: Mapping[str, Any], numbers: Mapping[str, Any]) -> Result:
        with self.storage.quiet():
            return calculate(self.grid.formula.id, **self.grid.fixed, **words, **numbers)

    def _count_try(self, error: Exception) -> None:
        """Raise FlopbookError when so many points are refused that halving takes too long."""
        self.tries += 1
        if self.tries > MOST_TRIES:
            raise FlopbookError(
                f"too many points are refused ({error}): sweep fewer of them"
            ) from None

    def _place(self, points: Any) -> Any:
        """Where points stand in the columns; all of them need no copy."""
        return slice(None) if len(points) == self.grid.size else points

    def _store(self, result: Result, place: Any) -> None:
        for name, value in result.items():
            if value is None:
                continue
            column = self.grid.columns[name]
            if isinstance(value, (str, tuple)) and _holds_floats(column):
                # A text or a list, as a calculator in ordinary Python gives.
                column = self.grid.columns[name] = self.storage.empty(self.grid.size, words=True)
            column[place] = float(value) if isinstance(value, int) else value
        self._keep_fixed(result)
        self._keep_notes(result)
        self.sources |= dict.fromkeys(result.sources)

    def _keep_notes(self, result: Result) -> None:
        """Keep each note once; of what is left out, the one with the largest share."""
        self.notes |= dict.fromkeys(result.remarks)
        for name, noted in result.omitted.items():
            worst = self.omitted.get(name)
            if worst is None or abs(noted.share) > abs(worst.share):
                self.omitted[name] = noted

    def _keep_fixed(self, result: Result) -> None:
        """Keep the inputs that are the same at all points."""
        swept = {axis.name for axis in self.grid.axes}
        fixed = {key: used for key, used in result.inputs.items() if key not in swept}
        if self.notes or self.sources:  # not the first block: what differs is not fixed
            known = self.grid.inputs
            fixed = {key: used for key, used in fixed.items() if known.get(key) == used}
        self.grid.inputs = fixed


def _refusal(flag: str, spec: Input, value: Any) -> str:
    """Why a value, or one of an array, is out of its bounds; empty where it is not."""
    try:
        check_input(flag, spec, value)
    except FlopbookError as error:
        return str(error)
    return ""


def _holds_floats(column: Any) -> bool:
    return getattr(getattr(column, "dtype", None), "kind", "") == "f"
