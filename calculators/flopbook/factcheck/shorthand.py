"""Finds what a number whose unit is cut short is of: 989T is a rate, 3.35T a bandwidth, 80G memory.

The page has the same functions in `docs/assets/flopbook/check/shorthand.js`; a test holds both
equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flopbook.factcheck.facts import FiledFact
from flopbook.factcheck.matching import Look, is_close, matches, matches_of_others
from flopbook.factcheck.reading import StatedNumber, Unreadable
from flopbook.factcheck.words import SHORT_NEAR
from flopbook.quantities.units import format_quantity

NETWORK = "scaleout_bandwidth"  # whose rates are written without a unit in bits: 400G


def meant(statement: StatedNumber, look: Look) -> StatedNumber:
    """A number with the unit that it is short for, if that is plain.

    What is on file decides first, then the words beside the number, then what is nearly its size.
    Raises Unreadable, which names what it may be.
    """
    if not statement.readings:
        return statement
    readings = _usual(statement.readings)
    if len(readings) == 1:
        return _alone(readings[0])
    tests: tuple[Callable[[StatedNumber], bool], ...] = (
        lambda one: any(is_close(one, value) for value in _values(one, look, one.field)),
        lambda one: any(is_close(one, value) for value in _values(one, look)),
        lambda one: one.is_named,
        lambda one: any(_is_elsewhere(one, name, look) for name in one.chips),
        lambda one: any(_is_near(one, value) for value in _values(one, look)),
    )
    left = readings
    for test in tests:
        left = [one for one in left if test(one)] or left
        if len(left) == 1:
            return left[0]
    names = [in_words(one) for one in left]
    listed = f"{', '.join(names[:-1])} or {names[-1]}"
    raise Unreadable("short", stated=_letter(statement), readings=listed)


def in_words(statement: StatedNumber) -> str:
    """The number as an answer writes it: 989 TFLOP/s."""
    return f"{format_quantity(statement.value / statement.factor, '1')} {statement.symbol}"


def _usual(readings: tuple[StatedNumber, ...]) -> list[StatedNumber]:
    """The readings, of a network in bits."""
    return [
        one._replace(
            value=one.value / 8,
            slack=one.slack / 8,
            cut=one.cut / 8,
            place=one.place / 8,
            factor=one.factor / 8,
            symbol=one.symbol.replace("B/s", "bit/s"),
        )
        if one.field == NETWORK and one.symbol.endswith("B/s")
        else one
        for one in readings
    ]


def _alone(reading: StatedNumber) -> StatedNumber:
    """The only reading; thousands are dollars only where the text speaks of money."""
    if reading.kind == "price" and not reading.is_named:
        raise Unreadable("number")
    return reading


def _is_elsewhere(statement: StatedNumber, name: str, look: Look) -> bool:
    """Whether a number is one of a system around the chip, or of another of its family."""
    around = (matches, matches_of_others)
    return any(search(statement, look(name), look) for search in around)


def _values(statement: StatedNumber, look: Look, field: str = "") -> Iterator[float]:
    """What is on file of the chips in the kind of a number, for one and for as many as it says.

    With a `field` only the values of that one.
    """
    for name in statement.chips:
        facts: tuple[FiledFact, ...] = look(name).facts
        for fact in facts:
            if fact.kind == statement.kind and field in ("", fact.field):
                yield fact.value
                yield fact.value * statement.times


def _is_near(statement: StatedNumber, value: float) -> bool:
    return value < SHORT_NEAR * statement.value and statement.value < SHORT_NEAR * value


def _letter(statement: StatedNumber) -> str:
    """The number with the letter alone: 700T."""
    return f"{format_quantity(statement.value / statement.factor, '1')}{statement.symbol[0]}"
