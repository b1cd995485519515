"""The other side of a comparison: a revision of the repository, or a folder that `flopbook export`
wrote.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from flopbook.changes.affected import affected
from flopbook.changes.difference import Difference, difference
from flopbook.changes.exported import compact, exported, is_export, ledger_row
from flopbook.changes.snapshot import Record, snapshot
from flopbook.data.files import MAX_BYTES, read_or_nothing
from flopbook.data.folders import is_id
from flopbook.data.library import Library, library
from flopbook.data.repository import PLACES, checkout, commit, git
from flopbook.errors import FlopbookError, printable, reason_of, shorten

SUFFIXES = (".yaml", ".json", ".bib")
# VENDOR/PRODUCT.yaml, not the file of a vendor.
_ENTRY = re.compile(r"accelerators/([^/]+/(?!vendor\.yaml$)[^/]+)\.yaml")


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


def extracted(root: Path, revision: str, folder: Path) -> Library:
    """The data of a revision: plain data files only, nothing outside its folders.

    A product that has not changed since is read where it lies; all else is written below a folder.
    To make a file takes longer than to read and compare one, and most products stay as they are.
    """
    sha = commit(root, revision)
    rows = _listed(root, sha)
    for place in PLACES:
        if not any(name.startswith(f"{place}/") for _, name in rows):
            raise FlopbookError(f"'{shorten(revision)}' has no {place}")
    unchanged: dict[str, Path] = {}
    for name, content in _files(root, sha, rows):
        entry_id, present = _entry_id(name), root / name
        if entry_id and content and read_or_nothing(present) == content:
            unchanged[entry_id] = present
        else:
            _write(folder / name, content)
    for place in PLACES:  # a folder without a data file is a folder all the same
        (folder / place).mkdir(parents=True, exist_ok=True)
    return Library(folder, unchanged)


def _listed(root: Path, sha: str) -> list[tuple[str, str]]:
    """What git says of each file in the places of data, and its name."""
    listing = git(root, "ls-tree", "-r", "-l", "-z", sha, *PLACES).decode("utf-8", "replace")
    parts = (row.partition("\t") for row in listing.split("\0") if row)
    return [(head, name) for head, _, name in parts]


def _files(root: Path, sha: str, rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    """The data files of a commit and their bytes.

    As git keeps them: `git archive` runs the filters of a checkout's configuration, and leaves out
    or rewrites what attributes say.
    """
    named = [(*head.split()[2:], name) for head, name in rows if _is_data(head, name)]
    for _, size, name in named:
        place = f"{printable(name)} of {sha[:12]}"
        if not size.isdecimal():  # git says BAD
            raise FlopbookError(f"{place} is not in the repository: git fsck says what is broken")
        if int(size) > MAX_BYTES:
            raise FlopbookError(f"{place} has {int(size):,} bytes, expected {MAX_BYTES:,} at most")
    asked = "".join(f"{blob}\n" for blob, _, _ in named).encode()
    answer, after = git(root, "cat-file", "--batch", given=asked), 0
    for _, size, name in named:
        begin = answer.index(b"\n", after) + 1
        end = begin + int(size)
        yield name, answer[begin:end]
        after = end + 1


def _entry_id(name: str) -> str:
    """The product whose file has this name; empty for any other file."""
    match = _ENTRY.fullmatch(name)
    return match[1] if match and is_id(match[1]) else ""


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        place = f"earlier data cannot be written in {tempfile.gettempdir()}: {reason_of(error)}"
        raise FlopbookError(f"{place}; name a folder with room by TMPDIR") from None


def _is_data(head: str, name: str) -> bool:
    """A regular file with a suffix of ours, inside the tree: no link, no module, no way out."""
    path = PurePosixPath(name)
    stays_inside = not path.is_absolute() and ".." not in path.parts
    return head.startswith("100") and path.suffix in SUFFIXES and stays_inside


def _without_results(state: Record) -> Record:
    """As much of a snapshot as an exported folder has."""
    return state | {
        "vendors": compact(state["vendors"]),
        "references": dict.fromkeys(state["references"], ""),
        "ledger": {row_id: ledger_row(row) for row_id, row in state["ledger"].items()},
        "calculators": {},
    }
