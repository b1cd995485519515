"""What one of two states cannot be read of: no addition, no removal, and nothing to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# The parts of a snapshot whose records are read one by one, and what such a record is called.
KINDS = {"entries": "accelerator", "vendors": "vendor", "models": "model", "ledger": "ledger"}
Snapshot = Mapping[str, Any]


def comparable(old: Snapshot, new: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Both states without the records that either of them cannot read."""
    left_out = {part: {*_names(old, part), *_names(new, part)} for part in KINDS}
    # One broken file of the ledger hides the rows of them all.
    if left_out["ledger"]:
        left_out["ledger"] = {*old["ledger"], *new["ledger"]}
    return _without(old, left_out), _without(new, left_out)


def _without(state: Snapshot, left_out: Mapping[str, set[str]]) -> Snapshot:
    kept = {
        part: {name: record for name, record in state[part].items() if name not in names}
        for part, names in left_out.items()
    }
    return {**state, **kept}


def unreadable(new: Snapshot) -> Iterator[tuple[str, str]]:
    """Kind and name of each record that the new state cannot read."""
    for part, kind in KINDS.items():
        yield from ((kind, name) for name in _names(new, part))


def _names(state: Snapshot, part: str) -> list[str]:
    names: list[str] = state.get("unreadable", {}).get(part, [])
    return names


def unread(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """What is wrong with the records that cannot be read, on either side."""
    before = [f"before: {text}" for text in old.get("unread", ())]
    return (*before, *(f"now: {text}" for text in new.get("unread", ())))
