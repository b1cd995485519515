"""What has to be read again: values whose last reading is too old.

That is after the usual number of days, or after the entry's own.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from flopbook.data.accelerators import Entry, Staleness
from flopbook.data.library import load_entries, load_model, model_ids, vendor, vendor_ids
from flopbook.data.prices import Price, prices

USUAL_DAYS = 180
USUAL_REASON = "the usual number of days"
# Clouds change what they ask several times a year.
PRICE_LIMIT = Staleness(90, "list prices change within months")


class Reading(Protocol):
    """What was read in a source on a day: a claim, a status, or a fact about a vendor."""

    @property
    def as_of(self) -> datetime.date:
        """The day of the reading."""

    @property
    def source(self) -> str:
        """The key of the source."""


class _Asked(NamedTuple):
    """A list price, which is as old as the day on which it was asked."""

    as_of: datetime.date
    source: str


class Stale(NamedTuple):
    """A record with readings that are too old, how old the oldest is, and the sources to open."""

    kind: str
    id: str
    file: str
    oldest: datetime.date
    age: int
    days: int
    reason: str
    # A field of this name hides a method of tuples, which nobody needs here; `--json` has the name.
    count: int  # type: ignore[assignment]
    total: int
    sources: tuple[str, ...]


class _Record(NamedTuple):
    """What is read again as a whole, all of its readings, and after how many days."""

    kind: str
    id: str
    file: str
    readings: tuple[Reading, ...]
    limit: Staleness


def stale(today: datetime.date, days: int = USUAL_DAYS) -> list[Stale]:
    """Everything with a reading older than its number of days, the most overdue first.

    An entry that states a number of its own, `stale_after`, keeps it whatever `days` is, and so
    does a list price.
    """
    overdue = filter(None, (_overdue(record, today) for record in _records(days)))
    return sorted(overdue, key=_urgency)


def _urgency(record: Stale) -> tuple[int, str, str]:
    return (record.days - record.age, record.kind, record.id)


def _records(days: int) -> Iterator[_Record]:
    usual = Staleness(days, USUAL_REASON)
    for entry_id, entry in load_entries().items():
        limit = entry.stale_after or usual
        yield _Record("accelerator", entry_id, entry.file, _readings(entry), limit)
    for model_id in model_ids():
        model = load_model(model_id)
        yield _Record("model", model_id, model.file, model.claims, usual)
    for vendor_id in vendor_ids():
        file = f"accelerators/{vendor_id}/vendor.yaml"
        yield _Record("vendor", vendor_id, file, vendor(vendor_id).facts, usual)
    yield from _price_records()


def _price_records() -> Iterator[_Record]:
    """The newest list price of each chip at each provider and place."""
    newest: dict[str, Price] = {}
    for price in sorted(prices(), key=lambda price: price.date):
        newest[f"{price.chip} at {price.provider}:{price.region}, {price.terms}"] = price
    for name, price in newest.items():
        asked = _Asked(price.date, price.source)
        yield _Record("price", name, price.file, (asked,), PRICE_LIMIT)


def _readings(entry: Entry) -> tuple[Reading, ...]:
    return (*entry.claims, *entry.status)


def _overdue(record: _Record, today: datetime.date) -> Stale | None:
    """The record as it is reported; None when all of its readings are fresh."""
    days, reason = record.limit
    old = [reading for reading in record.readings if (today - reading.as_of).days > days]
    if not old:
        return None
    oldest = min(reading.as_of for reading in old)
    return Stale(
        kind=record.kind,
        id=record.id,
        file=record.file,
        oldest=oldest,
        age=(today - oldest).days,
        days=days,
        reason=reason,
        count=len(old),
        total=len(record.readings),
        sources=_sources(old),
    )


def _sources(readings: Iterable[Reading]) -> tuple[str, ...]:
    return tuple(sorted({reading.source for reading in readings}))
