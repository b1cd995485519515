"""All accelerators at once: checked when their files changed, else as they were kept."""

from __future__ import annotations

import datetime
import functools
from pathlib import Path
from typing import Any

from flopbook.data import accelerators as entries
from flopbook.data import cache as store
from flopbook.data import claims, schema
from flopbook.data import yaml_text as documents
from flopbook.data.accelerators import (
    ACCELERATORS,
    Entry,
    Part,
    Staleness,
    Status,
    entry_ids,
    load_entry,
    remember,
)
from flopbook.data.claims import Claim
from flopbook.errors import DataError, Problem, show_path

NAME = "accelerators"
_MAKERS = (claims, documents, entries, schema)
_DATE = Claim._fields.index("as_of")
_PLACE = Claim._fields.index("file")


def load_entries(root: Path = ACCELERATORS) -> dict[str, Entry]:
    """Every accelerator by id, in order. Raises DataError with the problems of all files."""
    found, problems = read_entries(root)
    if problems:
        raise DataError(problems)
    return found


def read_entries(root: Path = ACCELERATORS) -> tuple[dict[str, Entry], list[Problem]]:
    """The accelerators that can be read, by id, and the problems of the others."""
    # The id counts: the same bytes at another place are another entry, and a mistaken one.
    files = tuple(
        (name, name.encode() + b"\0" + (root / f"{name}.yaml").read_bytes())
        for name in entry_ids(root)
    )
    found, problems = _loaded(files, root)
    return dict(found), list(problems)


@functools.lru_cache(maxsize=2)
def _loaded(
    files: tuple[tuple[str, bytes], ...], root: Path
) -> tuple[dict[str, Entry], list[Problem]]:
    shelf = store.Shelf(
        NAME, *(Path(str(m.__file__)) for m in _MAKERS), ACCELERATORS / "schema.json"
    )
    found: dict[str, Entry] = {}
    problems: list[Problem] = []
    for name, content in files:
        record = shelf.get(content)
        try:
            found[name] = (
                load_entry(name, root)
                if record is None
                else _entry(record, show_path(root / f"{name}.yaml"))
            )
        except DataError as error:
            problems += error.problems
            continue
        if record is None:
            shelf.put(content, _record(found[name]))
    shelf.close()
    remember(found, root)
    return found, problems


def _record(entry: Entry) -> list[Any]:
    """An entry as JSON holds it; the file is left out, for it is shown relative to where one
    stands.
    """
    rows = []
    for claim in entry.claims:
        row: list[Any] = list(claim)
        row[_DATE], row[_PLACE] = claim.as_of.toordinal(), ""
        rows.append(row)
    status = [[s.state, s.as_of.toordinal(), s.source, s.note] for s in entry.status]
    head = entry._replace(claims=(), status=(), file="")._asdict()
    return [
        head | {"stale_after": list(entry.stale_after) if entry.stale_after else None},
        status,
        rows,
    ]


def _entry(record: list[Any], file: str) -> Entry:
    head, status, rows = record
    day = datetime.date.fromordinal
    made = (
        [*row[:_DATE], day(row[_DATE]), *row[_DATE + 1 : _PLACE], file, *row[_PLACE + 1 :]]
        for row in rows
    )
    return Entry(
        **head
        | {
            "claims": tuple(map(Claim._make, made)),
            "status": tuple(Status(state, day(when), *rest) for state, when, *rest in status),
            "contains": tuple(Part(*part) for part in head["contains"]),
            "aliases": tuple(head["aliases"]),
            "device_names": tuple(head["device_names"]),
            "stale_after": Staleness(*head["stale_after"]) if head["stale_after"] else None,
            "file": file,
        }
    )
