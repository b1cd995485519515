"""Reads the numbers of a text: what each measures, in SI units, and how exactly it is written.

The page has the same functions in `docs/assets/flopbook/check/reading.js`; a test holds both equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from flopbook.factcheck import words

Span = tuple[int, int]
FLAGS = re.I | re.ASCII  # what letters and edges of words are, as in a browser
FINEST, COARSEST = 0.0005, 0.02  # how far a rounded figure may be from the value, at least and most
COARSEST_ROUND = 0.05  # the most where two digits or more were written: 1.4 for 1.44


class WrittenNumber(NamedTuple):
    """A number with its unit, and where it stands."""

    start: int
    end: int
    value: float
    slack: float
    cut: float
    place: float
    kind: str
    factor: float
    symbol: str
    binary: bool
    readings: tuple[WrittenNumber, ...] = ()

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.start, self.end


def numbers_of(text: str) -> list[WrittenNumber]:
    """All numbers of a text in their order, those with a whole unit and those where it is short."""
    numbers = [_lowered(text, one) for one in map(_number, _matches(words.NUMBER, text)) if one]
    spans = [number.span for number in numbers]
    for match in _matches(words.SHORT, text):
        short = None if meets(match.span(), spans) else _short_number(match)
        numbers += [short] if short else []
    return sorted(numbers, key=lambda number: number.start)


def _matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(pattern, text, FLAGS)


def _lowered(text: str, number: WrittenNumber) -> WrittenNumber:
    """A flow all in small letters, `3.35 tb/s`, may count bytes as well as bits."""
    spelling = re.search(words.LOWER_FLOW + "$", text[slice(*number.span)], re.ASCII)
    if spelling is None:
        return number
    value = text[number.start : number.start + spelling.start()] + spelling.group()[0]
    byte = next(map(_number, _matches(words.NUMBER, f"{value}B/s")), None)
    if byte is None:
        return number
    byte = byte._replace(start=number.start, end=number.end)
    return number._replace(readings=(byte, number))


def _short_number(match: re.Match[str]) -> WrittenNumber | None:
    """A number whose unit is cut short, with all that it may be."""
    integer, decimals, blank, prefix, bit = (group or "" for group in match.groups())
    is_small = prefix.islower()
    if is_small and not bit and (blank or prefix not in words.SHORT_SMALL):
        return None
    spellings = words.SHORT_UNITS.get((prefix + bit).lower(), ())
    number = (integer, decimals, "", prefix, "")
    found = [_made((*number, spelling), match.span()) for spelling in spellings]
    readings = tuple(one for one in found if one)
    if bit == "B" or not readings:
        return None
    return readings[0]._replace(readings=readings)


def _number(match: re.Match[str]) -> WrittenNumber | None:
    return _made(tuple(group or "" for group in match.groups()), match.span())


def _made(groups: tuple[str, ...], span: Span) -> WrittenNumber | None:
    """A number from the groups of the pattern, for a unit that is known."""
    integer, decimals, power, prefix, binary, spelling = groups
    # `70B` without more is no memory: the parameters of a model.
    unit = None if not prefix and spelling in ("b", "B") else _unit(spelling)
    if unit is None:
        return None
    kind, size, symbol = unit
    thousands = words.PREFIXES[prefix.lower()]
    factor = thousands * size
    if binary:
        factor = 1024.0 ** (len(f"{thousands:.0f}") // 3) * size
    unit_factor = size if kind == "price" else factor  # no kilodollars
    integer = integer.replace(",", "")
    digits = float(integer + decimals)
    scale = factor * 10.0 ** int(power[1:] or "0")
    slack, cut, place = (bound * scale for bound in _slack(integer, decimals, digits))
    shown = _symbol(prefix.lower(), symbol, binary)
    amount = (digits * scale, slack, cut, place)
    return WrittenNumber(*span, *amount, kind, unit_factor, shown, bool(binary))


def _symbol(prefix: str, symbol: str, binary: str) -> str:
    """The unit as answers write it: TFLOP/s, GiB, billion transistors."""
    if symbol == "transistors":
        return f"{words.SIZES[prefix]}{symbol}"
    if symbol == "USD":
        return symbol
    return f"{words.LETTERS[prefix]}{'i' if binary else ''}{symbol}"


def _slack(whole: str, decimals: str, digits: float) -> tuple[float, float, float]:
    """How far a number may be from what it rounds, and below what it was cut off from.

    Half of the last place that is written, and the whole of it, within what people round to; then
    that place itself.
    """
    zeros = len(whole) - len(whole.rstrip("0"))
    place = 10.0 ** -(len(decimals) - 1) if decimals else 10.0**zeros
    written = (whole + decimals).replace(".", "").strip("0")
    coarsest = COARSEST if len(written) < 2 else COARSEST_ROUND
    slack = min(max(place / 2, FINEST * digits), coarsest * digits)
    return slack, max(slack, min(place, COARSEST * digits)), place


def _unit(spelling: str) -> tuple[str, float, str] | None:
    """What a spelling measures; a lone b is a bit where it is small and a byte where not."""
    if spelling[:1] in "bB" and not re.match(r"by|bi", spelling, FLAGS):
        spelling = ("bit" if spelling[0] == "b" else "byte") + spelling[1:]
    for pattern, kind, size, symbol in words.UNITS:
        if re.fullmatch(pattern, spelling, FLAGS):
            return kind, size, symbol or spelling
    return None


def has_letter(text: str, number: WrittenNumber) -> bool:
    """Whether a number has one letter for a unit."""
    return bool(number.readings) and text[number.end - 2 : number.end - 1].isdigit()


def meets(span: Span, others: Iterable[Span]) -> bool:
    """Whether a span shares a letter with one of others."""
    return any(start < span[1] and span[0] < end for start, end in others)
