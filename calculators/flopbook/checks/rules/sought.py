"""A chip that was looked for in vain has no entry, and was looked for by today."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.accelerators import Entry
from flopbook.data.sought import Sought
from flopbook.errors import Problem

NAME = "sought"


def check(holdings: Holdings) -> Iterator[Finding]:
    """Chips that have been found since, and days of looking that are to come."""
    entries = holdings.entries.values()
    entry_of = {_plain(name): entry for entry in entries for name in _names(entry)}
    today = datetime.date.today()
    for chip in holdings.sought:
        entry = entry_of.get(_plain(f"{chip.maker} {chip.name}"))
        if entry is not None:
            advice = Advice("a chip without an entry", f"drop the row: {entry.id} has figures")
            yield _at(chip, f"'{chip.name}' of {chip.maker}", advice)
        if chip.as_of > today:
            yield _at(
                chip, f"looked for on {chip.as_of}", Advice(f"a day up to {today}", "mend the day")
            )


def _names(entry: Entry) -> tuple[str, str]:
    return entry.name, f"{entry.vendor} {entry.id.partition('/')[2]}"


def _plain(name: str) -> str:
    """Letters and digits alone, in lower case."""
    return "".join(filter(str.isalnum, name.lower()))


def _at(chip: Sought, observed: str, advice: Advice) -> Finding:
    return Finding(Problem(chip.file, chip.line, 1, NAME, observed, *advice))
