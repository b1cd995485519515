"""Pages of vendors; what an entry's page is called and what its kind is in words."""

from __future__ import annotations

from flopbook.data.library import entry_ids, load_entry, vendor
from flopbook.data.vendors import Vendor
from flopbook.drawing.markup import escape, front_matter, inline, link, table
from scripts.website.pages.sources import cite, gone

INDEX = "accelerators/index.md"
KINDS = {
    "package": "chip",
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
    item = vendor(vendor_id)
    page = f"accelerators/{vendor_id}/index.md"
    products = [load_entry(name) for name in entry_ids() if name.startswith(f"{vendor_id}/")]
    lines = [
        front_matter(item.name, f"{item.name}: accelerators, facts and references."),
        f"# {inline(item.name)}\n",
        f"{inline(item.summary)} {link('Website', item.website)}{gone(item.website)}.\n",
        "## Products\n",
        *(
            f"- [{inline(p.name)}]({p.id.partition('/')[2]}.md), {KINDS[p.kind]}: {inline(p.summary)}"
            for p in products
        ),
        *_facts(item, page),
        *_history(item, page),
    ]
    for title, keys in (
        ("White papers", item.white_papers),
        ("Media", item.media),
        ("Research", item.research),
    ):
        if keys:
            lines += [f"\n## {title}\n", *(f"- {cite(key, page)}" for key in keys)]
    return "\n".join(lines) + "\n"


def _facts(item: Vendor, page: str) -> list[str]:
    """Who leads it, since when it is there, where: as of the day on which the source was read."""
    rows = [
        (
            escape(fact.field),
            escape(f"{fact.date + ': ' if fact.date else ''}{fact.value}"),
            f'{cite(fact.source, page)} <span class="fb-read">read {fact.as_of}</span>',
        )
        for fact in item.facts
        if fact.field != "event"
    ]
    if not rows:
        return []
    return [
        "\n## Facts\n",
        table(("What", "Fact", "Source"), rows, caption=f"Facts about {item.name}"),
    ]


def _history(item: Vendor, page: str) -> list[str]:
    """What happened, oldest first; an event without a date comes last."""
    events = sorted(
        (fact for fact in item.facts if fact.field == "event"), key=lambda fact: fact.date or "9999"
    )
    lines = [
        f"- {f'{inline(e.date)}: ' if e.date else ''}{inline(e.value)} ({cite(e.source, page)})"
        for e in events
    ]
    return ["\n## History\n", *lines] if lines else []
