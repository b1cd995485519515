"""Dates are in order.

Nobody read a source tomorrow or before it was written, nor sold a chip before showing it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_claim, at_file, at_reference
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.models import Model
from flopbook.data.reference import Reference
from flopbook.errors import Problem, shorten
from flopbook.hardware.choice import choose

NAME = "dates"
_EARLIEST = "1990"  # before there was a web to read
PAST = Advice("a day that has been", "mend the date")
WRITTEN = Advice(
    "a reading after the source was written", "mend the date, or the year of the reference"
)
ORDER = Advice(
    "an announcement before the launch", "mend one of them, or say why under 'exceptions'"
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Dates out of order."""
    for owner in holdings.owners:
        yield from _readings(owner, holdings.references)
    for reference in holdings.references.values():
        if reference.urldate and not _EARLIEST <= reference.urldate <= latest_day().isoformat():
            observed = f"urldate {shorten(reference.urldate)} of {reference.key}"
            yield at_reference(NAME, reference, observed, PAST)
    for entry in holdings.entries.values():
        yield from _launched_first(entry, holdings.tiers)
        for status in entry.status:
            if str(status.as_of) > latest_day().isoformat():
                observed = f"as_of {status.as_of} of the status {status.state}"
                yield at_file(NAME, entry.file, observed, PAST)
        if entry.die and entry.die.as_of > latest_day():
            observed = f"as_of {entry.die.as_of} of the die {entry.die.name}"
            yield at_file(NAME, entry.file, observed, PAST)


def _readings(owner: Entry | Model, references: Mapping[str, Reference]) -> Iterator[Finding]:
    for claim in owner.claims:
        reference = references.get(claim.source)
        written = (reference.year or 0) if reference else 0
        if claim.as_of > latest_day():
            observed = f"as_of {claim.as_of}"
            yield Finding(Problem(owner.file, claim.line, 1, NAME, observed, *PAST))
        elif written > claim.as_of.year:
            observed = f"as_of {claim.as_of}, but {claim.source} is of {written}"
            yield Finding(Problem(owner.file, claim.line, 1, NAME, observed, *WRITTEN))


def latest_day() -> datetime.date:
    """Tomorrow: a contributor may live east of the machine that checks."""
    return datetime.date.today() + datetime.timedelta(days=1)


def _launched_first(entry: Entry, tiers: Mapping[str, str]) -> Iterator[Finding]:
    announced = _day(entry, "announced", tiers)
    launched = _day(entry, "launched", tiers)
    if announced is None or launched is None:
        return
    # Days of different precision are compared as far as both go: 2024-03 is not after 2024.
    length = min(len(str(announced.value)), len(str(launched.value)))
    if str(announced.value)[:length] > str(launched.value)[:length]:
        observed = f"launched {launched.value}, announced {announced.value}"
        yield at_claim(NAME, entry, launched, observed, ORDER)


def _day(entry: Entry, field: str, tiers: Mapping[str, str]) -> Claim | None:
    return choose((claim for claim in entry.claims if claim.field == field), tiers)
