"""What misleads a reader is taught in a chapter: its row names one that exists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flopbook.checks.rules.base import Data, Finding
from flopbook.data.library import library
from flopbook.errors import Problem
from flopbook.ledger.rows import Row, ledger_rows

NAME = "taught"


def check(data: Data) -> Iterator[Finding]:
    """Rows that need a chapter and have none, or name one that is not there."""
    return findings(ledger_rows(), library().docs / "handbook")


def findings(rows: tuple[Row, ...], folder: Path) -> Iterator[Finding]:
    """What is wrong with the chapters of rows, where `folder` holds the chapters."""
    known = {path.stem for path in folder.glob("*.md")} - {"index"}
    for row in rows:
        if row.to_teach and not row.chapter:
            said = (f"{row.id} is taught nowhere", "a chapter", "name one: `chapter: fsdp`")
        elif row.chapter and known and row.chapter not in known:
            said = (
                f"{row.id}: no chapter '{row.chapter}'",
                "a page of docs/handbook",
                "name one that is there",
            )
        else:
            continue
        yield Finding(Problem(row.file, row.file_line, 1, NAME, *said))
