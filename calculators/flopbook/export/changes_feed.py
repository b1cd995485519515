"""The changes of values as an Atom feed: added, changed or corrected, and by which source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flopbook.changes.difference import Change
from flopbook.changes.history import Event
from flopbook.data.library import entry_ids
from flopbook.evaluation.answers import counted
from flopbook.export.atom import Item, atom
from flopbook.quantities.units import percent

FILE = "changes.atom"
MOST_EVENTS, MOST_LINES = 150, 40
_PAGES = "../../accelerators/"


def feed(events: Sequence[Event]) -> str:
    """The feed, newest first."""
    ids = set(entry_ids())
    items = [_item(event, event.entry in ids) for event in events[:MOST_EVENTS]]
    name = "flopbook: values added, changed and corrected"
    return atom(name, "changes:accelerators", FILE, items)


def _item(event: Event, has_page: bool) -> Item:
    return Item(
        f"{event.entry}: {title(event.changes)}",
        f"change:{event.entry}:{event.commit}",
        event.when,
        f"{_PAGES}{event.entry}/" if has_page else _PAGES,  # an entry may have been removed since
        "\n".join(lines(event.changes)),
    )


def title(changes: Iterable[Change]) -> str:
    """`added`, `removed`, or how many values were added, changed, corrected and read again."""
    counts: dict[str, int] = {}
    for change in changes:
        if not change.field:  # the entry itself came or went
            return change.how
        kind = _kind(change)
        counts[kind] = counts.get(kind, 0) + 1
    return ", ".join(f"{counted(count, 'value')} {kind}" for kind, count in sorted(counts.items()))


def _kind(change: Change) -> str:
    """A value that its own source is now said to print otherwise was wrong here: a correction."""
    if change.how == "reread":
        return "read again"
    has_moved = change.how == "changed" and change.relative
    if has_moved and change.old_source == change.new_source:
        return "corrected"
    return change.how


def lines(changes: Sequence[Change]) -> list[str]:
    """Each change in words, the first of many."""
    first = [_line(change) for change in changes[:MOST_LINES]]
    if len(changes) > MOST_LINES:
        first.append(f"and {len(changes) - MOST_LINES} more")
    return first


def _line(change: Change) -> str:
    text = f"{change.field or 'entry'}: {_kind(change)}, {_values(change)}"
    source = change.new_source or change.old_source
    return f"{text}, {source}" if source else text


def _values(change: Change) -> str:
    if change.old is None:
        return str(change.new)
    if change.new is None or change.old == change.new:
        return str(change.old)
    relative = f" ({percent(change.relative, 1, signed=True)})" if change.relative else ""
    return f"{change.old} to {change.new}{relative}"
