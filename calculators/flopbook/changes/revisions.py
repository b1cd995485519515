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

from flopbook.changes.difference import Difference, difference
from flopbook.changes.snapshot import HEAD, MODEL_HEAD, taken
from flopbook.data.repository import FOLDERS, checkout, commit, git
from flopbook.errors import FlopbookError, shorten

SUFFIXES = (".yaml", ".json", ".bib")
EXPORTED = ("accelerators", "vendors", "models", "claims", "references")
_ROW = ("verdict", "statement", "source")


def against(base: str, folders: Mapping[str, Path] = FOLDERS) -> Difference:
    """What changed from the base to the data as it is.

    Raises FlopbookError when the base cannot be read.
    """
    now = {PurePosixPath(place).name: folder for place, folder in folders.items()}
    if _is_export(Path(base)):
        return difference(exported(Path(base)), _without_results(taken(now)[0]))
    root = checkout()
    if root is None:
        raise FlopbookError(
            "an installed package has no revisions; compare with an exported folder, or in a clone"
        )
    with tempfile.TemporaryDirectory(prefix="flopbook-") as folder:
        old, new = taken(extracted(root, base, Path(folder)), now)
    return difference(old, new)


def _is_export(folder: Path) -> bool:
    try:
        return (folder / "accelerators.json").is_file()
    except (OSError, ValueError):  # what can be no path is no folder
        return False


def extracted(root: Path, revision: str, folder: Path) -> dict[str, Path]:
    """The data of a revision, written below a folder: nothing but plain data files, nothing outside
    of it.
    """
    sha = commit(root, revision)
    there = set(
        git(root, "ls-tree", "-d", "-r", "--name-only", sha).decode("utf-8", "replace").splitlines()
    )
    missing = [place for place in FOLDERS if place not in there]
    if missing:
        raise FlopbookError(f"'{shorten(revision)}' has no {missing[0]}")
    with tarfile.open(
        fileobj=BytesIO(git(root, "archive", "--format=tar", sha, *FOLDERS))
    ) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if (
                member.isfile()
                and path.suffix in SUFFIXES
                and not path.is_absolute()
                and ".." not in path.parts
            ):
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                data = archive.extractfile(member)
                target.write_bytes(data.read() if data else b"")
    return {PurePosixPath(place).name: folder / place for place in FOLDERS}


def exported(folder: Path) -> dict[str, Any]:
    """An exported folder as a snapshot; it has verdicts, but no results of calculators."""
    try:
        listed = {
            name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            for name in EXPORTED
        }
        if not all(isinstance(one, list) for one in listed.values()):
            raise TypeError("expected lists")
        return {
            "entries": {one["id"]: _bare(one, HEAD) for one in listed["accelerators"]},
            "vendors": {one["id"]: _compact(one) for one in listed["vendors"]},
            "models": {one["id"]: _bare(one, MODEL_HEAD) for one in listed["models"]},
            "references": {one["id"]: "" for one in listed["references"]},
            "ledger": {one["id"]: {key: one[key] for key in _ROW} for one in listed["claims"]},
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FlopbookError(
            f"{folder} is no folder that flopbook export wrote: {shorten(repr(error))}"
        ) from None


def _bare(record: Mapping[str, Any], head: Iterable[str]) -> dict[str, Any]:
    claims = [
        {name: value for name, value in one.items() if name not in ("si_unit", "url")}
        for one in record["claims"]
    ]
    return {**{name: record.get(name) for name in head}, "claims": claims}


def _compact(value: Any) -> Any:
    """A record as both the file and the export have it: without what is empty, and all scalars as
    text.
    """
    if isinstance(value, Mapping):
        return {
            key: _compact(inner) for key, inner in value.items() if inner not in ("", None, [], {})
        }
    return [_compact(inner) for inner in value] if isinstance(value, list) else str(value)


def _without_results(snapshot: dict[str, Any]) -> dict[str, Any]:
    """As much of a snapshot as an exported folder has."""
    return snapshot | {
        "vendors": _compact(snapshot["vendors"]),
        "references": dict.fromkeys(snapshot["references"], ""),
        "ledger": {
            name: {key: row[key] for key in _ROW} for name, row in snapshot["ledger"].items()
        },
        "calculators": {},
    }
