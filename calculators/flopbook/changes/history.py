"""What the repository's history says about the values: for each commit, the accelerators that it
changed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from flopbook.changes import difference as _difference
from flopbook.changes.difference import Change, difference
from flopbook.data import cache as store
from flopbook.data.repository import checkout, git
from flopbook.errors import FlopbookError
from flopbook.quantities.units import UnitError, to_si

FOLDER = "accelerators"
# So many commits, and of each so many entries, are told; older ones stay in the repository.
MOST_COMMITS, MOST_ENTRIES = 40, 200
_HEAD = ("kind", "name", "status")


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
    words = (
        "log",
        "--first-parent",
        f"--max-count={MOST_COMMITS}",
        "--format=%H %cI",
        head,
        "--",
        FOLDER,
    )
    shelf = store.Shelf("history", Path(__file__), Path(str(_difference.__file__)))
    found: list[Event] = []
    for line in git(root, *words).decode().splitlines():
        records = shelf.get(line.encode())
        if records is None:
            events = list(_of_commit(root, *line.split(" ", 1)))
            shelf.put(
                line.encode(),
                [[*event[:3], [list(change) for change in event.changes]] for event in events],
            )
        else:
            events = [Event(*head, tuple(_change(row) for row in rows)) for *head, rows in records]
        found += events
    shelf.close()
    return tuple(found)


def _change(row: list[Any]) -> Change:
    return Change(*row[:-1], tuple(row[-1]))


def _of_commit(root: Path, commit: str, when: str) -> Iterator[Event]:
    words = (
        "diff-tree",
        "-r",
        "--root",
        "-m",
        "--first-parent",
        "--no-commit-id",
        "--name-status",
        "--no-renames",
        commit,
    )
    listed = [line.split("\t") for line in git(root, *words, "--", FOLDER).decode().splitlines()]
    files = [
        (how, name)
        for how, name in listed
        if name.endswith(".yaml") and not name.endswith("/vendor.yaml")
    ]
    for how, name in files[:MOST_ENTRIES]:
        entry = name.removeprefix(f"{FOLDER}/").removesuffix(".yaml")
        sides = [
            _side(root, f"{commit}^:{name}" if how != "A" else "", entry),
            _side(root, f"{commit}:{name}" if how != "D" else "", entry),
        ]
        changes = difference(*sides).written
        if changes:
            yield Event(entry, commit, when, changes)


def _side(root: Path, blob: str, entry: str) -> dict[str, Any]:
    """A snapshot that holds one entry as a commit has it.

    Older data is not held to the rules of today.
    """
    rest: dict[str, Any] = {
        name: {} for name in ("vendors", "models", "ledger", "references", "calculators")
    }
    if not blob:
        return {"entries": {}, **rest}
    try:
        raw = yaml.load(
            git(root, "show", blob), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )
        claims = [_claim(claim) for claim in raw["claims"]]
    except (
        yaml.YAMLError,
        KeyError,
        TypeError,
        AttributeError,
    ):  # no entry, then; the check of data said so
        return {"entries": {}, **rest}
    head = {name: raw.get(name) for name in _HEAD}
    return {"entries": {entry: {**head, "claims": claims}}, **rest}


def _claim(raw: dict[str, Any]) -> dict[str, Any]:
    texts = {
        key: value if isinstance(value, (int, float)) else str(value) for key, value in raw.items()
    }
    try:
        value = to_si(raw["value"], raw["unit"]) if isinstance(raw["value"], (int, float)) else None
    except (KeyError, UnitError):
        value = None
    return texts | {"si_value": value, "chosen": False}
