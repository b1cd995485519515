"""A list price is of a chip and a source that exist, plausible, and written once."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.prices import Price
from flopbook.errors import Problem

NAME = "price"
# USD/h of one chip: below, the price is that of a part; above, that of several chips.
LEAST, MOST = 0.05, 60.0


def check(holdings: Holdings) -> Iterator[Finding]:
    """Prices of unknown chips or sources, of days to come, out of range, or given twice."""
    line_of: dict[tuple[object, ...], int] = {}
    for price in holdings.prices:
        yield from _names(price, holdings)
        if price.date > price.as_of:
            advice = Advice(f"a day up to {price.as_of}, when it was read", "mend one of the two")
            yield _at(price, f"date {price.date}", advice)
        if not LEAST <= price.per_chip <= MOST:
            advice = Advice(f"{LEAST:g} to {MOST:g} USD/h for one chip", "mend value or chips")
            yield _at(price, f"{price.per_chip:g} USD/h for one chip of {price.chip}", advice)
        same = (price.chip, price.provider, price.offer, price.region, price.terms, price.date)
        if same in line_of:
            mend = f"line {line_of[same]} has it; keep one"
            yield _at(price, f"a second price of {price.offer}", Advice("one a day", mend))
        line_of.setdefault(same, price.line)


def _names(price: Price, holdings: Holdings) -> Iterator[Finding]:
    if price.chip not in holdings.entry_ids:
        advice = Advice("the id of an entry", "mend the id, or add the entry first")
        yield _at(price, f"chip '{price.chip}'", advice)
    is_known = "references" in holdings.unreadable or price.source in holdings.references
    if not is_known:
        advice = Advice("a key of bibliography/", "add the source to a .bib file")
        yield _at(price, f"source '{price.source}'", advice)


def _at(price: Price, observed: str, advice: Advice) -> Finding:
    return Finding(Problem(price.file, price.line, 1, NAME, observed, *advice))
