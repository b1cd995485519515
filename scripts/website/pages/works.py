"""The page of all works: plain lists by year, and the data from which a script makes filters,
search and export.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from flopbook.data.library import entry_ids, load_entry, references, topics, vendor, vendor_ids
from flopbook.data.reference_rules import KINDS, SOURCE
from flopbook.data.references import Reference, few
from flopbook.data.topics import Topic
from flopbook.drawing.markup import escape, front_matter, html_text, link
from flopbook.evaluation.answers import counted
from scripts.website.pages.feeds import feed_file
from scripts.website.pages.sources import (
    address,
    all_topics,
    gone,
    html_link,
    kind_badge,
    newest_first,
    stop,
    stylesheet,
    title_link,
    when,
)

PAGE, SOURCES = "references/works.md", "references/sources.md"
NOTES = {PAGE: "references/works.json", SOURCES: "references/sources.json"}
SCRIPTS = "assets/flopbook/"
STYLE = f"{SCRIPTS}works/works.css"
USUAL = "paper"  # most works are one; a mark on each would say nothing


def listed(page: str) -> list[Reference]:
    """What a page lists, newest first: the works, or the pages that only give values."""
    return newest_first(item for item in references().values() if item.is_work == (page == PAGE))


def works_page() -> str:
    """All works by year, complete without a script, and what the script needs."""
    works = listed(PAGE)
    rest = len(references()) - len(works)
    lines = [
        front_matter(
            "All works",
            "Filter, search, sort, cite and export all works.",
            wide=True,
            feed=feed_file(),
        ),
        "# All works\n",
        f"{counted(len(works), 'work')} with notes and BibTeX. The permanent address of each is on the page of its "
        f"topic. [{rest:,} more pages](sources.md) are sources of values.\n",
        stylesheet(PAGE, f"{SCRIPTS}explorer/panel.css"),
        stylesheet(PAGE, STYLE),
        f'<div class="fb-works" data-notes="{html_link(PAGE, NOTES[PAGE])}" '
        f'data-sources="{html_link(PAGE, SOURCES)}" data-source-notes="{html_link(PAGE, NOTES[SOURCES])}" '
        f'data-api="{html_link(PAGE, "api/v1/references")}">',
        f'<script type="application/json" class="fb-facets">{_facets(works)}</script>',
        '<div class="fb-panel"></div>',
        *_years(works, PAGE),
        "</div>",
        f'<script type="module" src="{html_link(PAGE, SCRIPTS + "works/main.js")}"></script>',
    ]
    return "\n".join(lines) + "\n"


def sources_page() -> str:
    """The pages that only give values, by year of the page."""
    items = listed(SOURCES)
    lines = [
        front_matter(
            "Sources of values", "Pages from which values on this site were read, by year."
        ),
        "# Sources of values\n",
        f"{counted(len(items), 'page')} from which values on this site were read: sites of products, model cards, data "
        "sheets, reports of the press. What is worth reading for itself is among [all works](works.md).\n",
        stylesheet(SOURCES, STYLE),
        *_years(items, SOURCES),
    ]
    return "\n".join(lines) + "\n"


def _years(items: Sequence[Reference], page: str) -> list[str]:
    lines: list[str] = []
    for year, group in groupby(items, key=lambda item: item.year):
        lines += [f'<h2 id="y{year}">{year or "No date"}</h2>', '<ul class="fb-list">']
        lines += [_row(item, page) for item in group]
        lines.append("</ul>")
    return lines


def _row(item: Reference, page: str) -> str:
    """One work as a line, with what the filters ask for as data; a source leads to its permanent
    address only.

    Of its topics the first is in that address, and only the others are data.
    """
    data = {
        "d": f"{item.year or 0:04d}-{item.month or 0:02d}",
        "k": item.kind,
        "t": " ".join(item.topics[1:]),
        "v": " ".join(sorted(vendors_of(item))),
    }
    attributes = "".join(f' data-{name}="{value}"' for name, value in data.items() if value)
    venue = f"{escape(_short_venue(item.venue))}, " if item.venue else ""
    badge = f" {kind_badge(item)}" if item.kind != USUAL else ""
    home = address(item, page)
    title, note = (
        (title_link(item), f' <a href="{home}">note</a>')
        if item.is_work
        else (link(item.title, home), "")
    )
    code = f" {link('code', item.code, 'fb-code')}" if item.code else ""
    return (
        f'<li id="{item.key}"{attributes}><span class="fb-title">{title}</span>{gone(item.link)}{badge}<br>'
        f"{stop(escape(_who(item)))} {venue}{escape(when(item))}.{code}{note}</li>"
    )


def _who(item: Reference) -> str:
    """Family names: a line is short, and the file of the script has everybody in full."""
    return few([person.family for person in item.people])


def _short_venue(venue: str) -> str:
    """The short name that a venue gives in brackets: `... on Computer Architecture (ISCA)` is ISCA."""
    short = re.search(r"\((\w*[A-Z]\w*[A-Z][\w ]*)\)", venue)
    return short[1] if short else venue


def vendors_of(item: Reference) -> set[str]:
    """The vendors whose products a reference is about: by its topics, by who lists it, by the
    values taken from it.
    """
    by_topic = {topic.id: topic.vendor for topic in all_topics() if topic.vendor}
    return {by_topic[name] for name in item.topics if name in by_topic} | _cited().get(
        item.key, set()
    )


@functools.lru_cache(maxsize=1)
def _cited() -> dict[str, set[str]]:
    """Key -> vendors of the entries that take values from it, and of the vendors' own reading
    lists.
    """
    found: dict[str, set[str]] = {}
    for name in entry_ids():
        entry = load_entry(name)
        for key in {claim.source for claim in entry.claims} | {
            status.source for status in entry.status
        }:
            found.setdefault(key, set()).add(entry.vendor)
    for name in vendor_ids():
        one = vendor(name)
        for key in (*one.white_papers, *one.media, *one.research):
            found.setdefault(key, set()).add(name)
    return found


# The data of the script.


def _facets(works: Sequence[Reference]) -> str:
    """What can be chosen: topics in the order of the tree with their depth, kinds, vendors."""
    used = {name for item in references().values() for name in vendors_of(item)}
    record = {
        "topics": [[topic.id, topic.title, depth] for topic, depth in _tree(topics())],
        "kinds": [
            kind for kind in KINDS if kind != SOURCE and any(item.kind == kind for item in works)
        ],
        "source": SOURCE,
        "vendors": {name: vendor(name).name for name in vendor_ids() if name in used},
    }
    return html_text(json.dumps(record, ensure_ascii=False, separators=(",", ":")))


def _tree(level: Sequence[Topic], depth: int = 0) -> Iterator[tuple[Topic, int]]:
    """Every topic with its depth, parents before children."""
    for topic in level:
        yield topic, depth
        yield from _tree(topic.children, depth + 1)


def files() -> dict[str, str]:
    """Content path -> text of what the script fetches: key -> our note, and all authors with their
    given names.
    """
    return {NOTES[page]: _notes(listed(page)) for page in (PAGE, SOURCES)}


def _notes(items: Sequence[Reference]) -> str:
    record: dict[str, list[str]] = {}
    for item in items:
        everybody = ", ".join(person.full for person in item.people)
        record[item.key] = [item.annote, *([everybody] if everybody != _who(item) else [])]
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
