"""What the repository's history says about values: the accelerators that each commit changed."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from flopbook.changes import difference as _difference
from flopbook.changes.difference import Change, difference
from flopbook.data.repository import checkout, git
from flopbook.data.shelf import Shelf
from flopbook.errors import FlopbookError
from flopbook.quantities.units import UnitError, to_si

FOLDER = "accelerators"
# The feed holds the newest changes, so the newest commits do, and of each the first entries.
MOST_COMMITS, MOST_ENTRIES = 40, 200
_HEAD = ("kind", "name", "status")
_OTHER_SECTIONS = ("vendors", "models", "ledger", "references", "calculators")
# Each file that a commit changed against its first parent, the first commit's too. A renamed file
# is an entry that went and one that came.
_CHANGED_FILES = (
    *("diff-tree", "-r", "--root", "-m", "--first-parent"),
    *("--no-commit-id", "--name-status", "--no-renames"),
)


class Event(NamedTuple):
    """What one commit changed in one accelerator.

    `when` is the commit's time as ISO 8601 with its offset.
    """

    entry: str
    commit: str
    when: str
    changes: tuple[Change, ...]


def history() -> tuple[Event, ...]:
    """Events, newest first.

    Raises FlopbookError where there is no repository or only a part of its history.
    """
    root = checkout()
    if root is None:
        raise FlopbookError("an installed package has no history")
    if git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
        raise FlopbookError(
            "the clone has only a part of the history; fetch the rest: git fetch --unshallow"
        )
    return _events(root, git(root, "rev-parse", "HEAD").decode().strip())


@functools.lru_cache(maxsize=1)
def _events(root: Path, head: str) -> tuple[Event, ...]:
    log = ("log", "--first-parent", f"--max-count={MOST_COMMITS}", "--format=%H %cI", head)
    # What a commit changed never changes, so it is read once for each version of this code.
    shelf = Shelf("history", Path(__file__), Path(str(_difference.__file__)))
    events: list[Event] = []
    for line in git(root, *log, "--", FOLDER).decode().splitlines():
        events += _events_of(root, line, shelf)
    shelf.close()
    return tuple(events)


def _events_of(root: Path, line: str, shelf: Shelf) -> list[Event]:
    """The events of a commit, named by its hash and its time."""
    records = shelf.get(line)
    if records is not None:
        return [_event(*record) for record in records]
    commit, when = line.split(" ", 1)
    events = list(_of_commit(root, commit, when))
    shelf.put(line, [_record(event) for event in events])
    return events


def _record(event: Event) -> list[Any]:
    """An event as JSON holds it."""
    return [event.entry, event.commit, event.when, [list(change) for change in event.changes]]


def _event(entry: str, commit: str, when: str, rows: list[list[Any]]) -> Event:
    changes = (Change._make((*fields, tuple(also))) for *fields, also in rows)
    return Event(entry, commit, when, tuple(changes))


def _of_commit(root: Path, commit: str, when: str) -> Iterator[Event]:
    for how, path in _changed_files(root, commit)[:MOST_ENTRIES]:
        entry = path.removeprefix(f"{FOLDER}/").removesuffix(".yaml")
        before, after = f"{commit}^:{path}", f"{commit}:{path}"
        changes = difference(
            _side(root, "" if how == "A" else before, entry),
            _side(root, "" if how == "D" else after, entry),
        ).written
        if changes:
            yield Event(entry, commit, when, changes)


def _changed_files(root: Path, commit: str) -> list[tuple[str, str]]:
    """Git's letter for the change (A, M, D) and the path, of each file of an accelerator."""
    listing = git(root, *_CHANGED_FILES, commit, "--", FOLDER).decode()
    changed = []
    for line in listing.splitlines():
        how, path = line.split("\t")
        if path.endswith(".yaml") and not path.endswith("/vendor.yaml"):
            changed.append((how, path))
    return changed


def _side(root: Path, blob: str, entry_id: str) -> dict[str, Any]:
    """A snapshot that holds one entry as a commit has it, or none where `blob` is empty.

    Older data is not held to the rules of today.
    """
    entry = _old_entry(root, blob) if blob else None
    entries = {} if entry is None else {entry_id: entry}
    return {"entries": entries, **{section: {} for section in _OTHER_SECTIONS}}


def _old_entry(root: Path, blob: str) -> dict[str, Any] | None:
    """An entry from a file of a commit; None where that is broken, as its commit's check said."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C where there is one
    try:
        raw = yaml.load(git(root, "show", blob), Loader=loader)
        claims = [_claim(claim) for claim in raw["claims"]]
        head = {name: raw.get(name) for name in _HEAD}
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        return None
    return head | {"claims": claims}


def _claim(raw: dict[str, Any]) -> dict[str, Any]:
    claim: dict[str, Any] = {}
    for field, value in raw.items():
        claim[field] = value if isinstance(value, (int, float)) else str(value)
    return claim | {"si_value": _si_value(raw), "chosen": False}


def _si_value(raw: dict[str, Any]) -> float | None:
    try:
        if not isinstance(raw["value"], (int, float)):
            return None
        return to_si(raw["value"], raw["unit"])
    except (KeyError, UnitError):
        return None
