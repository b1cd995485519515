"""What was looked for in vain, chips and newer prices: where was looked, and what was there."""

from __future__ import annotations

from flopbook.data.library import load_entry
from flopbook.data.sought import searches
from scripts.website.markup import Html, Markdown, table

TITLE = "Chips without a usable source"
PRICES_TITLE = "Prices without a newer source"


def sought_section() -> list[Html]:
    """A table of them; empty where none was looked for in vain."""
    chips = searches().chips
    if not chips:
        return []
    rows = [[chip.name, chip.maker, str(chip.as_of), chip.where, chip.found] for chip in chips]
    return [
        Markdown("## {}\n").format(TITLE),
        Markdown(
            "These chips have been announced, sold or put to use but have no page here: up to the "
            "day given we found no source that prints their figures with units and conditions. "
            "If you know one, [add the chip](contributing/index.md).\n"
        ),
        table(
            ("chip", "maker", "searched on", "where", "found"), rows, caption=TITLE, stacked=True
        ),
        Html("\n"),
    ]


def sought_prices_section() -> list[Html]:
    """A table of the chips without a newer price; empty where none was looked for in vain."""
    looked_for = searches().prices
    if not looked_for:
        return []
    rows = [
        [
            ", ".join(load_entry(chip).name for chip in row.chips),
            str(row.as_of),
            row.where,
            row.found,
        ]
        for row in looked_for
    ]
    return [
        Markdown(
            "\nThe prices of these chips are old: on the day given, no newer one was found.\n"
        ),
        table(("chips", "searched on", "where", "found"), rows, caption=PRICES_TITLE, stacked=True),
    ]
