"""The page of all works: lists by year, and the data for filters, search and export."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from flopbook.data.library import entry_ids, load_entry, references, topics, vendor, vendor_ids
from flopbook.data.reference import SOURCE, Reference, few
from flopbook.data.reference_rules import KINDS
from flopbook.data.topics import Topic
from flopbook.evaluation.answers import counted
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    front_matter,
    link,
    page_text,
    script_json,
)
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
# Years that have a page of their own, from the first page on to the newest of the next: a page with
# all works would be the heaviest of the site. The script of the first page fetches the others.
EARLIER = {year: f"references/works-to-{year}.md" for year in (2025, 2024, 2021)}
NOTES = {PAGE: "references/works.json", SOURCES: "references/sources.json"}
SCRIPTS = "assets/flopbook/"
STYLE = f"{SCRIPTS}works/works.css"
USUAL = "paper"  # most works are one; a mark on each would say nothing
# The short name that a venue gives in brackets: `... on Computer Architecture (ISCA)` is ISCA.
_SHORT_VENUE = re.compile(r"\((\w*[A-Z]\w*[A-Z][\w ]*)\)")


def listed(page: str) -> list[Reference]:
    """What a page lists, newest first: the works, or the pages that only give values."""
    return newest_first(work for work in references().values() if work.is_work == (page == PAGE))


def works_on(page: str) -> list[Reference]:
    """The works of the years of a page, newest first."""
    ends = [*EARLIER]
    last = {path: year for year, path in EARLIER.items()}.get(page)
    place = 0 if last is None else ends.index(last) + 1
    first = ends[place] + 1 if place < len(ends) else 0
    return [work for work in listed(PAGE) if first <= (work.year or 0) <= (last or 9999)]


def works_page() -> str:
    """The newest works by year, complete without a script, and what the script needs."""
    works = listed(PAGE)
    earlier_links = " ".join(str(html_link(PAGE, path)) for path in EARLIER.values())
    blocks = [
        front_matter(
            "All works",
            "Filter, search, sort, cite and export all works.",
            wide=True,
            feed=feed_file(),
        ),
        Markdown("# All works\n"),
        Markdown(
            "{} with notes and BibTeX, {}. Each has its permanent address on the page of its "
            "topic. [{:,} more pages](sources.md) are cited for values only.\n"
        ).format(
            counted(len(works), "work"),
            _earlier_links(),
            len(references()) - len(works),
        ),
        stylesheet(PAGE, f"{SCRIPTS}explorer/panel.css"),
        stylesheet(PAGE, STYLE),
        Html(
            '<div class="fb-works" data-count="{}" data-earlier="{}" data-notes="{}" '
            'data-sources="{}" data-source-notes="{}" data-api="{}">'
        ).format(
            len(works),
            attribute(earlier_links),
            html_link(PAGE, NOTES[PAGE]),
            html_link(PAGE, SOURCES),
            html_link(PAGE, NOTES[SOURCES]),
            html_link(PAGE, "api/v1/references"),
        ),
        Html('<script type="application/json" class="fb-facets">{}</script>').format(
            script_json(_facets(works))
        ),
        Html('<div class="fb-panel"></div>'),
        *_years(works_on(PAGE), PAGE),
        Html("</div>"),
        Html('<script type="module" src="{}"></script>').format(
            html_link(PAGE, f"{SCRIPTS}works/main.js")
        ),
    ]
    return page_text(blocks) + "\n"


def _earlier_links() -> Html:
    """Where the works of other years are."""
    links = [
        Markdown("[up to {}]({})").format(year, path.rpartition("/")[2])
        for year, path in EARLIER.items()
    ]
    return Markdown("newest first; older ones are on pages of their own: {}").format(
        Html(", ").join(links)
    )


def earlier_pages() -> dict[str, str]:
    """Content path -> text: the plain lists of earlier years."""
    return {path: _earlier_page(year, path) for year, path in EARLIER.items()}


def _earlier_page(year: int, page: str) -> str:
    works = works_on(page)
    blocks = [
        front_matter(f"Works until {year}", f"Works that appeared until {year}, by year."),
        Markdown("# Works until {}\n").format(year),
        Markdown(
            "{}, newest first. [All works](works.md) has filters, search and export.\n"
        ).format(counted(len(works), "work")),
        stylesheet(page, STYLE),
        *_years(works, page),
    ]
    return page_text(blocks) + "\n"


def sources_page() -> str:
    """The pages that only give values, by year of the page."""
    sources = listed(SOURCES)
    blocks = [
        front_matter(
            "Sources of values", "Pages from which values on this site were read, by year."
        ),
        Markdown("# Sources of values\n"),
        Markdown(
            "{} from which values on this site were read: product pages, model cards, data sheets, "
            "press reports. Works worth reading in their own right are among [all "
            "works](works.md).\n"
        ).format(counted(len(sources), "page")),
        stylesheet(SOURCES, STYLE),
        *_years(sources, SOURCES),
    ]
    return page_text(blocks) + "\n"


def _years(works: Sequence[Reference], page: str) -> list[Html]:
    blocks: list[Html] = []
    for year, group in groupby(works, key=lambda work: work.year):
        blocks.append(Html('<h2 id="y{}">{}</h2>').format(year, year or "No date"))
        blocks.append(Html('<ul class="fb-list">'))
        blocks += [_line(work, page) for work in group]
        blocks.append(Html("</ul>"))
    return blocks


def _line(work: Reference, page: str) -> Html:
    """One work as a line, with what filters ask for as data; a source leads to its address only."""
    home = address(work, page)
    # A source of values has nothing to read beside its note, so its title leads there.
    title, note = link(work.title, home), Html()
    if work.is_work:
        title, note = title_link(work), Html(' <a href="{}">note</a>').format(home)
    return Html(
        '<li id="{id}"{filters}><span class="fb-title">{title}</span>{archive}{badge}<br>'
        "{people} {venue}{date}.{code}{note}</li>"
    ).format(
        id=attribute(work.key),
        filters=_filters(work),
        title=title,
        archive=gone(work.link),
        badge=_badge(work),
        people=stop(_people(work)),
        venue=f"{_short_venue(work.venue)}, " if work.venue else "",
        date=when(work),
        code=_code(work),
        note=note,
    )


def _filters(work: Reference) -> Html:
    """What the filters ask for: date, kind, topics and vendors.

    Of its topics the first is in the permanent address of a work already.
    """
    record = {
        "d": f"{work.year or 0:04d}-{work.month or 0:02d}",
        "k": "" if work.kind == USUAL else work.kind,
        "t": " ".join(work.topics[1:]),
        "v": " ".join(sorted(vendors_of(work))),
    }
    return Html().join(
        Html(' data-{}="{}"').format(name, attribute(text)) for name, text in record.items() if text
    )


def _badge(work: Reference) -> Html:
    if work.kind == USUAL:
        return Html()
    return Html(" {}").format(kind_badge(work))


def _code(work: Reference) -> Html:
    if not work.code:
        return Html()
    return Html(" {}").format(link("code", work.code, "fb-code"))


def _people(work: Reference) -> str:
    """Family names: a line is short, and the file of the script has everybody in full."""
    return few([person.family for person in work.people])


def _short_venue(venue: str) -> str:
    match = _SHORT_VENUE.search(venue)
    return match[1] if match else venue


def vendors_of(work: Reference) -> set[str]:
    """The vendors whose products a reference is about.

    By its topics, by who lists it, and by the values taken from it.
    """
    vendor_of_topic = {topic.id: topic.vendor for topic in all_topics() if topic.vendor}
    by_topic = {vendor_of_topic[name] for name in work.topics if name in vendor_of_topic}
    return by_topic | _cited().get(work.key, set())


# Every entry has to be read for it, and every line of the page asks.
@functools.lru_cache(maxsize=1)
def _cited() -> dict[str, set[str]]:
    """Key -> vendors whose entries take values from it or whose reading list has it."""
    citing: dict[str, set[str]] = {}
    for entry in map(load_entry, entry_ids()):
        sources = {claim.source for claim in entry.claims}
        sources |= {status.source for status in entry.status}
        sources |= {entry.die.source} if entry.die else set()
        for key in sources:
            citing.setdefault(key, set()).add(entry.vendor)
    for maker in map(vendor, vendor_ids()):
        for key in (*maker.white_papers, *maker.media, *maker.research):
            citing.setdefault(key, set()).add(maker.id)
    return citing


# The data of the script.


def files() -> dict[str, str]:
    """Content path -> text that the script fetches: our note by key, and full author names."""
    return {NOTES[page]: _notes(listed(page)) for page in (PAGE, SOURCES)}


def _notes(works: Sequence[Reference]) -> str:
    record: dict[str, list[str]] = {}
    for work in works:
        record[work.key] = [work.annote]
        everybody = ", ".join(person.full for person in work.people)
        if everybody != _people(work):  # otherwise the line has them all
            record[work.key].append(everybody)
    return _json(record)


def _facets(works: Sequence[Reference]) -> str:
    """What can be chosen: topics in the order of the tree with their depth, kinds, vendors."""
    # Only what occurs: a choice that finds nothing is no choice.
    kinds = {work.kind for work in works}
    vendors = {name for work in references().values() for name in vendors_of(work)}
    return _json(
        {
            "topics": [[topic.id, topic.title, depth] for topic, depth in _tree(topics())],
            "kinds": [kind for kind in KINDS if kind != SOURCE and kind in kinds],
            "source": SOURCE,
            "usual": USUAL,
            "vendors": {name: vendor(name).name for name in vendor_ids() if name in vendors},
        }
    )


def _tree(level: Sequence[Topic], depth: int = 0) -> Iterator[tuple[Topic, int]]:
    """Every topic with its depth, parents before children."""
    for topic in level:
        yield topic, depth
        yield from _tree(topic.children, depth + 1)


def _json(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
