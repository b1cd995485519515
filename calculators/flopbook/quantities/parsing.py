"""Reads amounts as people write them: `80GB`, `3.35TB/s`, `70B` parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from flopbook.quantities.unit_table import (
    COUNT_SUFFIXES,
    COUNTS,
    PLAIN_SUFFIXES,
    PREFIXES,
    UNITS,
    VENDOR_RATES,
    Unit,
    UnitError,
    hint,
    known_unit,
    short,
    unit,
)

# Digits with or without a point, underscores between them, and an exponent.
_NUMBER = re.compile(r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?")

# A unit such as Gb, without the time that makes it a rate.
_SMALL_B = re.compile(r"([kMGT]?)b")

# What a data sheet adds to the rate of a link, and how much of the amount goes one way.
WAYS: Mapping[str, float] = {" both ways": 0.5, " both": 0.5, " one way": 1.0, " one-way": 1.0}

# As an output it is a count; as an input it is work, a day at 1 PFLOP/s.
PF_DAY = "PF-day"

_EXAMPLES: Mapping[str, str] = {
    "FLOP/s": "989TFLOP/s",
    "byte/s": "3.35TB/s or 400Gb/s",
    "byte": "80GB or 80GiB",
    "token": "8192, 128k or 15T",
    "param": "70B or 7e10",
    "FLOP": "3.8e25FLOP",
    "s": "20s",
    "W": "700W",
    "byte/param": "2",
    "USD/s": "2USD/h",
    "kg/J": "400g/kWh",
    "1": "a plain number",
}


def parse_quantity(text: str, expected: str) -> float:
    """Read an amount as people write it and return it in the SI unit `expected`.

    `80GB`, `80 GiB`, `3.35TB/s`, `400Gb/s`, `989TFLOP/s`, `15T`, `128Ki`, `1.5e13` and bare numbers
    (taken to be in `expected` already) are accepted.

    >>> parse_quantity("80GB", "byte"), parse_quantity("400Gbit/s", "byte/s")
    (80000000000.0, 50000000000.0)

    Raises UnitError saying what was found and what would fit.
    """
    stripped = text.strip()
    match = _NUMBER.match(stripped)
    if match is None:
        raise UnitError(f"'{short(text)}' is not a quantity; write {_wanted(expected)}")
    suffix = stripped[match.end() :].strip()
    if suffix.startswith(","):
        advice = "write thousands without a mark and decimals with a point"
        raise UnitError(f"'{short(text)}' has a comma; {advice}")
    value = float(match[0].replace("_", "")) * _suffix_factor(suffix, expected, stripped)
    if not math.isfinite(value):
        raise UnitError(f"'{short(text)}' is too large to be a quantity")
    return value


def one_way(text: str) -> tuple[str, float]:
    """An amount without the words that say its direction, and which part of it goes one way.

    >>> one_way("900GB/s both ways"), one_way("450 GB/s one-way"), one_way("450GB/s")
    (('900GB/s', 0.5), ('450 GB/s', 1.0), ('450GB/s', 1.0))
    """
    stripped = text.strip()
    for direction, share in WAYS.items():
        if stripped.endswith(direction):
            return stripped.removesuffix(direction), share
    return text, 1.0


def is_bare(text: str) -> bool:
    """True for a number without unit or suffix."""
    return _NUMBER.fullmatch(text.strip()) is not None


def _suffix_factor(suffix: str, expected: str, text: str) -> float:
    """What the suffix of an amount multiplies its number by. Raises UnitError."""
    if not suffix:
        return 1.0
    if expected in COUNTS or expected == "1":
        if factor := _count_factor(suffix, expected, text):
            return factor
    elif suffix in PREFIXES and suffix != "m":  # 15T for an input in FLOP: fifteen tera of it
        if expected == "byte/s":
            number = short(text.removesuffix(suffix).strip())
            either = f"{number}{suffix}B/s (bytes) or {number}{suffix}b/s (bits)"
            raise UnitError(f"'{short(text)}' may be bytes or bits; write {either}")
        return PREFIXES[suffix]
    return _fitting_unit(suffix, expected, text).factor


def _count_factor(suffix: str, expected: str, text: str) -> float | None:
    """The factor of a letter after a count (16M, 16M tokens); None where it is a unit."""
    letters = PLAIN_SUFFIXES if expected == "1" else COUNT_SUFFIXES
    heads = (suffix[:2], suffix[0])  # Ki before K
    letter = next((head for head in heads if head.capitalize() in letters), suffix[0])
    name = suffix.removeprefix(letter).strip()
    if name not in ("", *COUNTS.get(expected, ())):
        return None
    if letter not in letters and letter.capitalize() in letters and suffix not in UNITS:
        corrected = text.removesuffix(suffix) + letter.capitalize() + suffix.removeprefix(letter)
        raise UnitError(f"'{short(text)}' has the suffix '{letter}'; write {short(corrected)}")
    return letters.get(letter)


def _fitting_unit(suffix: str, expected: str, text: str) -> Unit:
    """The unit that an amount is in, if it measures what is expected. Raises UnitError."""
    written = known_unit(suffix)
    if written is None:
        if better := _bits_or_bytes(text, suffix, expected):
            raise UnitError(f"'{short(text)}': unknown unit '{short(suffix)}'; write {better}")
        near = hint(suffix, _units_for(expected))
        message = f"unknown unit '{short(suffix)}'{near} (expected {_example(expected)})"
        raise UnitError(f"'{short(text)}': {message}")
    if expected == "FLOP" and written.si == PF_DAY:
        return unit(f"PFLOP/s-{suffix.removeprefix('PF-')}")
    if written.si != expected and not _measures(written, expected):
        raise UnitError(
            f"'{short(text)}' is in {written.si}, expected {expected}; write "
            f"{_as_rate(text, suffix, expected) or f'for example {_example(expected)}'}"
        )
    return written


def _as_rate(text: str, suffix: str, expected: str) -> str:
    """The same amount in each second, a price in each hour, where such a rate is expected."""
    rate = known_unit(f"{suffix}/s")
    if rate is None:
        return ""
    time = "h" if expected == "USD/s" else "s"
    return f"{short(text)}/{time}" if _measures(rate, expected) else ""


def _bits_or_bytes(text: str, suffix: str, expected: str) -> str:
    """What to write for a small b, which is a bit in a rate and either in an amount; else empty."""
    match = _SMALL_B.fullmatch(suffix)
    if match is None or expected not in ("byte", "byte/s"):
        return ""
    number = short(text.removesuffix(suffix).strip())
    if expected == "byte/s":
        return f"{number}{match[1]}bit/s"
    return f"{number}{match[1]}B (bytes) or {number}{match[1]}bit (bits)"


def _measures(written: Unit, expected: str) -> bool:
    """Units fit when they measure the same thing: OP/s for FLOP/s, but never chips for tokens."""
    return bool(written.dimensions) and written.dimensions == unit(expected).dimensions


def _units_for(expected: str) -> list[str]:
    """The units that measure the same as the expected one, in the singular."""
    top, slash, bottom = expected.partition("/")
    measure = UNITS[top]
    names = []
    for name, candidate in UNITS.items():
        same_kind = candidate.dimensions == measure.dimensions
        # All counts have no dimensions, so they are told apart by name.
        same_count = bool(candidate.dimensions) or candidate.si == measure.si
        is_plural = name[-1] == "s" and name[:-1] in UNITS
        if same_kind and same_count and not is_plural:
            names.append(f"{name}{slash}{bottom}")
    return [*names, *VENDOR_RATES] if expected == "byte/s" else names


def _wanted(expected: str) -> str:
    """What to write for an expected unit."""
    example = _example(expected)
    if expected not in _EXAMPLES or expected == "1":
        return example
    is_plain = expected in COUNTS or expected == "byte/param"
    return f"{'a number' if is_plain else 'a number and a unit'} such as {example}"


def _example(expected: str) -> str:
    return _EXAMPLES.get(expected, f"a plain number ({expected})")
