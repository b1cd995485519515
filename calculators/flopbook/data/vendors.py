"""The reader of vendors: `accelerators/VENDOR/vendor.yaml` -> an immutable record."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.records import keep_fields, read_checked, with_dates

# Lists of works that say more about a vendor.
READING = ("white_papers", "media", "research")


class Fact(NamedTuple):
    """A fact about a vendor with its source and date."""

    field: str
    value: str
    source: str
    as_of: date
    date: str = ""
    quote: str = ""
    locator: str = ""
    note: str = ""


class Vendor(NamedTuple):
    """A company that makes accelerators."""

    id: str
    name: str
    website: str
    summary: str
    country: str = ""
    facts: tuple[Fact, ...] = ()
    white_papers: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    research: tuple[str, ...] = ()


def read_vendor(path: Path, vendor_id: str) -> Vendor:
    """Read and check the file of a vendor. Raises DataError with all of its problems."""
    raw = with_dates(read_checked(path, "vendor", vendor_id).plain())
    facts = tuple(_fact(fact) for fact in raw.pop("facts", ()))
    reading: dict[str, Any] = {name: tuple(raw.pop(name, ())) for name in READING}
    return Vendor(facts=facts, **reading, **raw)


def _fact(raw: dict[str, object]) -> Fact:
    as_text = {key: str(raw[key]) for key in ("value", "date") if key in raw}
    fact: Fact = keep_fields(Fact, raw | as_text)
    return fact
