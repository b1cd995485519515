"""What is new: works by month with our notes, and what came last into the bibliography."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from flopbook.changes.additions import additions
from flopbook.data.library import references
from flopbook.data.references import Reference
from flopbook.drawing.markup import escape, front_matter, relative
from flopbook.evaluation.answers import counted
from scripts.website.pages.feeds import feed_file
from scripts.website.pages.sources import kind_badge, newest_first, short_line, when

PAGE = "references/new.md"
# So many works are told with their notes, month by month, and so many of those that were added
# last.
MOST, MOST_ADDED = 150, 30


def new_page() -> str:
    """Works by month, newest first."""
    works = newest_first(item for item in references().values() if item.is_work)
    lines = [
        front_matter(
            "What is new",
            "Works by month, newest first, each with a note; and a feed.",
            feed=feed_file(),
        ),
        "# What is new\n",
        "Works by the month in which they appeared, newest first, each with our note. "
        f"[The feed]({relative(PAGE, feed_file())}) of all works, and one on the page of each topic, follow what is "
        "added here.\n",
        *_months(works),
        *_added(works),
    ]
    return "\n".join(lines) + "\n"


def _months(works: list[Reference]) -> list[str]:
    """Whole months until there are works enough; whose month is not known stands under its year."""
    lines: list[str] = []
    told = 0
    for month, group in groupby(works, key=when):
        items = list(group)
        if told and told + len(items) > MOST:
            break
        told += len(items)
        lines += [f"## {month}\n", *(_line(item) for item in items), ""]
    if told < len(works):
        lines.append(
            f"Older ones, {len(works) - told:,} of them, are among [all works](works.md).\n"
        )
    return lines


def _line(item: Reference) -> str:
    return f"- {short_line(item, PAGE)} {kind_badge(item)}<br>{escape(item.annote)}"


def _added(works: Iterable[Reference]) -> list[str]:
    """What came last into the bibliography, by day, where the history is at hand."""
    days = {key: time[:10] for key, time in additions().items()}
    dated = sorted(
        (item for item in works if item.key in days), key=lambda item: days[item.key], reverse=True
    )
    if not dated:
        return []
    lines = [
        "## Added last\n",
        "By the day on which a work came into this bibliography, whatever its age.\n",
    ]
    for day, group in groupby(dated[:MOST_ADDED], key=lambda item: days[item.key]):
        lines += [f"### {day}\n", *(f"- {short_line(item, PAGE)}" for item in group), ""]
    rest = len(dated) - MOST_ADDED
    return [*lines, f"And {counted(rest, 'work')} before.\n"] if rest > 0 else lines
