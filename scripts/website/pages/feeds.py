"""Atom feeds of works: one for all of them, one for each topic."""

from __future__ import annotations

from collections.abc import Iterable

from flopbook.changes.additions import additions
from flopbook.data.library import references
from flopbook.data.reference import Reference
from flopbook.export.atom import Item, atom
from scripts.website.pages.sources import all_topics, home_topic, newest_first, when

FOLDER = "references/feeds"
ALL = "works"
# Enough for a reader who looks in now and then; the page of all works has the older ones.
MOST = 60


def feed_file(topic: str = ALL) -> str:
    """The content path of a topic's feed, or of that of all works."""
    return f"{FOLDER}/{topic}.atom"


def files() -> dict[str, str]:
    """Content path -> text of every feed."""
    works = newest_first(work for work in references().values() if work.is_work)
    feeds = {feed_file(): _feed("works", ALL, works)}
    for topic in all_topics():
        # A work on a part of a topic is on the topic too.
        ids = {subtopic.id for subtopic in topic.walk()}
        on_topic = [work for work in works if ids.intersection(work.topics)]
        feeds[feed_file(topic.id)] = _feed(f"works on {topic.title}", topic.id, on_topic)
    return feeds


def _feed(title: str, name: str, works: Iterable[Reference]) -> str:
    """The works that came last: by the day on which they were added, then by their own date."""
    added = additions()
    dated = [(added.get(work.key) or published(work), work) for work in works]
    # Times differ in form and zone; their days compare as text.
    newest = sorted(dated, key=lambda pair: pair[0][:10], reverse=True)[:MOST]
    entries = [_entry(time, work) for time, work in newest]
    return atom(f"flopbook: {title}", f"works:{name}", f"{name}.atom", entries)


def published(work: Reference) -> str:
    """The first moment of the month or year of a work, as ISO 8601."""
    return f"{work.year or 1970:04d}-{work.month or 1:02d}-01T00:00:00+00:00"


def _entry(time: str, work: Reference) -> Item:
    summary = f"{work.authors}, {when(work)}. {work.annote}\n{work.place}"
    # The feed lies in a folder beside the pages of topics.
    href = f"../{home_topic(work)}/#{work.key}"
    return Item(work.title, f"work:{work.key}", time, href, summary)
