"""Where a page stands that the navigation does not list: its tab, the way to it, its siblings.

Hundreds of chips and topics in the navigation would weigh on every page, so each of them brings
what stands around it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import (
    entry_ids,
    load_entry,
    per_library,
    reference,
    topics,
    vendor,
    vendor_ids,
)
from flopbook.data.topics import Topic
from scripts.website.markup import Html, link
from scripts.website.pages import errata, pairs, reached, run_kinds
from scripts.website.pages.accelerators import INDEX, entry_page
from scripts.website.pages.products import NO_FAMILY, families_of, family_anchor, short_name
from scripts.website.pages.sources import html_link, topic_page

CHIPS, PAPERS, ABOUT = "Chips", "Papers", "About"
_REFERENCES = "references/index.md"
_REACHED = "What people really reach"


class PagePlace(NamedTuple):
    """The tab of a page, the links that lead to it, and the list beside it."""

    tab: str
    trail: Html
    siblings: Html


def place_of(page: str) -> PagePlace | None:
    """The place of a content path; None for a page that the navigation lists."""
    return _places().get(page)


@per_library
def _places() -> dict[str, PagePlace]:
    """Content path -> place of every page of a vendor, a product or a topic."""
    places = {_vendor_page(name): _vendor_place(name) for name in vendor_ids()}
    places |= {entry_page(name): _entry_place(load_entry(name)) for name in entry_ids()}
    places |= {pair.page: _pair_place(pair) for pair in pairs.all_pairs()}
    for top in topics():
        places |= _topic_places(top, ())
    places |= {page: _runs_place(page) for page in run_kinds.PLAIN}
    for index, title in ((errata.PAGE, "Errata"), (errata.HELD, "Claims that hold")):
        places |= _source_places(index, title)
    return places


def trail(page: str, steps: Iterable[tuple[str, str]], name: str) -> Html:
    """The way to a page: title and content path of each step, then the name of the page."""
    links = Html().join(
        Html("<li>{}</li>").format(link(title, html_link(page, target))) for title, target in steps
    )
    return Html(
        '<nav class="fb-trail" aria-label="Breadcrumbs"><ol>{}'
        '<li aria-current="page">{}</li></ol></nav>'
    ).format(links, name)


def _list(page: str, title: str, items: Sequence[tuple[str, str]]) -> Html:
    lines = Html().join(_item(page, words, target) for words, target in items)
    return Html("<p>{}</p><ul>{}</ul>").format(title, lines)


def _item(page: str, words: str, target: str) -> Html:
    if target == page:
        return Html('<li><a href="{}" aria-current="page">{}</a></li>').format(
            html_link(page, target), words
        )
    return Html("<li>{}</li>").format(link(words, html_link(page, target)))


def _beside(name: str, lists: Iterable[Html]) -> Html:
    return Html('<nav class="fb-siblings" aria-label="{}">{}</nav>').format(
        name, Html().join(lists)
    )


# Vendors and their products.


def _vendor_page(vendor_id: str) -> str:
    return f"accelerators/{vendor_id}/index.md"


def _vendor_place(vendor_id: str) -> PagePlace:
    page = _vendor_page(vendor_id)
    vendors = [(vendor(name).name, _vendor_page(name)) for name in vendor_ids()]
    way = trail(page, [(CHIPS, INDEX)], vendor(vendor_id).name)
    return PagePlace(CHIPS, way, _beside("Vendors", [_list(page, "Vendors", vendors)]))


def _entry_place(entry: Entry) -> PagePlace:
    """The products of the family first, then one line for each other family of the vendor."""
    page, maker = entry_page(entry.id), vendor(entry.vendor)
    own_page = _vendor_page(entry.vendor)
    steps = [(CHIPS, INDEX), (maker.name, own_page)]
    families = families_of(entry.vendor)
    own = families[entry.family or NO_FAMILY]
    members = [(short_name(member), entry_page(member.id)) for member in own]
    lists = [_list(page, f"{maker.name} {entry.family}".strip(), members)]
    siblings = [name for name in families if name != (entry.family or NO_FAMILY)]
    if siblings:
        targets = [(name, f"{own_page}#{family_anchor(name)}") for name in siblings]
        lists.append(_list(page, "Other families", targets))
    return PagePlace(CHIPS, trail(page, steps, short_name(entry)), _beside("Siblings", lists))


def _pair_place(pair: pairs.Pair) -> PagePlace:
    """A comparison, beside the others of either product."""
    way = trail(pair.page, [(CHIPS, INDEX), (pairs.TITLE, pairs.INDEX)], pair.title)
    lists = [_list(pair.page, pairs.TITLE, pairs.siblings_of(pair))]
    return PagePlace(CHIPS, way, _beside("Siblings", lists))


def _runs_place(page: str) -> PagePlace:
    """Published runs of some kinds, below what people reach."""
    way = trail(page, [(CHIPS, INDEX), (_REACHED, reached.PAGE)], run_kinds.TITLES[page])
    items = [(_REACHED, reached.PAGE), *((title, one) for one, title in run_kinds.TITLES.items())]
    return PagePlace(CHIPS, way, _beside("Siblings", [_list(page, CHIPS, items)]))


# Topics.


def _topic_places(topic: Topic, above: tuple[Topic, ...]) -> dict[str, PagePlace]:
    """A topic and all below it, each beside its siblings."""
    level = above[-1].children if above else topics()
    page = topic_page(topic.id)
    steps = [
        (PAPERS, _REFERENCES),
        *((neighbour.title, topic_page(neighbour.id)) for neighbour in above),
    ]
    title = above[-1].title if above else "Topics"
    lists = [
        _list(page, title, [(neighbour.title, topic_page(neighbour.id)) for neighbour in level])
    ]
    if topic.children:
        below = [(neighbour.title, topic_page(neighbour.id)) for neighbour in topic.children]
        lists.insert(0, _list(page, topic.title, below))
    places = {page: PagePlace(PAPERS, trail(page, steps, topic.title), _beside("Siblings", lists))}
    for child in topic.children:
        places |= _topic_places(child, (*above, topic))
    return places


# Sources whose statements were recomputed.


def _source_places(index: str, title: str) -> dict[str, PagePlace]:
    """The pages of sources below an index, each beside the others."""
    pages = errata.source_pages(index)
    places = {}
    for page, source in pages.items():
        way = trail(page, [(ABOUT, "about.md"), (title, index)], reference(source).title)
        siblings = [(reference(key).title, target) for target, key in pages.items()]
        places[page] = PagePlace(ABOUT, way, _beside("Siblings", [_list(page, title, siblings)]))
    return places
