"""What has to be read again: values whose reading is older than the usual number of days, or than
the entry's own.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from flopbook.data.library import load_entries, load_model, model_ids, vendor, vendor_ids

USUAL_DAYS = 180
USUAL_REASON = "the usual number of days"


class Stale(NamedTuple):
    """Something with readings that are too old, how old the oldest is, and the sources to open."""

    kind: str
    id: str
    file: str
    oldest: datetime.date
    age: int
    days: int
    reason: str
    count: int
    total: int
    sources: tuple[str, ...]


def stale(today: datetime.date, days: int = USUAL_DAYS) -> list[Stale]:
    """Everything with a reading older than its number of days, the oldest first.

    An entry that states a number of its own, `stale_after`, keeps it whatever `days` is.
    """
    found = (item for item in _all(today, days) if item is not None)
    return sorted(found, key=lambda item: (-(item.age - item.days), item.kind, item.id))


def _all(today: datetime.date, days: int) -> Iterator[Stale | None]:
    for name, one in load_entries().items():
        limit = (
            (one.stale_after.days, one.stale_after.reason)
            if one.stale_after
            else (days, USUAL_REASON)
        )
        yield _stale(("accelerator", name, one.file), (*one.claims, *one.status), today, limit)
    for name in model_ids():
        item = load_model(name)
        yield _stale(("model", name, item.file), item.claims, today, (days, USUAL_REASON))
    for name in vendor_ids():
        facts = vendor(name).facts
        yield _stale(
            ("vendor", name, f"accelerators/{name}/vendor.yaml"), facts, today, (days, USUAL_REASON)
        )


def _stale(
    what: tuple[str, str, str],
    readings: Iterable[Any],
    today: datetime.date,
    limit: tuple[int, str],
) -> Stale | None:
    every = list(readings)
    old = [reading for reading in every if (today - reading.as_of).days > limit[0]]
    if not old:
        return None
    oldest = min(reading.as_of for reading in old)
    sources = tuple(sorted({reading.source for reading in old}))
    return Stale(*what, oldest, (today - oldest).days, *limit, len(old), len(every), sources)
