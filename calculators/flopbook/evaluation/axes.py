"""The axes of a sweep: the values of one input, as a list, an array or a range in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.evaluation.request import option_names, read_input
from flopbook.formulas.declaration import Formula, Input

MOST_POINTS = 1_000_000  # of one sweep, all axes together
STEPS = 10  # of a linear range without a count
READABLE = 1000  # points that people may look at
_FORM = "NAME=LOW:HIGH, NAME=LOW:HIGH:log or NAME=A,B,C"
_NUMERIC_KINDS = ("f", "i", "u")  # of a NumPy dtype: floats, integers, unsigned integers


class Axis(NamedTuple):
    """The values of one input in order, SI numbers or words; `log` where they are spaced so."""

    name: str
    values: Sequence[Any]
    unit: str
    log: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return bool(self.unit)


def make_axis(formula: Formula, name: str, values: Iterable[Any], log: bool = False) -> Axis:
    """An axis of these values, quantities read as the calculator reads them.

    Raises FlopbookError.
    """
    options = option_names(formula)
    if name not in options:
        raise UnknownName(f"option of {formula.id}", name, options)
    spec = formula.inputs.get(name)
    unit = spec.unit if spec is not None and spec.is_number else ""
    points: Any
    if unit and _is_numeric_array(values):
        # Already numbers in SI units, perhaps a million of them: no reading one by one.
        points = values.astype(float).ravel()  # type: ignore[attr-defined]  # NumPy is optional
    elif spec is None:
        points = list(values)
    else:
        points = [read_input(name, spec, value) for value in values]
        if unit:
            points = [_as_number(name, value) for value in points]
    if not len(points):
        raise FlopbookError(f"--sweep {name} has no values")
    return Axis(name, points, unit, log)


def _is_numeric_array(values: Iterable[Any]) -> bool:
    return getattr(getattr(values, "dtype", None), "kind", "") in _NUMERIC_KINDS


def _as_number(name: str, value: Any) -> float:
    # bool is an int to Python, and no quantity to anybody else.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FlopbookError(f"{name} is '{shorten(value)}', expected a number")
    return float(value)


def read_axis(formula: Formula, text: str) -> Axis:
    """An axis as people write it: `batch=64:65536:log`, `mfu=0.3:0.6:lin:7` or `dp=1,2,4`.

    A logarithmic range has a point for each doubling unless it says how many, a linear one eleven.
    Raises FlopbookError.
    """
    name, equals, values = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not values.strip():
        raise FlopbookError(f"--sweep is '{shorten(text)}', expected {_FORM}")
    spec = formula.inputs.get(name)
    # Words may hold colons ("2:4"), so only numbers have ranges.
    if spec is None or not spec.is_number or ":" not in values:
        # A text of its own may have commas, so semicolons separate several of them.
        has_text = spec is not None and bool(spec.text)
        separator = ";" if ";" in values or has_text else ","
        return make_axis(formula, name, [value.strip() for value in values.split(separator)])
    return _read_range(name, spec, text, values)


def _read_range(name: str, spec: Input, text: str, values: str) -> Axis:
    """A range of numbers: LOW:HIGH, then :log or :lin and how many points."""
    # The words may come in either order: log:7 or 7:log.
    low_text, high_text, *words = (word.strip() for word in values.split(":"))
    spacings = [word for word in words if word in ("log", "lin")]
    counts = [word for word in words if word.isdecimal()]
    if len(spacings) > 1 or len(counts) > 1 or len(spacings) + len(counts) != len(words):
        raise FlopbookError(
            f"--sweep is '{shorten(text)}', expected NAME=LOW:HIGH, then :log or :lin and a count"
        )
    low, high = read_input(name, spec, low_text), read_input(name, spec, high_text)
    log = spacings == ["log"]
    if log and min(low, high) <= 0:
        raise FlopbookError(f"--sweep {name}: a logarithmic range has to lie above 0")
    count = int(counts[0]) if counts else None
    if count is not None and not 2 <= count <= MOST_POINTS:
        raise FlopbookError(f"--sweep {name}: {counts[0]} points, expected 2 to {MOST_POINTS:,}")
    points = _log_range(low, high, count) if log else _linear_range(low, high, count, spec.whole)
    if spec.whole:  # points that round to the same whole number are one
        points = list(dict.fromkeys(float(round(point)) for point in points))
    return Axis(name, points, spec.unit, log)


def _log_range(low: float, high: float, count: int | None) -> list[float]:
    """Points evenly apart in the logarithm, from low to high, to twelve digits."""
    # A range within a factor of two still has its two ends.
    doublings = max(1, round(abs(math.log2(high / low))))
    steps = count - 1 if count else doublings
    inner = [_tidy(low * (high / low) ** (n / steps), steps) for n in range(1, steps)]
    return [low, *inner, high]


def _linear_range(low: float, high: float, count: int | None, whole: bool) -> list[float]:
    """Points evenly apart, from low to high; of a short range of whole numbers every one."""
    steps = count - 1 if count else STEPS
    if whole and not count and abs(high - low) < STEPS:
        steps = max(1, round(abs(high - low)))
    inner = [_tidy(low + (high - low) * n / steps, steps) for n in range(1, steps)]
    return [low, *inner, high]


def _tidy(point: float, steps: int) -> float:
    """A point without the noise of its last digits, where somebody will read it."""
    return float(f"{point:.12g}") if steps <= READABLE else point
