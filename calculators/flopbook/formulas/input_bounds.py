"""Whether a value fits the input of a formula: its bounds, its words, its length."""

from __future__ import annotations

import math
from typing import Any

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.formulas.description import ABSURDLY_SMALL, Input

LEAST_PERCENT, PERCENT = 2, 100  # 1.5 is a slip rather than 1.5 %
LONGEST_TEXT = 2000


def check_input(name: str, spec: Input, value: Any, is_default: bool = False) -> None:
    """Raise FlopbookError unless a value (float, array or text) fits its input."""
    if spec.choices:
        if not isinstance(value, str) or value not in spec.choices:
            raise UnknownName(name.replace("_", "-"), str(value), spec.choices)
        return
    if spec.text:
        return _check_text(name, value)
    if is_default or _is_plausible(spec, value):
        return
    try:
        low, high = _range(value)
    except (TypeError, ValueError, OverflowError):
        raise FlopbookError(
            f"{name} is '{shorten(value)}', expected a number{_in(spec.unit)}"
        ) from None
    if math.isnan(low) or math.isnan(high):
        raise FlopbookError(f"{name} is not a number")
    _check_low(name, spec, low)
    if high > spec.most:
        bound = f"at most {spec.most:g}{_in(spec.unit)}"
        # A share as people say it: 40 for 40 %.
        if spec.most == 1 and spec.unit == "1" and LEAST_PERCENT <= high <= PERCENT:
            bound += f"; write {high:.15g}%"
        raise FlopbookError(
            f"{name} is {high:.15g}, which is not a plausible size; expected {bound}"
        )
    if spec.whole and not _all_whole(value):
        raise FlopbookError(f"{name} is {low!r}, expected a whole number{_in(spec.unit)}")


def _is_plausible(spec: Input, value: Any) -> bool:
    """Whether a value is one float that is certainly right; most are, and need no closer look."""
    if type(value) is not float or not spec.least <= value <= spec.most:
        return False
    return value >= ABSURDLY_SMALL and (not spec.whole or value.is_integer())


def _range(value: Any) -> tuple[float, float]:
    """The least and the largest of an array, or a number twice."""
    0.0 + value  # a text or a list is no number, even where float() would take it
    if hasattr(value, "min"):
        return float(value.min()), float(value.max())
    return float(value), float(value)


def _check_text(name: str, value: Any) -> None:
    """Raise FlopbookError unless a value is a text of plausible length; the formula reads it."""
    if not isinstance(value, str):
        raise FlopbookError(f"{name} is '{shorten(value)}', expected a text")
    if len(value) > LONGEST_TEXT:
        raise FlopbookError(
            f"{name} has {len(value):,} characters, at most {LONGEST_TEXT:,} are read"
        )


def _check_low(name: str, spec: Input, low: float) -> None:
    """Raise FlopbookError for a value below its bound; zero may stand for none of them."""
    if spec.none and low == 0:
        return
    if low < spec.least or (spec.least == 0 and low <= 0):
        bound = f"at least {spec.least:g}" if spec.least else "more than 0"
        raise FlopbookError(f"{name} is {low:.15g}, expected {bound}{_in(spec.unit)}")
    if low < ABSURDLY_SMALL:
        raise FlopbookError(
            f"{name} is {low:g}, which is not a plausible size; "
            f"expected at least {ABSURDLY_SMALL:g}"
        )


def _all_whole(value: Any) -> bool:
    """True when a float, or every element of an array, is a whole number."""
    if hasattr(value, "min"):
        return bool((value.round() == value).all())
    return float(value).is_integer()


def _in(unit: str) -> str:
    """The unit as a message adds it; a pure number has none."""
    return "" if unit == "1" else f" (unit {unit})"
