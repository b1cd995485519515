"""The page of a vendor: its products as a table by family, facts, history, further reading."""

from __future__ import annotations

from flopbook.data.library import vendor
from flopbook.data.vendors import Fact, Vendor
from flopbook.evaluation.answers import counted
from scripts.website.markup import Html, Markdown, front_matter, link, page_text, table
from scripts.website.pages.accelerators import date_or_last, source_cell
from scripts.website.pages.products import families_of, family_anchor, family_tables
from scripts.website.pages.sources import cite, gone, listed


def vendor_page(vendor_id: str) -> str:
    """A vendor: who it is, its products here, facts and further reading."""
    maker = vendor(vendor_id)
    page = f"accelerators/{vendor_id}/index.md"
    blocks = [
        front_matter(maker.name, f"{maker.name}: accelerators, facts and references.", toc=False),
        Markdown("# {}\n").format(maker.name),
        Markdown("{} {}{}.\n").format(
            maker.summary, link("Website", maker.website), gone(maker.website)
        ),
        *_products(vendor_id, page),
        *_facts(maker, page),
        *_history(maker, page),
        *_reading("White papers", maker.white_papers, page),
        *_reading("Media", maker.media, page),
        *_reading("Research", maker.research, page),
    ]
    return page_text(blocks) + "\n"


def _products(vendor_id: str, page: str) -> list[Html]:
    """A table of all products, with a line of links to the families where there are several."""
    families = families_of(vendor_id)
    if not families:
        return []
    blocks: list[Html] = [Markdown("## Products\n")]
    if len(families) > 1:
        links = Html(" · ").join(
            link(f"{name} ({len(members)})", f"#{family_anchor(name)}")
            for name, members in families.items()
        )
        blocks.append(Html('<p class="fb-fine">{}</p>\n').format(links))
    count = sum(map(len, families.values()))
    note = "Peaks are dense, links one way; each value leads to its source."
    return [
        *blocks,
        family_tables(vendor_id, page),
        Html('\n<p class="fb-note">{}. {}</p>\n').format(counted(count, "product"), note),
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


def _history(maker: Vendor, page: str) -> list[Html]:
    """What happened, oldest first; an event without a date comes last."""
    events = [fact for fact in maker.facts if fact.field == "event"]
    if not events:
        return []
    events.sort(key=date_or_last)
    return [Markdown("\n## History\n"), *(_event(event, page) for event in events)]


def _event(event: Fact, page: str) -> Html:
    return Markdown("- {} ({})").format(_dated_value(event), cite(event.source, page))


def _reading(title: str, keys: tuple[str, ...], page: str) -> list[Html]:
    if not keys:
        return []
    return [
        Markdown("\n## {}\n").format(title),
        *listed(keys, page),
    ]
