"""The units that flopbook knows: what each is worth in SI, and what it measures.

A unit has a factor to SI and dimensions over FLOP, byte, second, joule, metre, kilogram and US
dollar. Counts (token, parameter, chip) are dimensionless labels. Nothing is guessed: `GB` is 1e9
bytes, `GiB` is 2**30, `Gbit` is 1e9 / 8 bytes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flopbook.errors import printable, shorten

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

_FLOP: Dimensions = (("FLOP", 1),)
_BYTE: Dimensions = (("byte", 1),)
_SECOND: Dimensions = (("s", 1),)
_JOULE: Dimensions = (("J", 1),)

# base name -> (factor to SI, SI name, dimensions, prefixes that make sense with it)
_BASES: Mapping[str, tuple[float, str, Dimensions, tuple[str, ...]]] = {
    "FLOP": (1.0, "FLOP", _FLOP, _DECIMAL_UP),
    "OP": (1.0, "OP", _FLOP, _DECIMAL_UP),
    "B": (1.0, "byte", _BYTE, _DECIMAL_UP + _BINARY),
    "bit": (0.125, "byte", _BYTE, _DECIMAL_UP),
    "s": (1.0, "s", _SECOND, _DOWN),
    "W": (1.0, "W", (("J", 1), ("s", -1)), ("m", *_DECIMAL_UP)),
    "J": (1.0, "J", _JOULE, ("m", *_DECIMAL_UP)),
    "Wh": (3600.0, "J", _JOULE, ("", "k", "M", "G")),
    "Hz": (1.0, "Hz", (("s", -1),), _DECIMAL_UP),
}

_WITHOUT_PREFIX: Mapping[str, tuple[float, str, Dimensions]] = {
    "FLOPs": (1.0, "FLOP", _FLOP),
    "PFLOP/s-day": (1e15 * 86400, "FLOP", _FLOP),
    "PFLOP/s-days": (1e15 * 86400, "FLOP", _FLOP),
    "byte": (1.0, "byte", _BYTE),
    "bytes": (1.0, "byte", _BYTE),
    "min": (60.0, "s", _SECOND),
    "hour": (3600.0, "s", _SECOND),
    "h": (3600.0, "s", _SECOND),
    "day": (86400.0, "s", _SECOND),
    "days": (86400.0, "s", _SECOND),
    "year": (365 * 86400.0, "s", _SECOND),  # a year of 365 days, as the sources count
    "years": (365 * 86400.0, "s", _SECOND),
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
COUNTS: Mapping[str, tuple[str, ...]] = {
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
# What a bare suffix means after a count: 70B parameters, 15T tokens, 16M tokens, 128Ki tokens.
COUNT_SUFFIXES: Mapping[str, float] = {
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "B": 1e9,
    "G": 1e9,
    "T": 1e12,
}
# After a plain number B would be bytes, and nothing that is counted so reaches a billion.
PLAIN_SUFFIXES: Mapping[str, float] = {
    name: factor for name, factor in COUNT_SUFFIXES.items() if name not in "BGT"
}

# What people write instead of a rate in SI: dollars for an hour, grams or litres for a
# kilowatt-hour.
CUSTOMARY: Mapping[str, tuple[str, float]] = {
    "USD/s": ("USD/h", 3600.0),
    "kg/J": ("g/kWh", 3.6e9),
    "m3/J": ("L/kWh", 3.6e9),
}


def _simple_units() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for base, (factor, si, dimensions, prefixes) in _BASES.items():
        for prefix in prefixes:
            units[prefix + base] = Unit(prefix + base, PREFIXES[prefix] * factor, si, dimensions)
    for name, (factor, si, dimensions) in _WITHOUT_PREFIX.items():
        units[name] = Unit(name, factor, si, dimensions)
    for si, aliases in COUNTS.items():
        units |= {alias: Unit(alias, 1.0, si) for alias in aliases}
    return units


# Every unit that is no quotient, by each of its spellings.
UNITS: Mapping[str, Unit] = _simple_units()

# Rates of links as vendors print them: Gbps and Gb/s are bits, GBps bytes.
_VENDOR_RATE = re.compile(r"([kMGT]?)(bps|Bps|b/s)")
VENDOR_RATES = tuple(f"{prefix}{rate}" for prefix in "kMGT" for rate in ("b/s", "bps", "Bps"))


def unit(name: str) -> Unit:
    """Look a unit up by name, as `known_unit` does.

    Raises UnitError with the nearest names when the unit is unknown.
    """
    found = known_unit(name)
    if found is None:
        raise UnitError(f"unknown unit '{short(name)}'{hint(name, UNITS)}")
    return found


@functools.cache
def known_unit(name: str) -> Unit | None:
    """The unit of this name; `a/b` is built from its parts, `bps` and `b/s` included.

    None where there is none, which is quicker than a message that nobody reads.
    """
    if name in UNITS:
        return UNITS[name]
    if vendor := _VENDOR_RATE.fullmatch(name):
        return known_unit(f"{vendor[1]}{'B' if vendor[2] == 'Bps' else 'bit'}/s")
    top, slash, bottom = name.partition("/")
    if slash and top in UNITS and bottom in UNITS:
        return _quotient(name, UNITS[top], UNITS[bottom])
    return None


def _quotient(name: str, over: Unit, under: Unit) -> Unit:
    powers = dict(over.dimensions)
    for dimension, power in under.dimensions:
        powers[dimension] = powers.get(dimension, 0) - power
    dimensions = tuple(sorted((dimension, power) for dimension, power in powers.items() if power))
    return Unit(name, over.factor / under.factor, f"{over.si}/{under.si}", dimensions)


def to_si(value: float, name: str) -> float:
    """Convert a value in the named unit to SI (FLOP/s, byte/s, byte, s, W, ...)."""
    return value * unit(name).factor


def hint(name: str, candidates: Iterable[str]) -> str:
    """Which of the candidates a misspelt unit may mean, as the end of a message.

    Those that differ in case or slash alone come before those that are merely near.
    """
    import difflib  # only a wrong unit needs it

    spellings: dict[str, list[str]] = {}
    for candidate in candidates:
        spellings.setdefault(candidate.replace("/", "").lower(), []).append(candidate)
    wanted_spelling = name[:40].replace("/", "").lower()
    near = spellings.get(wanted_spelling)
    if near is None:
        matches = difflib.get_close_matches(wanted_spelling, spellings, n=3, cutoff=0.5)
        near = [spellings[match][0] for match in matches]
    return f"; did you mean {', '.join(near)}?" if near else ""


def short(text: str) -> str:
    """What a user wrote, as it goes into a message."""
    return printable(shorten(text, 40))
