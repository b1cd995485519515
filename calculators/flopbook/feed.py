"""The changes of values as an Atom feed: what was added, changed or corrected, and by which source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from flopbook.difference import Change
from flopbook.entries import entry_ids
from flopbook.history import Event
from flopbook.words import counted

FILE = "changes.atom"
NAMESPACE = "http://www.w3.org/2005/Atom"
MOST_EVENTS, MOST_LINES = 150, 40
# Characters that XML 1.0 cannot hold, whoever wrote them.
_UNHOLDABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def atom(events: Sequence[Event]) -> str:
    """The feed, newest first. Its links are relative to its own address, so that it may be moved."""
    ElementTree.register_namespace("", NAMESPACE)
    feed = ElementTree.Element(f"{{{NAMESPACE}}}feed")
    _add(feed, "title", "flopbook: values added, changed and corrected")
    _add(feed, "id", "urn:flopbook:changes:accelerators")
    _add(feed, "updated", events[0].when if events else "1970-01-01T00:00:00+00:00")
    _add(_add(feed, "author"), "name", "The flopbook contributors")
    _add(feed, "link", rel="self", href=FILE)
    there = set(entry_ids())
    for event in events[:MOST_EVENTS]:
        entry = _add(feed, "entry")
        _add(entry, "title", f"{event.entry}: {title(event.changes)}")
        _add(entry, "id", f"urn:flopbook:change:{event.entry}:{event.commit}")
        _add(entry, "updated", event.when)
        page = f"../../accelerators/{event.entry}/" if event.entry in there else "../../accelerators/"
        _add(entry, "link", rel="alternate", href=page)
        _add(entry, "content", "\n".join(lines(event.changes)), type="text")
    ElementTree.indent(feed, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(feed, encoding="unicode") + "\n"


def _add(parent: ElementTree.Element, tag: str, text: str = "", **attributes: str) -> ElementTree.Element:
    child = ElementTree.SubElement(parent, f"{{{NAMESPACE}}}{tag}", attributes)
    child.text = _UNHOLDABLE.sub("\ufffd", text) or None
    return child


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
    corrected = change.how == "changed" and change.relative and change.old_source == change.new_source
    return "corrected" if corrected else change.how


def lines(changes: Sequence[Change]) -> list[str]:
    """Each change in words, the first of many."""
    told = [_line(change) for change in changes[:MOST_LINES]]
    return [*told, *([f"and {len(changes) - MOST_LINES} more"] if len(changes) > MOST_LINES else [])]


def _line(change: Change) -> str:
    what = f"{change.field or 'entry'}: {_kind(change)}"
    if change.old is not None and change.new is not None:
        moved = f" ({change.relative:+.1%})" if change.relative else ""
        value = f"{change.old} to {change.new}{moved}" if change.old != change.new else f"{change.new}"
    else:
        value = str(change.new if change.old is None else change.old)
    source = change.new_source or change.old_source
    return f"{what}, {value}{f', {source}' if source else ''}"
