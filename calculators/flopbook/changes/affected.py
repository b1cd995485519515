"""Which products may differ between two states: all others need no look, however many there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from flopbook.data.files import read_or_nothing
from flopbook.data.library import Library


def affected(old: Library, new: Library) -> frozenset[str] | None:
    """The ids of products whose own data or parts differ; None where any may.

    What a calculator says of a product follows from its file, from those of its parts and of what
    contains it, from the tiers of sources, and from models.
    """
    if old.source_tiers != new.source_tiers or _others(old) != _others(new):
        return None
    readable, _ = new.read_entries()
    changed = {
        entry_id
        for entry_id in {*old.entry_ids, *new.entry_ids}
        if entry_id not in readable or _differs(entry_id, old, new)
    }
    return frozenset(_joined(changed, (old, new)))


def _differs(entry_id: str, old: Library, new: Library) -> bool:
    before, now = old.entry_path(entry_id), new.entry_path(entry_id)
    return before != now and read_or_nothing(before) != read_or_nothing(now)


def _others(books: Library) -> dict[str, bytes]:
    """Models by name."""
    return {path.name: read_or_nothing(path) for path in books.models.glob("*.yaml")}


def _joined(ids: Iterable[str], libraries: Iterable[Library]) -> set[str]:
    """These products with all that they contain or vary, and all that contain or vary them."""
    neighbours: defaultdict[str, set[str]] = defaultdict(set)
    for books in libraries:
        for entry_id, head in books.heads.items():
            for neighbour in (*(part.ref for part in head.contains), head.variant_of):
                neighbours[entry_id].add(neighbour)
                neighbours[neighbour].add(entry_id)
    neighbours.pop("", None)  # of no other a variant
    joined: set[str] = set()
    waiting = [*ids]
    while waiting:
        entry_id = waiting.pop()
        if entry_id and entry_id not in joined:
            joined.add(entry_id)
            waiting += neighbours[entry_id]
    return joined
