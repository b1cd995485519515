"""What is new: works by month with our notes, and what came last into the bibliography."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from flopbook.changes.additions import additions
from flopbook.data.library import references
from flopbook.data.reference import Reference
from flopbook.evaluation.answers import counted
from scripts.website.markup import Html, Markdown, front_matter, page_text, relative
from scripts.website.pages.feeds import feed_file
from scripts.website.pages.sources import kind_badge, newest_first, short_line, when

PAGE = "references/new.md"
# So many works are listed with their notes, month by month, and so many of those that were added
# last.
MOST, MOST_ADDED = 150, 30


def new_page() -> str:
    """Works by month, newest first."""
    works = newest_first(work for work in references().values() if work.is_work)
    blocks = [
        front_matter(
            "What is new",
            "Works by month, newest first, each with a note; and a feed.",
            feed=feed_file(),
        ),
        Markdown("# What is new\n"),
        Markdown(
            "Works by the month in which they appeared, newest first, each with our note. "
            "[The feed]({}) of all works, and one on the page of each topic, follow what is added "
            "here.\n"
        ).format(relative(PAGE, feed_file())),
        *_months(works),
        *_added(works),
    ]
    return page_text(blocks) + "\n"


def _months(works: list[Reference]) -> list[Html]:
    """Entire months until there are works enough; a work without a month stands under its year."""
    blocks: list[Html] = []
    listed = 0
    for month, group in groupby(works, key=when):
        of_month = list(group)
        # Never an empty page, however many works the newest month has.
        if listed and listed + len(of_month) > MOST:
            break
        listed += len(of_month)
        blocks += [Markdown("## {}\n").format(month), *map(_line, of_month), Html()]
    if listed < len(works):
        blocks.append(
            Markdown("{:,} older ones are listed under [all works](works.md).\n").format(
                len(works) - listed
            )
        )
    return blocks


def _line(work: Reference) -> Html:
    return Html("- {} {}<br>{}").format(short_line(work, PAGE), kind_badge(work), work.annote)


def _added(works: Iterable[Reference]) -> list[Html]:
    """What came last into the bibliography, by day, where the history is at hand."""
    # The day is enough: works that came on one day stand together.
    days = {key: time[:10] for key, time in additions().items()}
    dated = [work for work in works if work.key in days]
    if not dated:
        return []
    dated.sort(key=lambda work: days[work.key], reverse=True)
    blocks: list[Html] = [
        Markdown("## Added last\n"),
        Markdown("By the day on which a work came into this bibliography, whatever its age.\n"),
    ]
    for day, group in groupby(dated[:MOST_ADDED], key=lambda work: days[work.key]):
        blocks.append(Markdown("### {}\n").format(day))
        blocks += [Markdown("- {}").format(short_line(work, PAGE)) for work in group]
        blocks.append(Html())
    unlisted = len(dated) - MOST_ADDED
    if unlisted > 0:
        blocks.append(Markdown("And {} before.\n").format(counted(unlisted, "work")))
    return blocks
