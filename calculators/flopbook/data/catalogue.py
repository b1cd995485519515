"""All accelerators at once: checked when their files changed, else as an earlier run kept them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flopbook.data import accelerators, claims, records, schema, yaml_text
from flopbook.data.accelerators import Entry, read_entry
from flopbook.data.cache import Shelf
from flopbook.data.claims import Claim
from flopbook.data.folders import schema_paths
from flopbook.data.index import head_of_record, record_of_head
from flopbook.errors import DataError, Problem, show_path

_ENTRIES = "accelerators"
_MAKERS = tuple(
    Path(str(module.__file__)) for module in (accelerators, claims, records, schema, yaml_text)
)
_DATE = Claim._fields.index("as_of")
_FILE = Claim._fields.index("file")


def read_catalogue(
    folder: Path, entry_ids: Sequence[str]
) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    """The accelerators that can be read, by id, and the problems of the others."""
    shelf = Shelf(_ENTRIES, *_MAKERS, schema_paths()["accelerator"])
    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    for entry_id in entry_ids:
        path = folder / f"{entry_id}.yaml"
        try:
            entries[entry_id] = _kept_entry(shelf, path, entry_id)
        except DataError as error:
            problems += error.problems
    shelf.close()
    return entries, tuple(problems)


def _kept_entry(shelf: Shelf, path: Path, entry_id: str) -> Entry:
    try:
        # The id counts: the same bytes at another place are another entry, and a mistaken one.
        key = b"\0".join((entry_id.encode(), path.read_bytes()))
    except OSError:  # what is wrong with the file is said by its reader
        return read_entry(path, entry_id)
    record = shelf.get(key)
    if record is not None:
        return _entry(record, show_path(path))
    entry = read_entry(path, entry_id)
    shelf.put(key, _record(entry))
    return entry


def _record(entry: Entry) -> list[Any]:
    """An entry as JSON holds it: its head and a row for each claim."""
    return [record_of_head(entry), [_row(claim) for claim in entry.claims]]


def _row(claim: Claim) -> list[Any]:
    row: list[Any] = list(claim)
    row[_DATE], row[_FILE] = claim.as_of.toordinal(), ""
    return row


def _entry(record: list[Any], file: str) -> Entry:
    head, rows = record
    claims = tuple(_claim(row, file) for row in rows)
    return head_of_record(head)._replace(claims=claims, file=file)


def _claim(row: list[Any], file: str) -> Claim:
    fields = row.copy()  # the record itself is kept for the next run
    fields[_DATE], fields[_FILE] = datetime.date.fromordinal(row[_DATE]), file
    # Checked when it was kept: `_make` skips the checks of the constructor.
    return Claim._make(fields)
