"""The chapters of the handbook, read from docs/ in their order."""

from __future__ import annotations

from pathlib import Path

from flopbook.data.files import read_text
from scripts.website.pages.chapter import Chapter, chapter_of

DOCS = Path(__file__).resolve().parents[3] / "docs"


def chapters() -> list[Chapter]:
    """Every page of docs/handbook/ that has an `order`, by it; by name where two have the same."""
    ordered: list[Chapter] = []
    for path in (DOCS / "handbook").glob("*.md"):
        chapter = chapter_of(read_text(path), f"handbook/{path.name}")
        if chapter is not None:
            ordered.append(chapter)
    return sorted(ordered, key=lambda chapter: (chapter.order, chapter.page))
