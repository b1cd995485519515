"""Pages of vendors; what an entry's page is called and what its kind is in words."""

from __future__ import annotations

from flopbook.data.library import entry_ids, load_entry, vendor
from flopbook.data.vendors import Fact, Vendor
from scripts.website.markup import Html, Markdown, front_matter, link, page_text, table
from scripts.website.pages.sources import cite, gone

INDEX = "accelerators/index.md"
KINDS = {
    "package": "chip",  # what readers call a packaged chip
    "card": "card",
    "node": "node",
    "system": "system",
    "pod": "pod",
    "die": "die",
}


def entry_page(entry_id: str) -> str:
    """The content path of an entry."""
    return f"accelerators/{entry_id}.md"


def vendor_page(vendor_id: str) -> str:
    """A vendor: who it is, its products here, facts and further reading."""
    maker = vendor(vendor_id)
    page = f"accelerators/{vendor_id}/index.md"
    blocks = [
        front_matter(maker.name, f"{maker.name}: accelerators, facts and references."),
        Markdown("# {}\n").format(maker.name),
        Markdown("{} {}{}.\n").format(
            maker.summary, link("Website", maker.website), gone(maker.website)
        ),
        Markdown("## Products\n"),
        *_products(vendor_id),
        *_facts(maker, page),
        *_history(maker, page),
        *_reading("White papers", maker.white_papers, page),
        *_reading("Media", maker.media, page),
        *_reading("Research", maker.research, page),
    ]
    return page_text(blocks) + "\n"


def _products(vendor_id: str) -> list[Html]:
    products = [load_entry(name) for name in entry_ids() if name.startswith(f"{vendor_id}/")]
    return [
        Markdown("- [{}]({}.md), {}: {}").format(
            product.name, product.id.partition("/")[2], KINDS[product.kind], product.summary
        )
        for product in products
    ]


def _facts(maker: Vendor, page: str) -> list[Html]:
    """Who leads it, since when it is there, where: as of the day on which the source was read."""
    facts = [fact for fact in maker.facts if fact.field != "event"]
    if not facts:
        return []
    rows = [
        (fact.field, _dated_value(fact), source_cell(fact.source, fact.as_of, page))
        for fact in facts
    ]
    return [
        Markdown("\n## Facts\n"),
        table(("What", "Fact", "Source"), rows, caption=f"Facts about {maker.name}"),
    ]


def _dated_value(fact: Fact) -> str:
    return f"{fact.date}: {fact.value}" if fact.date else str(fact.value)


def source_cell(source: str, read: object, page: str) -> Html:
    """A source with the day on which it was read."""
    return Html('{} <span class="fb-read">read {}</span>').format(cite(source, page), read)


def _history(maker: Vendor, page: str) -> list[Html]:
    """What happened, oldest first; an event without a date comes last."""
    events = [fact for fact in maker.facts if fact.field == "event"]
    if not events:
        return []
    events.sort(key=date_or_last)
    return [Markdown("\n## History\n"), *(_event(event, page) for event in events)]


# Dates are text of any precision, 2017 or 2017-05, and sort as text.
def date_or_last(fact: Fact) -> str:
    """The date of a fact to sort by; a fact without a date comes after all others."""
    return fact.date or "9999"


def _event(event: Fact, page: str) -> Html:
    return Markdown("- {} ({})").format(_dated_value(event), cite(event.source, page))


def _reading(title: str, keys: tuple[str, ...], page: str) -> list[Html]:
    if not keys:
        return []
    return [
        Markdown("\n## {}\n").format(title),
        *(Markdown("- {}").format(cite(key, page)) for key in keys),
    ]
