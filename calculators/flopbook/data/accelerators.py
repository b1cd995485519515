"""The reader of accelerators: a YAML file -> a record, checked once, all problems at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.claims import Claim
from flopbook.data.folders import schema_paths
from flopbook.data.records import claim_of, keep_fields, read_checked, with_dates
from flopbook.data.schema import load_schema
from flopbook.data.yaml_text import MAX_BYTES, parse_yaml
from flopbook.errors import DataError, show_path

_HEAD_FIELDS = ("id", "kind", "name", "vendor", "summary", "family", "notes", "variant_of")
# A key at the start of a line below the claims: the entry is not written in the usual order.
_KEY_AFTER_CLAIMS = re.compile(r"^[^\s#-]", re.MULTILINE)


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
    notes: str = ""
    aliases: tuple[str, ...] = ()
    device_names: tuple[str, ...] = ()
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


def field_names() -> tuple[str, ...]:
    """All fields that a claim of an accelerator may have, in the order of the schema."""
    return tuple(_claim_schema()["properties"]["field"]["enum"])


def dtype_names() -> tuple[str, ...]:
    """All number formats that a claim may name, without `unstated`."""
    names = _claim_schema()["properties"]["dtype"]["enum"]
    return tuple(name for name in names if name != "unstated")


def _claim_schema() -> Any:
    return load_schema(schema_paths()["accelerator"])["$defs"]["claim"]


def read_entry(path: Path, entry_id: str) -> Entry:
    """Read and check the file of an entry. Raises DataError with all of its problems."""
    document = read_checked(path, "accelerator", entry_id)
    file = show_path(path)
    claims = tuple(claim_of(node, file) for node in document.value["claims"].value)
    return _entry(with_dates(document.plain()), claims, file)


def read_head(content: bytes, entry_id: str) -> Entry | None:
    """An entry without its claims, from the lines above them; None where only the whole file tells.

    A list of all entries, or a search by alias, needs no more, and the claims are nine tenths of a
    file. What is broken or written in another order is left to `read_entry`, whose errors have a
    line and a column.
    """
    head = text_above_claims(content)
    if head is None:
        return None
    try:
        entry = _entry(with_dates(parse_yaml(head, "").plain()), (), "")
    except (DataError, KeyError, TypeError, ValueError):
        return None
    is_whole = entry.status and isinstance(entry.name, str) and isinstance(entry.kind, str)
    return entry if is_whole and entry.id == entry_id else None


def text_above_claims(content: bytes) -> str | None:
    """The lines above the claims of a file; None where another key stands below the claims."""
    text = content[:MAX_BYTES].decode("utf-8", "replace")
    head, claims, after = text.partition("\nclaims:")
    if not claims or _KEY_AFTER_CLAIMS.search(after.partition("\n")[2]):
        return None
    return head


def _entry(raw: Mapping[str, Any], claims: tuple[Claim, ...], file: str) -> Entry:
    stale_after = raw.get("stale_after")
    return Entry(
        **{name: raw[name] for name in _HEAD_FIELDS if name in raw},
        claims=claims,
        contains=tuple(Part(part["ref"], int(part["count"])) for part in raw.get("contains", ())),
        status=tuple(keep_fields(Status, status) for status in raw["status"]),
        aliases=tuple(raw.get("aliases", ())),
        device_names=tuple(raw.get("device_names", ())),
        exceptions=raw.get("exceptions", {}),
        stale_after=keep_fields(Staleness, stale_after) if stale_after else None,
        file=file,
    )
