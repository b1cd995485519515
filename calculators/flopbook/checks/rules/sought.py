"""What was looked for in vain is still missing, and was looked for by today."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.checks.staleness import PRICE_LIMIT
from flopbook.data.accelerators import Entry
from flopbook.data.sought import Sought, SoughtPrices
from flopbook.errors import Problem

NAME = "sought"


def check(holdings: Holdings) -> Iterator[Finding]:
    """Chips and prices that have been found since, and days of looking that are to come."""
    yield from _found_chips(holdings)
    yield from _found_prices(holdings)
    today = datetime.date.today()
    rows: list[Sought | SoughtPrices] = [*holdings.sought.chips, *holdings.sought.prices]
    for row in rows:
        if row.as_of > today:
            yield _at(
                row, f"looked for on {row.as_of}", Advice(f"a day up to {today}", "mend the day")
            )


def _found_chips(holdings: Holdings) -> Iterator[Finding]:
    entries = holdings.entries.values()
    entry_of = {_plain(name): entry for entry in entries for name in _names(entry)}
    for chip in holdings.sought.chips:
        entry = entry_of.get(_plain(f"{chip.maker} {chip.name}"))
        if entry is not None:
            advice = Advice("a chip without an entry", f"drop the row: {entry.id} has figures")
            yield _at(chip, f"'{chip.name}' of {chip.maker}", advice)


def _found_prices(holdings: Holdings) -> Iterator[Finding]:
    """Chips that are unknown, or whose newest price was not old on the day of looking."""
    newest: dict[str, datetime.date] = {}
    for price in holdings.prices:
        newest[price.chip] = max(price.date, newest.get(price.chip, price.date))
    for row in holdings.sought.prices:
        for chip in row.chips:
            if chip not in holdings.entry_ids:
                yield _at(row, f"'{chip}'", Advice("the id of an entry", "mend the id"))
            asked = newest.get(chip)
            if asked and (row.as_of - asked).days <= PRICE_LIMIT.days:
                observed = f"'{chip}' with a price of {asked}"
                yield _at(row, observed, Advice("a chip with old prices alone", "drop the id"))


def _names(entry: Entry) -> tuple[str, str]:
    return entry.name, f"{entry.vendor} {entry.id.partition('/')[2]}"


def _plain(name: str) -> str:
    """Letters and digits alone, in lower case."""
    return "".join(filter(str.isalnum, name.lower()))


def _at(row: Sought | SoughtPrices, observed: str, advice: Advice) -> Finding:
    return Finding(Problem(row.file, row.line, 1, NAME, observed, *advice))
