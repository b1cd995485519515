"""The reader of accelerators: a YAML file -> a record, checked once, all problems at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flopbook.data.accelerators import Die, Entry, Part, Staleness, Status
from flopbook.data.claims import Claim
from flopbook.data.entry_records import text_above_claims
from flopbook.data.folders import schema_paths
from flopbook.data.records import claim_of, keep_fields, read_checked, with_dates
from flopbook.data.schema import load_schema
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import DataError, show_path

_HEAD_FIELDS = (
    *("id", "kind", "name", "vendor", "summary", "family", "market", "notes", "variant_of"),
)


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
    head = {name: node.plain() for name, node in document.value.items() if name != "claims"}
    return _entry(with_dates(head), claims, file)


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


def _entry(raw: Mapping[str, Any], claims: tuple[Claim, ...], file: str) -> Entry:
    die, stale_after = raw.get("die"), raw.get("stale_after")
    return Entry(
        **{name: raw[name] for name in _HEAD_FIELDS if name in raw},
        claims=claims,
        contains=tuple(Part(part["ref"], int(part["count"])) for part in raw.get("contains", ())),
        status=tuple(keep_fields(Status, status) for status in raw["status"]),
        aliases=tuple(raw.get("aliases", ())),
        device_names=tuple(raw.get("device_names", ())),
        die=keep_fields(Die, die) if die else None,
        exceptions=raw.get("exceptions", {}),
        stale_after=keep_fields(Staleness, stale_after) if stale_after else None,
        file=file,
    )
