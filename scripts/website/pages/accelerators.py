"""What the page of an entry is called, what its kind is in words, and cells for its sources."""

from __future__ import annotations

from flopbook.data.vendors import Fact
from scripts.website.markup import Html
from scripts.website.pages.sources import cite

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


def source_cell(source: str, read: object, page: str) -> Html:
    """A source with the day on which it was read."""
    return Html('{} <span class="fb-read">read {}</span>').format(cite(source, page), read)


# Dates are text of any precision, 2017 or 2017-05, and sort as text.
def date_or_last(fact: Fact) -> str:
    """The date of a fact to sort by; a fact without a date comes after all others."""
    return fact.date or "9999"
