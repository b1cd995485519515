"""Units and quantities: what a unit is worth in SI, and how people write amounts.

A unit has a factor to SI and dimensions over FLOP, byte, second, joule, metre,
kilogram and US dollar. Counts (token, parameter, chip) are dimensionless labels. Nothing is
guessed: `GB` is 1e9 bytes, `GiB` is 2**30, `Gbit` is 1e9 / 8 bytes.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import NamedTuple

from flopbook.errors import printable, shorten

# Whether amounts of bytes are shown with binary prefixes where nothing else is said: the switch of
# a whole command.
BINARY: ContextVar[bool] = ContextVar("BINARY", default=False)

Dimensions = tuple[tuple[str, int], ...]


class UnitError(ValueError):
    """A unit is unknown or does not fit what was asked for."""


class Unit(NamedTuple):
    """A unit: `value * factor` is the value in SI; `si` is the SI unit's name."""

    name: str
    factor: float
    si: str
    dimensions: Dimensions = ()


PREFIXES: Mapping[str, float] = {
    "": 1.0,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Z": 1e21,
    "Y": 1e24,
    "m": 1e-3,
    "u": 1e-6,
    "µ": 1e-6,
    "n": 1e-9,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
}

_DECIMAL_UP = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi")
_DOWN = ("", "m", "u", "µ", "n")

# What people write instead of a rate in SI: dollars for an hour, grams or litres for a
# kilowatt-hour.
CUSTOMARY: Mapping[str, tuple[str, float]] = {
    "USD/s": ("USD/h", 3600.0),
    "kg/J": ("g/kWh", 3.6e9),
    "m3/J": ("L/kWh", 3.6e9),
}

# base name -> (factor to SI, SI name, dimensions, prefixes that make sense with it)
_BASES: Mapping[str, tuple[float, str, Dimensions, tuple[str, ...]]] = {
    "FLOP": (1.0, "FLOP", (("FLOP", 1),), _DECIMAL_UP),
    "OP": (1.0, "OP", (("FLOP", 1),), _DECIMAL_UP),
    "B": (1.0, "byte", (("byte", 1),), _DECIMAL_UP + _BINARY),
    "bit": (0.125, "byte", (("byte", 1),), _DECIMAL_UP),
    "s": (1.0, "s", (("s", 1),), _DOWN),
    "W": (1.0, "W", (("J", 1), ("s", -1)), ("m", *_DECIMAL_UP)),
    "J": (1.0, "J", (("J", 1),), ("m", *_DECIMAL_UP)),
    "Wh": (3600.0, "J", (("J", 1),), ("", "k", "M", "G")),
    "Hz": (1.0, "Hz", (("s", -1),), _DECIMAL_UP),
}

_PLAIN: Mapping[str, tuple[float, str, Dimensions]] = {
    "FLOPs": (1.0, "FLOP", (("FLOP", 1),)),
    "byte": (1.0, "byte", (("byte", 1),)),
    "bytes": (1.0, "byte", (("byte", 1),)),
    "min": (60.0, "s", (("s", 1),)),
    "hour": (3600.0, "s", (("s", 1),)),
    "h": (3600.0, "s", (("s", 1),)),
    "day": (86400.0, "s", (("s", 1),)),
    "days": (86400.0, "s", (("s", 1),)),
    "year": (365 * 86400.0, "s", (("s", 1),)),  # a year of 365 days, as the sources count
    "years": (365 * 86400.0, "s", (("s", 1),)),
    "percent": (0.01, "1", ()),
    "%": (0.01, "1", ()),
    "1": (1.0, "1", ()),
    "ratio": (1.0, "1", ()),
    "USD": (1.0, "USD", (("USD", 1),)),
    "kg": (1.0, "kg", (("kg", 1),)),
    "g": (1e-3, "kg", (("kg", 1),)),
    "mm2": (1e-6, "m2", (("m", 2),)),
    "m2": (1.0, "m2", (("m", 2),)),
    "m3": (1.0, "m3", (("m", 3),)),
    "L": (1e-3, "m3", (("m", 3),)),
    "nm": (1e-9, "m", (("m", 1),)),
}

# Counts: dimensionless, but not interchangeable in an input (tokens are not chips).
_COUNTS: Mapping[str, tuple[str, ...]] = {
    "token": ("token", "tokens", "tok"),
    "param": ("param", "params", "parameter", "parameters"),
    "chip": ("chip", "chips", "packages"),
    "stage": ("stage", "stages"),
    "micro-batch": ("micro-batch", "micro-batches", "microbatch", "microbatches"),
    "link": ("link", "links"),
    "axis": ("axis", "axes"),
    "cycle": ("cycle", "cycles"),
    "PF-day": ("PF-day", "PF-days"),
    "chip-hour": ("chip-hour", "chip-hours"),
    "count": ("count",),
}
# What a bare suffix means after a count: 70B parameters, 15T tokens, 16M tokens.
_COUNT_SUFFIXES: Mapping[str, float] = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
# After a plain number B would be bytes, and nothing that is counted so reaches a billion.
_PLAIN_SUFFIXES: Mapping[str, float] = {"k": 1e3, "K": 1e3, "M": 1e6}


def _simple_units() -> dict[str, Unit]:
    units = {
        prefix + base: Unit(prefix + base, PREFIXES[prefix] * factor, si, dims)
        for base, (factor, si, dims, prefixes) in _BASES.items()
        for prefix in prefixes
    }
    units |= {name: Unit(name, *rest) for name, rest in _PLAIN.items()}
    units |= {alias: Unit(alias, 1.0, si) for si, aliases in _COUNTS.items() for alias in aliases}
    return units


_UNITS = _simple_units()


def _combine(top: Dimensions, bottom: Dimensions) -> Dimensions:
    powers = dict(top)
    for name, power in bottom:
        powers[name] = powers.get(name, 0) - power
    return tuple(sorted((n, p) for n, p in powers.items() if p))


@functools.cache
def unit(name: str) -> Unit:
    """Look a unit up by name; `a/b` is built from its parts, `bps` spellings included.

    Raises UnitError with the nearest names when the unit is unknown.
    """
    if name in _UNITS:
        return _UNITS[name]
    if match := re.fullmatch(r"([kMGT]?)(bps|Bps)", name):  # Gbps, GBps as vendors print them
        return unit(f"{match[1]}{'bit' if match[2] == 'bps' else 'B'}/s")
    top, slash, bottom = name.partition("/")
    if slash and top in _UNITS and bottom in _UNITS:
        over, under = _UNITS[top], _UNITS[bottom]
        si = f"{over.si}/{under.si}"
        return Unit(
            name, over.factor / under.factor, si, _combine(over.dimensions, under.dimensions)
        )
    raise UnitError(f"unknown unit '{_short(name)}'{_hint(name, _UNITS)}")


def _hint(name: str, known: Iterable[str]) -> str:
    """The units that a misspelt one may mean: those that differ in case or slash alone, else the
    nearest.
    """
    import difflib

    plain: dict[str, list[str]] = {}
    for spelt in known:
        plain.setdefault(spelt.replace("/", "").lower(), []).append(spelt)
    wanted = name[:40].replace("/", "").lower()
    near = plain.get(wanted)
    if near is None:
        near = [plain[key][0] for key in difflib.get_close_matches(wanted, plain, n=3, cutoff=0.5)]
    return f"; did you mean {', '.join(near)}?" if near else ""


def _fitting(expected: str) -> list[str]:
    """The units that measure the same as the expected one, in the singular."""
    top, slash, bottom = expected.partition("/")
    wanted = _UNITS[top]
    same = [
        n
        for n, u in _UNITS.items()
        if u.dimensions == wanted.dimensions and (u.dimensions or u.si == wanted.si)
    ]
    return [f"{name}{slash}{bottom}" for name in same if name[-1] != "s" or name[:-1] not in _UNITS]


def to_si(value: float, name: str) -> float:
    """Convert a value in the named unit to SI (FLOP/s, byte/s, byte, s, W, ...)."""
    return value * unit(name).factor


_NUMBER = r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?"


def parse_quantity(text: str, expected: str) -> float:
    """Read an amount as people write it and return it in the SI unit `expected`.

    `80GB`, `80 GiB`, `3.35TB/s`, `400Gbit/s`, `989TFLOP/s`, `15T`, `70B`, `1.5e13` and bare
    numbers (taken to be in `expected` already) are accepted.

    >>> parse_quantity("80GB", "byte"), parse_quantity("400Gbit/s", "byte/s")
    (80000000000.0, 50000000000.0)

    Raises UnitError saying what was found and what would fit.
    """
    stripped = text.strip()
    match = re.match(_NUMBER, stripped)
    if match is None:
        raise UnitError(f"'{_short(text)}' is not a quantity; write {_wanted(expected)}")
    suffix = stripped[match.end() :].strip()
    if suffix.startswith(","):
        raise UnitError(
            f"'{_short(text)}' has a comma; write thousands without a mark and decimals with a point"
        )
    value = float(match[0].replace("_", "")) * _suffix_factor(suffix, expected, stripped)
    if not math.isfinite(value):
        raise UnitError(f"'{_short(text)}' is too large to be a quantity")
    return value


# What a data sheet adds to the rate of a link, and how much of the amount goes one way.
WAYS: Mapping[str, float] = {" both ways": 0.5, " both": 0.5, " one way": 1.0, " one-way": 1.0}


def one_way(text: str) -> tuple[str, float]:
    """An amount without the words that say its direction, and which part of it goes one way.

    >>> one_way("900GB/s both ways"), one_way("450 GB/s one-way"), one_way("450GB/s")
    (('900GB/s', 0.5), ('450 GB/s', 1.0), ('450GB/s', 1.0))
    """
    stripped = text.strip()
    found = next((words for words in WAYS if stripped.endswith(words)), None)
    return (text, 1.0) if found is None else (stripped.removesuffix(found), WAYS[found])


def is_bare(text: str) -> bool:
    """True for a number without unit or suffix."""
    return re.fullmatch(_NUMBER, text.strip()) is not None


def _suffix_factor(suffix: str, expected: str, text: str) -> float:
    if not suffix:
        return 1.0
    if expected in _COUNTS or expected == "1":
        letter, rest = suffix[0], suffix[1:].strip()
        suffixes = _COUNT_SUFFIXES if expected != "1" else _PLAIN_SUFFIXES
        if rest in ("", *_COUNTS.get(expected, ())):  # 16M, 16M tokens
            if letter in suffixes:
                return suffixes[letter]
            if letter.upper() in suffixes and suffix not in _UNITS:
                right = text[: len(text) - len(suffix)] + letter.upper() + suffix[1:]
                raise UnitError(
                    f"'{_short(text)}' has the suffix '{letter}'; write {_short(right)}"
                )
    elif suffix in PREFIXES and suffix != "m":  # 15T for an input in FLOP: fifteen tera of it
        return PREFIXES[suffix]
    try:
        found = unit(suffix)
    except UnitError:
        hint = _hint(suffix, _fitting(expected))
        message = f"unknown unit '{_short(suffix)}'{hint} (expected {_example(expected)})"
        raise UnitError(f"'{_short(text)}': {message}") from None
    if found.si != expected and not _same_kind(found, expected):
        raise UnitError(
            f"'{_short(text)}' is in {found.si}, expected {expected}; write for example {_example(expected)}"
        )
    return found.factor


def _same_kind(found: Unit, expected: str) -> bool:
    """Units fit when they measure the same thing: OP/s for FLOP/s, but never chips for tokens."""
    wanted = unit(expected)
    return bool(found.dimensions) and found.dimensions == wanted.dimensions


def _short(text: str) -> str:
    return printable(shorten(text, 40))


_EXAMPLES: Mapping[str, str] = {
    "FLOP/s": "989TFLOP/s",
    "byte/s": "3.35TB/s or 400Gbit/s",
    "byte": "80GB or 80GiB",
    "token": "15T or 1.5e13",
    "param": "70B or 7e10",
    "FLOP": "3.8e25FLOP",
    "s": "20s",
    "W": "700W",
    "byte/param": "2",
    "USD/s": "2USD/h",
    "kg/J": "400g/kWh",
}


def _wanted(expected: str) -> str:
    """What to write for an expected unit."""
    if expected not in _EXAMPLES:
        return _example(expected)
    kind = "a number" if expected in _COUNTS or expected == "byte/param" else "a number and a unit"
    return f"{kind} such as {_example(expected)}"


def _example(expected: str) -> str:
    return _EXAMPLES.get(
        expected, f"a plain number ({expected})" if expected != "1" else "a plain number"
    )


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
    if math.isinf(value):
        return "unlimited" if value > 0 else "-unlimited"
    if math.isnan(value):
        return "undefined"
    if unit_name in CUSTOMARY:
        unit_name, factor = CUSTOMARY[unit_name]
        value *= factor
    head, slash, tail = unit_name.partition("/")
    if head == "1":
        return _digits(value, digits)
    if (head in _COUNTS or head == "USD") and not slash:
        return f"{_count(value, digits)} {plural(head, value)}"
    if (
        (BINARY.get() if binary is None else binary)
        and head == "byte"
        and tail != "s"
        and 1024 <= abs(value) < 2**60
    ):
        name = next(
            name
            for name in ("PiB", "TiB", "GiB", "MiB", "KiB")
            if abs(value) >= _UNITS[name].factor
        )
        return f"{_digits(value / _UNITS[name].factor, digits)} {name}{slash}{tail}"
    symbol = "B" if head == "byte" else head
    if symbol in ("FLOP", "OP", "B", "W", "J", "Hz") and abs(value) >= 1000:
        prefix, factor = _prefix(abs(value))
        return f"{_digits(value / factor, digits)} {prefix}{symbol}{slash}{tail}"
    if unit_name == "s":
        return _seconds(value, digits)
    return f"{_digits(value, digits)} {head if slash else plural(head, value)}{slash}{tail}"


def _prefix(value: float) -> tuple[str, float]:
    for name in ("E", "P", "T", "G", "M", "k"):
        if value >= PREFIXES[name]:
            # Beyond exa the powers of ten say more than "3.15e+05 E".
            return (name, PREFIXES[name]) if value < 1e22 else ("", 1.0)
    return "", 1.0


def _digits(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        text = f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"
        return f"{value:,.0f}" if "e" in text else text
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def _count(value: float, digits: int) -> str:
    for factor, name in ((1e15, ""), (1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if abs(value) >= factor:
            return f"{_digits(value / factor, digits)} {name}" if name else _digits(value, digits)
    return _digits(value, digits)


def plural(head: str, value: float) -> str:
    """A unit's name after a value: 1 token, 2 tokens, 3 years; symbols such as GB stay as they are."""
    if head in ("year", "day", "hour"):
        return head if value == 1 else f"{head}s"
    if head not in _COUNTS:
        return head
    return head if value == 1 else _COUNTS[head][1] if len(_COUNTS[head]) > 1 else head


def _seconds(value: float, digits: int) -> str:
    for size, name in (
        (365 * 86400, "year"),
        (86400, "day"),
        (3600, "h"),
        (1, "s"),
        (1e-3, "ms"),
        (1e-6, "µs"),
    ):
        if abs(value) >= size:
            return f"{_digits(value / size, digits)} {plural(name, value / size)}"
    return f"{_digits(value * 1e9, digits)} ns" if value else "0 s"
