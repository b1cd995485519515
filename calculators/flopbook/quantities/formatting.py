"""Writes SI values for people: four significant digits and a readable prefix."""

from __future__ import annotations

import math
from contextvars import ContextVar

from flopbook.quantities.unit_table import COUNTS, CUSTOMARY, PREFIXES, UNITS, unit

# Whether amounts of bytes are shown with binary prefixes where nothing else is said: the switch of
# a whole command.
BINARY: ContextVar[bool] = ContextVar("BINARY", default=False)

_WITH_PREFIX = ("FLOP", "OP", "B", "W", "J", "Hz")
_BINARY_BYTES = ("PiB", "TiB", "GiB", "MiB", "KiB")
_LARGEST_BINARY = 2**60  # above PiB, which is the last of them, decimal prefixes go on
_POWERS = (("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
# Beyond exa the powers of ten say more than "3.15e+05 E".
_LARGEST_WITH_PREFIX = 1e22
_TIMES = ((365 * 86400, "year"), (86400, "day"), (3600, "h"), (1, "s"), (1e-3, "ms"), (1e-6, "µs"))
# From which time on an answer also has it in these units.
_BESIDE_TIMES = (
    (365 * 86400, ("day", "h")),
    (86400, ("h", "s")),
    (3600, ("s",)),
    (60, ("min",)),
)
_KILOWATT_HOUR = 3.6e6  # joules; below it nobody bills energy
_LARGE_COUNTS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_LARGEST_NAMED_COUNT = 1e15


def two_digits(value: float, unit_name: str) -> str:
    """An SI value rounded as people say it, whole thousands too, where `digits` only cuts off.

    >>> two_digits(206_600, "byte"), format_quantity(206_600, "byte", digits=2)
    ('210 kB', '207 kB')
    """
    return format_quantity(float(f"{value:.2g}"), unit_name)


def format_quantity(
    value: float | None, unit_name: str, *, binary: bool | None = None, digits: int = 4
) -> str:
    """Write an SI value for people: so many significant digits and a readable prefix.

    `binary` writes bytes with binary prefixes, by default as BINARY says; bandwidths stay decimal,
    as they are sold.

    >>> format_quantity(3.35e12, "byte/s"), format_quantity(295.34, "token")
    ('3.35 TB/s', '295.3 tokens')
    >>> format_quantity(80e9, "byte"), format_quantity(80e9, "byte", binary=True)
    ('80 GB', '74.51 GiB')
    """
    if value is None:
        return "not available"
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "unlimited" if value > 0 else "-unlimited"
    if unit_name in CUSTOMARY:
        unit_name, factor = CUSTOMARY[unit_name]
        value *= factor
    head, slash, per = unit_name.partition("/")
    if head == "1":
        return _number(value, digits)
    if not slash and (head in COUNTS or head == "USD"):
        return f"{_count(value, digits)} {plural(head, value)}"
    if unit_name == "s":
        return _seconds(value, digits)
    if head == "byte" and per != "s" and _is_binary(value, binary):
        return f"{_binary_bytes(value, digits)}{slash}{per}"
    symbol = "B" if head == "byte" else head
    if symbol in _WITH_PREFIX and abs(value) >= 1000:
        return f"{_with_prefix(value, symbol, digits)}{slash}{per}"
    # After a slash the unit belongs to what it is divided by: 2 byte/param, not 2 bytes/param.
    name = head if slash else plural(head, value)
    return f"{_number(value, digits)} {name}{slash}{per}"


def other_units(value: float, unit_name: str, *, digits: int = 4) -> str:
    """The same amount in the units that people use beside the one that is shown; empty for none.

    >>> other_units(1.6e12, "J"), other_units(2.59e6, "s"), other_units(90, "s")
    ('444.4 MWh', '719.4 h; 2.59e6 s', '1.5 min')
    """
    if not math.isfinite(value):
        return ""
    if unit_name == "J" and value >= _KILOWATT_HOUR:
        return _with_prefix(value / UNITS["Wh"].factor, "Wh", digits)
    if unit_name == "kg" and value >= 1000:
        return f"{_number(value / 1000, digits)} t"
    if unit_name != "s":
        return ""
    names = next((names for size, names in _BESIDE_TIMES if value >= size), ())
    return "; ".join(in_unit(value, name, digits=digits) for name in names)


def in_unit(value: float, name: str, *, digits: int = 4) -> str:
    """Write an SI value in a unit that is named, whatever its size.

    >>> in_unit(1.307e15, "TFLOP/s")
    '1,307 TFLOP/s'
    """
    amount = value / unit(name).factor
    return f"{_number(amount, digits)} {plural(name, amount)}"


def percent(share: float, digits: int = 0, *, signed: bool = False) -> str:
    """A share, 1 for all, as a sentence says it: "16 %", with a blank as before any other unit.

    `digits` are those behind the point; a `signed` share shows its plus, and zero has no sign.
    """
    rounded = round(100 * share, digits) or 0.0
    return f"{rounded:{'+' if signed and rounded else ''}.{digits}f} %"


def plural(head: str, value: float) -> str:
    """A unit's name after a value: 1 token, 2 tokens, 590 bytes; symbols such as GB stay."""
    if value == 1:
        return head
    if head in ("year", "day", "hour", "byte"):
        return f"{head}s"
    names = COUNTS.get(head, ())
    return names[1] if len(names) > 1 else head


def _is_binary(value: float, binary: bool | None) -> bool:
    asked = BINARY.get() if binary is None else binary
    return asked and 1024 <= abs(value) < _LARGEST_BINARY


def _binary_bytes(value: float, digits: int) -> str:
    name = next(name for name in _BINARY_BYTES if abs(value) >= UNITS[name].factor)
    return f"{_number(value / UNITS[name].factor, digits)} {name}"


def _with_prefix(value: float, symbol: str, digits: int) -> str:
    """A value of at least a thousand, with the largest prefix that fits."""
    if abs(value) >= _LARGEST_WITH_PREFIX:
        return f"{_number(value, digits)} {symbol}"
    prefix = next(name for name, size in _POWERS if abs(value) >= size)
    return f"{_number(value / PREFIXES[prefix], digits)} {prefix}{symbol}"


def _number(value: float, digits: int) -> str:
    """A number with so many significant digits; those before the point are never rounded away."""
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    text = f"{value:,.{digits}g}"
    # Python writes 123456 with four digits as 1.235e+05.
    return f"{value:,.0f}" if abs(value) >= 10**digits or "e" in text else text


def _count(value: float, digits: int) -> str:
    if abs(value) < _LARGEST_NAMED_COUNT:
        for size, name in _LARGE_COUNTS:
            if abs(value) >= size:
                return f"{_number(value / size, digits)} {name}"
    return _number(value, digits)


def _seconds(value: float, digits: int) -> str:
    if value == 0:
        return "0 s"
    for size, name in _TIMES:
        if abs(value) >= size:
            return f"{_number(value / size, digits)} {plural(name, value / size)}"
    return f"{_number(value * 1e9, digits)} ns"
