"""A calculator over ranges and lists of its inputs: columns of numbers, computed as arrays in one
call.

Points that a rule or a bound refuses keep their place, with the reason.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.evaluation.calculator import (
    Result,
    Value,
    calculate,
    read_input,
    reads,
    resolved,
    takes,
)
from flopbook.formulas import get_formula
from flopbook.formulas.declaration import Formula, check_input

MOST_POINTS = 1_000_000
MOST_TRIES = 20_000  # so often a block of points with a refused one among them is halved
STEPS = 10  # of a linear range without a count
READABLE = 1000  # points that people may look at


class Axis(NamedTuple):
    """The values of one input, SI numbers or words, in order; `log` where they are spaced evenly in
    the logarithm.
    """

    name: str
    values: Sequence[Any]
    unit: str
    log: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return bool(self.unit)


class Sweep(Mapping[str, Any]):
    """Columns by name, inputs that were swept before outputs, one place for each point; the last
    axis moves fastest.

    Numbers are NumPy arrays (lists without NumPy), not a number where a point is refused or an
    output open. `problems` says for each refused point why.
    """

    def __init__(self, formula: Formula, axes: tuple[Axis, ...], fixed: Mapping[str, Any]) -> None:
        self.formula, self.axes, self.fixed = formula, axes, fixed
        self.size = math.prod(len(axis.values) for axis in axes)
        self.columns: dict[str, Any] = {}
        self.problems: dict[int, str] = {}
        self.inputs: dict[str, Value] = {}
        self.notes: tuple[str, ...] = ()
        self.sources: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        over = " and ".join(f"{axis.name} ({len(axis.values)})" for axis in self.axes)
        return f"<sweep of {self.formula.id} over {over}: {', '.join(self.outputs())}>"

    def unit(self, name: str) -> str:
        """SI unit of a column, empty for words."""
        for axis in self.axes:
            if axis.name == name:
                return axis.unit
        spec = self.formula.outputs[name]
        return "" if spec.choices else spec.unit

    def outputs(self) -> list[str]:
        """The outputs that have a value at some point."""
        return [
            name
            for name in self.formula.outputs
            if not all(_is_open(value) for value in self.column(name))
        ]

    def column(self, name: str) -> list[Any]:
        """A column as a list of plain values."""
        return _listed(self.columns[name])

    def as_json(self) -> dict[str, Any]:
        """The answer under the contract of `--json`: a list in place of each value that was swept
        or computed.
        """
        swept = {
            axis.name: {"value": self.column(axis.name), "unit": axis.unit or None}
            for axis in self.axes
        }
        fixed = Result(self.formula, self.inputs, {}, self.notes, self.sources).as_json()
        outputs = {
            name: {
                "value": [None if _is_open(v) else v for v in self.column(name)],
                "unit": spec.unit,
            }
            for name, spec in self.formula.outputs.items()
        }
        axes = [
            {"input": a.name, "unit": a.unit or None, "values": _listed(a.values)}
            for a in self.axes
        ]
        why = [{"point": point, "why": reason} for point, reason in sorted(self.problems.items())]
        return fixed | {
            "inputs": swept | fixed["inputs"],
            "outputs": outputs,
            "sweep": {"axes": axes, "points": self.size, "problems": why},
        }


def _listed(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _is_open(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def sweep(calculator: str, /, **options: Any) -> Sweep:
    """A calculator at every combination of the options that are lists, ranges or arrays; the others
    stay.

    Raises FlopbookError for unknown names, and where no point at all has an answer.

    >>> sweep("min-batch", bandwidth=["1TB/s", "2TB/s"], peak=1e15)["tokens"].tolist()
    [1000.0, 500.0]
    """
    formula = get_formula(calculator)
    axes = []
    for name, value in options.items():
        if isinstance(value, Axis):
            axes.append(value)
        elif _is_list(value):
            axes.append(axis(formula, name, value))
    if not axes:
        raise FlopbookError("nothing to sweep: give a list of values for at least one input")
    swept = {one.name for one in axes}
    fixed = {key: value for key, value in options.items() if key not in swept and value is not None}
    found = Sweep(formula, tuple(axes), fixed)
    if found.size > MOST_POINTS:
        raise FlopbookError(f"{found.size:,} points are too many, at most {MOST_POINTS:,}")
    _Filler(found).fill()
    if len(found.problems) == found.size:
        reasons = dict.fromkeys(found.problems.values())
        more = f" ({len(reasons) - 1} more reasons)" if len(reasons) > 1 else ""
        raise FlopbookError(f"no point of the sweep has an answer: {next(iter(reasons))}{more}")
    return found


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def axis(formula: Formula, name: str, values: Iterable[Any], log: bool = False) -> Axis:
    """An axis of these values, quantities read as the calculator reads them.

    Raises FlopbookError.
    """
    known = (*takes(formula), *reads(formula), *formula.inputs)
    if name not in known:
        raise UnknownName(f"option of {formula.id}", name, known)
    spec = formula.inputs.get(name)
    unit = spec.unit if spec is not None and spec.is_number else ""
    if unit and getattr(getattr(values, "dtype", None), "kind", "") in ("f", "i", "u"):
        plain: Any = values.astype(float).ravel()  # type: ignore[attr-defined]
    else:
        plain = [value if spec is None else read_input(name, spec, value) for value in values]
        for value in plain if unit else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise FlopbookError(f"{name} is '{shorten(value)}', expected a number")
        plain = [float(value) for value in plain] if unit else plain
    if not len(plain):
        raise FlopbookError(f"--sweep {name} has no values")
    return Axis(name, plain, unit, log)


def read_axis(formula: Formula, text: str) -> Axis:
    """An axis as people write it: `batch=64:65536:log`, `mfu=0.3:0.6:lin:7`, `dp=1,2,4`,
    `chip=h100-sxm,b200`.

    A logarithmic range has a point for each doubling unless it says how many, a linear one eleven.
    Raises FlopbookError.
    """
    name, found, rest = text.partition("=")
    name = name.strip().replace("-", "_")
    if not found or not rest.strip():
        raise FlopbookError(
            f"--sweep is '{shorten(text)}', expected NAME=LOW:HIGH, NAME=LOW:HIGH:log or NAME=A,B,C"
        )
    spec = formula.inputs.get(name)
    if spec is None or not spec.is_number or ":" not in rest:
        comma = (
            ";" if ";" in rest or getattr(spec, "text", "") else ","
        )  # a text of its own may have commas
        return axis(formula, name, [part.strip() for part in rest.split(comma)])
    low, high, *more = (part.strip() for part in rest.split(":"))
    kinds = [word for word in more if word in ("log", "lin")]
    counts = [word for word in more if word.isdecimal()]
    if len(kinds) > 1 or len(counts) > 1 or len(kinds) + len(counts) != len(more):
        raise FlopbookError(
            f"--sweep is '{shorten(text)}', expected NAME=LOW:HIGH, then :log or :lin and a count"
        )
    ends = [read_input(name, spec, part) for part in (low, high)]
    if kinds == ["log"] and min(ends) <= 0:
        raise FlopbookError(f"--sweep {name}: a logarithmic range has to lie above 0")
    count = int(counts[0]) if counts else None
    if count is not None and not 2 <= count <= MOST_POINTS:
        raise FlopbookError(f"--sweep {name}: {counts[0]} points, expected 2 to {MOST_POINTS:,}")
    log = kinds == ["log"]
    values = _log_range(*ends, count) if log else _linear_range(*ends, count, spec.whole)
    if spec.whole:
        values = list(dict.fromkeys(float(round(value)) for value in values))
    return Axis(name, values, spec.unit, log)


def _log_range(low: float, high: float, count: int | None) -> list[float]:
    """Values evenly apart in the logarithm, both ends included, to twelve digits."""
    steps = (count or max(1, round(abs(math.log2(high / low)))) + 1) - 1
    inner = (_tidy(low * (high / low) ** (n / steps), steps) for n in range(1, steps))
    return [low, *inner, high]


def _tidy(value: float, steps: int) -> float:
    """A value without the noise of its last digits, where somebody will read it."""
    return float(f"{value:.12g}") if steps <= READABLE else value


def _linear_range(low: float, high: float, count: int | None, whole: bool) -> list[float]:
    """Values evenly apart, both ends included."""
    steps = count - 1 if count else STEPS
    if whole and not count and abs(high - low) < STEPS:
        steps = max(1, round(abs(high - low)))
    inner = (_tidy(low + (high - low) * n / steps, steps) for n in range(1, steps))
    return [low, *inner, high]


class _Filler:
    """Computes the points of a sweep, block by block: all points that share their words at once."""

    def __init__(self, found: Sweep) -> None:
        self.found, self.tries = found, 0
        # In the order in which the calculator looks at them, so that the first reason is the same.
        self.numbers = sorted((axis for axis in found.axes if axis.is_number), key=self._order)
        self.words = [axis for axis in found.axes if not axis.is_number]
        self.notes: dict[str, None] = {}
        self.sources: dict[str, None] = {}
        try:
            import numpy
        except ImportError:  # an optional dependency: without it each point is computed for itself
            numpy = None  # type: ignore[assignment]
        self.np: Any = numpy
        # A calculator that is ordinary Python computes one case at a time.
        self.arrays = bool(numpy and self.numbers and found.formula.printed)

    def _order(self, axis: Axis) -> int:
        return list(self.found.formula.inputs).index(axis.name)

    def fill(self) -> None:
        """Fill the columns of the sweep, its problems, notes and sources."""
        found = self.found
        strides = itertools.accumulate(
            (len(axis.values) for axis in found.axes[:0:-1]), int.__mul__, initial=1
        )
        self.strides = dict(zip((axis.name for axis in reversed(found.axes)), strides, strict=True))
        for axis in found.axes:
            found.columns[axis.name] = self._column(axis)
        for name, spec in found.formula.outputs.items():
            found.columns[name] = self._empty(bool(spec.choices))
        for words in itertools.product(*(range(len(axis.values)) for axis in self.words)):
            self._words(words)
        found.notes, found.sources = tuple(self.notes), tuple(self.sources)

    def _column(self, axis: Axis) -> Any:
        """The values of an axis at every point."""
        stride, count = self.strides[axis.name], len(axis.values)
        if self.np is None:
            return [axis.values[point // stride % count] for point in range(self.found.size)]
        values = self.np.asarray(axis.values, dtype=float if axis.is_number else object)
        if count == self.found.size:
            return values
        return self.np.tile(self.np.repeat(values, stride), self.found.size // (stride * count))

    def _empty(self, words: bool) -> Any:
        if self.np is None:
            return [None if words else math.nan] * self.found.size
        return (
            self.np.full(self.found.size, None, object)
            if words
            else self.np.full(self.found.size, math.nan)
        )

    def _words(self, words: tuple[int, ...]) -> None:
        """All points that have these words."""
        chosen = {axis.name: axis.values[n] for axis, n in zip(self.words, words, strict=True)}
        places = {axis.name: n for axis, n in zip(self.words, words, strict=True)}
        points = self._points(places)
        try:  # what has nothing to do with the numbers is refused at once, not point by point
            resolved(self.found.formula.id, **self.found.fixed, **chosen, **self._harmless())
        except FlopbookError as error:
            return self._refuse(points, str(error))
        for axis in self.numbers:
            points = self._inside(axis, points)
        if len(points):
            self._block(chosen, points)

    def _harmless(self) -> dict[str, float]:
        """Numbers within their bounds."""
        specs = {axis.name: self.found.formula.inputs[axis.name] for axis in self.numbers}
        return {name: min(max(1.0, spec.least), spec.most) for name, spec in specs.items()}

    def _points(self, places: Mapping[str, int]) -> Any:
        counts = {axis.name: len(axis.values) for axis in self.found.axes}
        every = range(self.found.size) if self.np is None else self.np.arange(self.found.size)
        for name, place in places.items():
            stride, count = self.strides[name], counts[name]
            if self.np is None:
                every = [point for point in every if point // stride % count == place]
            else:
                every = every[every // stride % count == place]
        return every

    def _inside(self, axis: Axis, points: Any) -> Any:
        """The points whose value of an axis is within its bounds; the others are refused."""
        spec, name = self.found.formula.inputs[axis.name], axis.name.replace("_", "-")
        refused = {}
        for value in dict.fromkeys(axis.values) if self._outside(axis) else ():
            try:
                check_input(f"--{name}", spec, value)
            except FlopbookError as error:
                refused[value] = str(error)
        if not refused:
            return points
        column = self.found.column(axis.name)
        kept = []
        for point in points:
            if (reason := refused.get(column[point])) is None:
                kept.append(point)
            else:
                self._refuse([point], reason)
        return kept if self.np is None else self.np.array(kept, dtype=int)

    def _outside(self, axis: Axis) -> bool:
        if self.np is None:
            return True
        try:
            check_input(
                axis.name, self.found.formula.inputs[axis.name], self.np.asarray(axis.values)
            )
        except FlopbookError:
            return True
        return False

    def _refuse(self, points: Iterable[Any], reason: str) -> None:
        self.found.problems |= dict.fromkeys(map(int, points), reason)

    def _block(self, words: Mapping[str, Any], points: Any) -> None:
        """Compute points as arrays; where one of them is refused, halves, down to each alone."""
        alone = len(points) == 1
        if not alone and not self.arrays:
            for n in range(len(points)):
                self._block(words, points[n : n + 1])
            return
        column = self.found.columns
        place = int(points[0]) if alone else self._place(points)
        given = {axis.name: column[axis.name][place] for axis in self.numbers}
        given = {name: float(value) for name, value in given.items()} if alone else given
        try:
            with contextlib.nullcontext() if self.np is None else self.np.errstate(all="ignore"):
                result = calculate(self.found.formula.id, **self.found.fixed, **words, **given)
        except (FlopbookError, TypeError, ValueError) as error:
            if alone and isinstance(error, FlopbookError):
                self._refuse(points, str(error))
                return
            if alone:
                raise
            self.tries += 1
            if self.tries > MOST_TRIES:
                raise FlopbookError(
                    f"too many points are refused ({error}): sweep fewer of them"
                ) from None
            half = len(points) // 2
            self._block(words, points[:half])
            self._block(words, points[half:])
            return
        self._store(result, place)

    def _place(self, points: Any) -> Any:
        """Where points stand in the columns; all of them need no copy."""
        return slice(None) if len(points) == self.found.size else points

    def _store(self, result: Result, place: Any) -> None:
        for name, value in result.items():
            column = self.found.columns[name]
            if (
                isinstance(value, (str, tuple))
                and getattr(getattr(column, "dtype", None), "kind", "") == "f"
            ):
                # a text or a list, as a calculator in ordinary Python gives
                column = self.found.columns[name] = self._empty(words=True)
            if value is not None:
                column[place] = float(value) if isinstance(value, int) else value
        swept = {axis.name for axis in self.found.axes}
        fixed = {key: item for key, item in result.inputs.items() if key not in swept}
        if (
            self.notes or self.sources
        ):  # another block was there before: what differs between chips is not fixed
            fixed = {key: item for key, item in fixed.items() if self.found.inputs.get(key) == item}
        self.found.inputs = fixed
        self.notes |= dict.fromkeys(result.notes)
        self.sources |= dict.fromkeys(result.sources)
