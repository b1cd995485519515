"""A value of an answer in words: in the unit of the statement, or in that of its source.

The page has the same functions in `docs/assets/flopbook/check/amounts.js`; a test holds both equal.
"""

from __future__ import annotations

import math

from flopbook.factcheck.facts import FiledFact
from flopbook.factcheck.reading import StatedNumber
from flopbook.quantities.units import format_quantity

_TINY = 0.01  # of the unit of a statement: one chip beside a pod
_BINARY = {"MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}
_SAME_COUNT = 0.001
_PLAIN_UNITS = {"FLOP/s": "FLOP/s", "OP/s": "OP/s", "B/s": "byte/s", "B": "byte", "W": "W"}


def amount(statement: StatedNumber, value: float) -> str:
    """A value in the unit of the statement, or in its own where that would be tiny."""
    unit = _PLAIN_UNITS.get(statement.symbol[1:])
    if unit and 0 < value < _TINY * statement.factor:
        return format_quantity(value, unit)
    return f"{format_quantity(value / statement.factor, '1')} {statement.symbol}"


def as_printed(statement: StatedNumber, value: float) -> str:
    """96 GB of a text beside the 96 GiB of a source: nobody prints 103.1 GB."""
    count = value / _BINARY.get(statement.symbol, math.inf)
    if not math.isclose(count, statement.value / statement.factor, rel_tol=_SAME_COUNT):
        return amount(statement, value)
    return f"{format_quantity(count, '1')} {statement.symbol[0]}i{statement.symbol[1:]}"


def exact(fact: FiledFact) -> str:
    """A capacity or a rate to the digit, in decimal units."""
    units = {"bytes": "byte", "flow": "byte/s"}
    return format_quantity(fact.value, units[fact.kind], binary=False)
