"""Dates are in order: nobody read a source tomorrow or before it was written, nor sold a chip
before showing it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, at_claim
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import references
from flopbook.errors import Problem
from flopbook.hardware.choice import choose

NAME = "dates"
PAST = ("a day that has been", "mend the date")
WRITTEN = ("a reading after the source was written", "mend the date, or the year of the reference")
ORDER = ("an announcement before the launch", "mend one of them, or say why under 'exceptions'")


def check(data: Data) -> Iterator[Finding]:
    """Dates out of order."""
    # A day of grace: a contributor may live east of the machine that checks.
    latest = datetime.date.today() + datetime.timedelta(days=1)
    known = references()
    for owner in (*data.entries.values(), *data.models.values()):
        for claim in owner.claims:
            if claim.as_of > latest:
                found = f"as_of {claim.as_of}"
                yield Finding(Problem(owner.file, claim.line, 1, NAME, found, *PAST))
            elif claim.source in known and known[claim.source].year > claim.as_of.year:
                found = f"as_of {claim.as_of}, but {claim.source} is of {known[claim.source].year}"
                yield Finding(Problem(owner.file, claim.line, 1, NAME, found, *WRITTEN))
    for entry in data.entries.values():
        yield from _announced_first(entry)


def _announced_first(entry: Entry) -> Iterator[Finding]:
    announced, launched = (_day(entry, field) for field in ("announced", "launched"))
    if announced and launched:
        # Days of different precision are compared as far as both go: 2024-03 is not after 2024.
        length = min(len(str(announced.value)), len(str(launched.value)))
        if str(announced.value)[:length] > str(launched.value)[:length]:
            yield at_claim(
                NAME,
                entry,
                launched,
                f"launched {launched.value}, announced {announced.value}",
                ORDER,
            )


def _day(entry: Entry, field: str) -> Claim | None:
    return choose(c for c in entry.claims if c.field == field)
