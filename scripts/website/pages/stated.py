"""Words for the figures of a row of the ledger: what its source states, and what is computed."""

from __future__ import annotations

import math
import re

from flopbook.ledger.recomputation import recompute
from flopbook.ledger.rows import Row, Stated
from flopbook.quantities.units import format_quantity, plural, unit

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_UNNAMED = ("ratio", "1", "count")  # the statement says of what


def stated_words(stated: Stated, *, words_first: bool = False) -> str:
    """A stated figure as text: the number with its unit, or the words.

    Words come first where the slip is in them.
    """
    if stated.text and (stated.value is None or words_first):
        return stated.text
    if stated.value is None:
        return ""
    # As many digits as a source prints: a number of bytes may be stated to the last one.
    return _amount(stated.value, stated.unit, f"{stated.value:,.10g}", 10)


def said_words(row: Row) -> str:
    """What the source of a row states: its number, or its own words where the number is ours.

    Who reads "states 1" looks for a 1; a source that says "no overhead" has none.
    """
    number = stated_words(row.stated, words_first=row.verdict == "typo")
    if row.verdict == "typo" or row.stated.value is None or _has_number(row.stated):
        return number
    return f"“{row.stated.text}”, here {number}"


def _has_number(stated: Stated) -> bool:
    """Whether the quoted words have the number, with any prefix; so do rows without a quote."""
    numbers = [float(one.replace(",", "")) for one in _NUMBER.findall(stated.text)]
    wanted = [abs(stated.value or 0) * 10.0 ** (3 * power) for power in range(-5, 6)]
    return not stated.text or any(math.isclose(a, b) for a in numbers for b in wanted)


def computed_words(row: Row) -> str:
    """The recomputed value in the unit in which it was stated."""
    si_value = recompute(row.call)
    # A slip in words has no unit of its own; its correction has.
    stated = row.stated if row.stated.unit else row.corrected
    if stated is None or not stated.unit:
        return format_quantity(si_value, "1")
    amount = si_value / unit(stated.unit).factor
    return _amount(amount, stated.unit, format_quantity(amount, "1"), 4)


def _amount(amount: float, name: str, digits: str, precision: int) -> str:
    """An amount in the unit of its source, of which `digits` are the digits.

    Nobody counts zeros or reads powers of ten where a word or a prefix will do: 8 billion params,
    180 GB/s. What is stated in digits, such as a number of bytes to the last one, is left as it
    stands below a thousand million.
    """
    if name in _UNNAMED:
        return digits
    prefixed_from = 1e6 if name in ("param", "token") else 1e9
    # Seconds take no large prefix, and a unit with a factor of its own already is a large one.
    if abs(amount) >= prefixed_from and name != "s" and unit(name).factor == 1:
        return format_quantity(amount, name, binary=False, digits=precision)
    if name == "byte" and amount != 1:
        return f"{digits} bytes"
    return f"{digits} {plural(name, amount)}"
