"""The changes of values as an Atom feed: what was added, changed or corrected, and by which source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flopbook.changes.difference import Change
from flopbook.changes.history import Event
from flopbook.data.library import entry_ids
from flopbook.evaluation.answers import counted
from flopbook.export.atom import Item, atom

FILE = "changes.atom"
MOST_EVENTS, MOST_LINES = 150, 40


def feed(events: Sequence[Event]) -> str:
    """The feed, newest first."""
    there = set(entry_ids())
    items = [
        Item(
            f"{event.entry}: {title(event.changes)}",
            f"change:{event.entry}:{event.commit}",
            event.when,
            f"../../accelerators/{event.entry}/" if event.entry in there else "../../accelerators/",
            "\n".join(lines(event.changes)),
        )
        for event in events[:MOST_EVENTS]
    ]
    return atom(
        "flopbook: values added, changed and corrected", "changes:accelerators", FILE, items
    )


def title(changes: Iterable[Change]) -> str:
    """`added`, `removed`, or how many values were added, changed, corrected and read again."""
    counts: dict[str, int] = {}
    for change in changes:
        if not change.field:
            return change.how
        counts[_kind(change)] = counts.get(_kind(change), 0) + 1
    return ", ".join(f"{counted(count, 'value')} {kind}" for kind, count in sorted(counts.items()))


def _kind(change: Change) -> str:
    """A value that its own source is now said to print otherwise was wrong here: a correction."""
    if change.how == "reread":
        return "read again"
    corrected = (
        change.how == "changed" and change.relative and change.old_source == change.new_source
    )
    return "corrected" if corrected else change.how


def lines(changes: Sequence[Change]) -> list[str]:
    """Each change in words, the first of many."""
    told = [_line(change) for change in changes[:MOST_LINES]]
    return [
        *told,
        *([f"and {len(changes) - MOST_LINES} more"] if len(changes) > MOST_LINES else []),
    ]


def _line(change: Change) -> str:
    what = f"{change.field or 'entry'}: {_kind(change)}"
    if change.old is not None and change.new is not None:
        moved = f" ({change.relative:+.1%})" if change.relative else ""
        value = (
            f"{change.old} to {change.new}{moved}" if change.old != change.new else f"{change.new}"
        )
    else:
        value = str(change.new if change.old is None else change.old)
    source = change.new_source or change.old_source
    return f"{what}, {value}{f', {source}' if source else ''}"
