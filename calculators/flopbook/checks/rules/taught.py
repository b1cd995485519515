"""What misleads a reader is taught in a chapter: its row names one that exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_row
from flopbook.ledger.rows import Row

NAME = "taught"
CHAPTER = Advice("a chapter", "name one: `chapter: fsdp`")
PAGE = Advice("a page of docs/handbook", "name one that is there")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Rows that need a chapter and have none, or name one that is not there."""
    return findings(holdings.ledger, holdings.docs / "handbook")


def findings(rows: Iterable[Row], folder: Path) -> Iterator[Finding]:
    """What is wrong with the chapters of rows, where `folder` holds the chapters.

    An installed package has no chapters: there, any name will do.
    """
    chapters = {path.stem for path in folder.glob("*.md")} - {"index"}
    for row in rows:
        if row.to_teach and not row.chapter:
            yield at_row(NAME, row, f"{row.id} is taught nowhere", CHAPTER)
        elif row.chapter and chapters and row.chapter not in chapters:
            yield at_row(NAME, row, f"{row.id}: no chapter '{row.chapter}'", PAGE)
