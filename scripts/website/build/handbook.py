"""The chapters of the handbook, read from docs/ in their order."""

from __future__ import annotations

from pathlib import Path

from scripts.website.pages.chapter import Chapter, chapter_of

DOCS = Path(__file__).resolve().parents[3] / "docs"


def chapters() -> list[Chapter]:
    """Every page of docs/handbook/ that has an `order`, by it; two with the same stand by their
    names.
    """
    paths = sorted((DOCS / "handbook").glob("*.md"))
    found = (
        chapter_of(path.read_text(encoding="utf-8"), f"handbook/{path.name}") for path in paths
    )
    return sorted((one for one in found if one is not None), key=lambda one: (one.order, one.page))
