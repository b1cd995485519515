"""The other side of a comparison: a revision of the repository, or a folder that `flopbook export`
wrote.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from flopbook.changes.affected import affected
from flopbook.changes.difference import Difference, difference
from flopbook.changes.snapshot import HEAD, MODEL_HEAD, Record, snapshot
from flopbook.data.files import read_text
from flopbook.data.library import Library, library
from flopbook.data.repository import PLACES, checkout, commit, git
from flopbook.errors import FlopbookError, reason_of, shorten

SUFFIXES = (".yaml", ".json", ".bib")
EXPORTED = ("accelerators", "vendors", "models", "claims", "references")
_ROW = ("verdict", "statement", "source")


def against(base: str) -> Difference:
    """What changed from the base to the data in use.

    Raises FlopbookError when the base cannot be read.
    """
    if is_export(Path(base)):
        return difference(exported(Path(base)), _without_results(snapshot(library())))
    root = checkout()
    if root is None:
        raise FlopbookError(
            "an installed package has no revisions; compare with an exported folder, or in a clone"
        )
    with tempfile.TemporaryDirectory(prefix="flopbook-") as folder:
        earlier = extracted(root, base, Path(folder))
        only = affected(earlier, library())
        return difference(snapshot(earlier, only), snapshot(library(), only))


def is_export(folder: Path) -> bool:
    """Whether `flopbook export` wrote a folder, or began to: it writes this file first."""
    try:
        return (folder / "accelerators.json").is_file()
    except (OSError, ValueError):  # what can be no path is no folder
        return False


def extracted(root: Path, revision: str, folder: Path) -> Library:
    """The data of a revision, written below a folder: plain data files only, nothing outside it."""
    sha = commit(root, revision)
    listing = git(root, "ls-tree", "-d", "-r", "--name-only", sha).decode("utf-8", "replace")
    missing = [place for place in PLACES if place not in listing.splitlines()]
    if missing:
        raise FlopbookError(f"'{shorten(revision)}' has no {missing[0]}")
    with tarfile.open(fileobj=BytesIO(git(root, "archive", "--format=tar", sha, *PLACES))) as tar:
        for member in tar:
            if not _is_data(member):
                continue
            content = tar.extractfile(member)
            _write(folder / member.name, content.read() if content else b"")
    for place in PLACES:  # a folder without a data file is a folder all the same
        (folder / place).mkdir(parents=True, exist_ok=True)
    return Library(folder)


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        place = f"earlier data cannot be written in {tempfile.gettempdir()}: {reason_of(error)}"
        raise FlopbookError(f"{place}; name a folder with room by TMPDIR") from None


def _is_data(member: tarfile.TarInfo) -> bool:
    """A regular file with a suffix of ours, inside the tree: no link, no device, no way out."""
    path = PurePosixPath(member.name)
    stays_inside = not path.is_absolute() and ".." not in path.parts
    return member.isfile() and path.suffix in SUFFIXES and stays_inside


def exported(folder: Path) -> Record:
    """An exported folder as a snapshot; it has verdicts, but no results of calculators."""
    try:
        tables = {name: json.loads(read_text(folder / f"{name}.json")) for name in EXPORTED}
        if not all(isinstance(table, list) for table in tables.values()):
            raise TypeError("expected lists")
        return {
            "entries": {row["id"]: _bare(row, HEAD) for row in tables["accelerators"]},
            "vendors": {row["id"]: _compact(row) for row in tables["vendors"]},
            "models": {row["id"]: _bare(row, MODEL_HEAD) for row in tables["models"]},
            "references": {row["id"]: "" for row in tables["references"]},
            "ledger": {row["id"]: _ledger_row(row) for row in tables["claims"]},
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"{folder} is no folder that flopbook export wrote"
        raise FlopbookError(f"{what}: {shorten(repr(error))}") from None


def _ledger_row(row: Mapping[str, Any]) -> Record:
    return {key: row[key] for key in _ROW}


def _bare(record: Mapping[str, Any], head: Iterable[str]) -> Record:
    """A record without what the export adds to it."""
    claims = [
        {name: value for name, value in claim.items() if name not in ("si_unit", "url")}
        for claim in record["claims"]
    ]
    return {**{name: record.get(name) for name in head}, "claims": claims}


def _compact(value: Any) -> Any:
    """A record as both the file and the export have it: no empty values, all scalars as text."""
    if isinstance(value, Mapping):
        return {
            key: _compact(inner) for key, inner in value.items() if inner not in ("", None, [], {})
        }
    if isinstance(value, list):
        return [_compact(inner) for inner in value]
    return str(value)


def _without_results(state: Record) -> Record:
    """As much of a snapshot as an exported folder has."""
    return state | {
        "vendors": _compact(state["vendors"]),
        "references": dict.fromkeys(state["references"], ""),
        "ledger": {row_id: _ledger_row(row) for row_id, row in state["ledger"].items()},
        "calculators": {},
    }
