"""Entries and models as JSON holds them, to be kept between runs: no file name, dates as numbers.

A kept entry was checked when it was read, so nothing is checked here, and neither the reader of
YAML nor the schema is loaded for it.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from flopbook.data.accelerators import Die, Entry, Part, Staleness, Status
from flopbook.data.claims import Claim
from flopbook.data.models import Model

# A key at the start of a line below the claims: the entry is not written in the usual order. The
# line end is part of the pattern since a literal is looked for ten times as fast as `^`.
_KEY_AFTER_CLAIMS = re.compile(r"\n[^\s#-]")
_DATE = Claim._fields.index("as_of")
_FILE = Claim._fields.index("file")


def text_above_claims(content: bytes) -> str | None:
    """The lines above the claims of a file; None where another key stands below the claims."""
    text = content.decode("utf-8", "replace")
    head, claims, after = text.partition("\nclaims:")
    if not claims or _KEY_AFTER_CLAIMS.search(after):
        return None
    return head


def record_of_head(entry: Entry) -> dict[str, Any]:
    """An entry without its claims as JSON holds it.

    The file is left out, for it is shown relative to the working directory.
    """
    days = [(status.state, status.as_of.toordinal(), *status[2:]) for status in entry.status]
    parts = [(part.ref, part.number) for part in entry.contains]
    die = entry.die and (entry.die.name, entry.die.as_of.toordinal(), *entry.die[2:])
    head = entry._replace(claims=(), status=(), contains=(), file="")._asdict()
    return head | {"status": days, "contains": parts, "die": die}


def head_of_record(record: dict[str, Any]) -> Entry:
    """The entry that `record_of_head` was given."""
    die, stale_after = record["die"], record["stale_after"]
    return Entry(
        **record
        | {
            "claims": (),
            "status": tuple(_status(*row) for row in record["status"]),
            "contains": tuple(Part(*part) for part in record["contains"]),
            "aliases": tuple(record["aliases"]),
            "device_names": tuple(record["device_names"]),
            "die": _die(*die) if die else None,
            "stale_after": Staleness(*stale_after) if stale_after else None,
        }
    )


def _status(state: str, as_of: int, source: str, note: str) -> Status:
    return Status(state, date.fromordinal(as_of), source, note)


def _die(name: str, as_of: int, source: str, locator: str, quote: str) -> Die:
    return Die(name, date.fromordinal(as_of), source, locator, quote)


def record_of_entry(entry: Entry) -> list[Any]:
    """An entry as JSON holds it: its head and a row for each claim."""
    return [record_of_head(entry), [_row(claim) for claim in entry.claims]]


def _row(claim: Claim) -> list[Any]:
    row: list[Any] = list(claim)
    row[_DATE], row[_FILE] = claim.as_of.toordinal(), ""
    return row


def entry_of_record(record: list[Any], file: str) -> Entry:
    """The entry that `record_of_entry` was given."""
    head, rows = record
    claims = tuple(_claim(row, file) for row in rows)
    return head_of_record(head)._replace(claims=claims, file=file)


def _claim(row: list[Any], file: str) -> Claim:
    fields = row.copy()  # the record itself is kept for the next run
    fields[_DATE], fields[_FILE] = date.fromordinal(row[_DATE]), file
    # Checked when it was kept: `_make` skips the checks of the constructor.
    return Claim._make(fields)


def record_of_model(model: Model) -> list[Any]:
    """A model as JSON holds it: its head and a row for each claim."""
    head = model._replace(claims=(), file="")._asdict()
    return [head, [_row(claim) for claim in model.claims]]


def model_of_record(record: list[Any], file: str) -> Model:
    """The model that `record_of_model` was given."""
    head, rows = record
    claims = tuple(_claim(row, file) for row in rows)
    return Model(**head | {"aliases": tuple(head["aliases"]), "claims": claims, "file": file})
