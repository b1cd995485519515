"""The records of accelerators. Their reader is `entry_reader`, which a kept entry does without."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from flopbook.data.claims import Claim

_GONE = ("discontinued", "cancelled")


class Part(NamedTuple):
    """`number` of the entry `ref` inside another entry; the data calls it `count`."""

    ref: str
    number: int  # a tuple has a method `count` already


class Status(NamedTuple):
    """Where a product stands, as of a date, by a source."""

    state: str
    as_of: date
    source: str
    note: str = ""


class Die(NamedTuple):
    """What engineers call the silicon of a product, as a source names it."""

    name: str
    as_of: date
    source: str
    locator: str = ""
    quote: str = ""


class Staleness(NamedTuple):
    """After how many days an entry is to be read again, and why not the usual number."""

    days: int
    reason: str


class Entry(NamedTuple):
    """One product: what it is, what it is made of, and its claims in the order written."""

    id: str
    kind: str
    name: str
    vendor: str
    summary: str
    claims: tuple[Claim, ...]
    family: str = ""
    market: str = "data-centre"
    notes: str = ""
    aliases: tuple[str, ...] = ()
    device_names: tuple[str, ...] = ()
    die: Die | None = None
    variant_of: str = ""
    contains: tuple[Part, ...] = ()
    status: tuple[Status, ...] = ()
    exceptions: Mapping[str, str] = {}
    stale_after: Staleness | None = None
    file: str = ""

    @property
    def computes(self) -> bool:
        """True for a chip, or a card of which no parts are recorded: calculators take these."""
        return self.kind in ("package", "die") or (self.kind == "card" and not self.contains)

    @property
    def is_current(self) -> bool:
        """True while it is announced, sold, rented or used; its first status is the present one."""
        return bool(self.status) and self.status[0].state not in _GONE
