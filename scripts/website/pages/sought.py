"""Chips that were looked for in vain: who makes them, where was looked, and what was there."""

from __future__ import annotations

from flopbook.data.sought import sought
from scripts.website.markup import Html, Markdown, table

TITLE = "Chips that were looked for"


def sought_section() -> list[Html]:
    """A table of them; empty where none was looked for in vain."""
    chips = sought()
    if not chips:
        return []
    rows = [[chip.name, chip.maker, str(chip.as_of), chip.where, chip.found] for chip in chips]
    return [
        Markdown("## {}\n").format(TITLE),
        Markdown(
            "These chips are announced, in use or were sold, and have no page here: on the day "
            "given, no source was found that prints their figures with unit and conditions. "
            "Whoever knows one can [add the chip](contributing/index.md).\n"
        ),
        table(
            ("chip", "maker", "looked for on", "where", "found"), rows, caption=TITLE, stacked=True
        ),
        Html("\n"),
    ]
