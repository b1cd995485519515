"""Atom feeds of works: one for all of them, one for each topic."""

from __future__ import annotations

from collections.abc import Iterable

from flopbook.changes.additions import additions
from flopbook.data.library import references
from flopbook.data.references import Reference
from flopbook.data.topics import Topic
from flopbook.export.atom import Item, atom
from scripts.website.pages.sources import all_topics, home_topic, newest_first, when

FOLDER = "references/feeds"
ALL = "works"
MOST = 60


def feed_file(topic: str = ALL) -> str:
    """The content path of a topic's feed, or of that of all works."""
    return f"{FOLDER}/{topic}.atom"


def files() -> dict[str, str]:
    """Content path -> text of every feed."""
    works = newest_first(item for item in references().values() if item.is_work)
    found = {feed_file(): _feed("works", ALL, works)}
    for topic in all_topics():
        names = {one.id for one in topic.walk()}
        found[feed_file(topic.id)] = _of_topic(
            topic, [item for item in works if names.intersection(item.topics)]
        )
    return found


def _of_topic(topic: Topic, works: list[Reference]) -> str:
    return _feed(f"works on {topic.title}", topic.id, works)


def _feed(title: str, name: str, works: Iterable[Reference]) -> str:
    """The works that came last: by the day on which they were added, then by their own date."""
    added = additions()
    dated = [(added.get(item.key) or published(item), item) for item in works]
    newest = sorted(dated, key=lambda pair: pair[0][:10], reverse=True)[:MOST]
    return atom(
        f"flopbook: {title}",
        f"works:{name}",
        f"{name}.atom",
        [_item(time, item) for time, item in newest],
    )


def published(item: Reference) -> str:
    """The first moment of the month or year of a work, as ISO 8601."""
    return f"{item.year or 1970:04d}-{item.month or 1:02d}-01T00:00:00+00:00"


def _item(time: str, item: Reference) -> Item:
    said = f"{item.authors}, {when(item)}. {item.annote}\n{item.link}"
    return Item(item.title, f"work:{item.key}", time, f"../{home_topic(item)}/#{item.key}", said)
