"""A folder or a disk that does not take the book: one line, status 1; and what it holds in mind."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

from flopbook.errors import FlopbookError
from scripts import build_book
from scripts.website.book import making
from scripts.website.book.parts import BookPart, read
from tests.support.binding import CHAPTERS, KNOWN


@pytest.mark.usefixtures("quick")
def test_a_folder_that_cannot_be_is_one_line(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_book.main(["--site", str(small), "--out", "/dev/null/book"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("book: /dev/null") and said.count("\n") == 1


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "error", [FlopbookError("x.epub: No space left on device"), OSError(28, "No space", "x.epub")]
)
def test_a_full_disk_is_one_line(
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    """It ended with forty lines of traceback."""

    def full(*_: Any) -> None:
        raise error

    monkeypatch.setattr(build_book, "write_made", full)
    assert build_book.main(["--site", str(small), "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("book: x.epub: No space") and said.count("\n") == 1


def test_a_part_holds_its_article_and_not_the_page_around_it(small: Path) -> None:
    """Pages, with all their menus, took half of the memory of the whole book."""
    for part in read(small, CHAPTERS):
        assert part.body.parent is None and part.body.name == "article"


@pytest.mark.usefixtures("quick")
def test_the_parts_are_gone_before_the_pdf_is_made(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[weakref.ref[BookPart]] = []

    def gathered(site: Path) -> tuple[Any, list[BookPart]]:
        parts = making.joined(site, CHAPTERS)
        held.extend(map(weakref.ref, parts))
        return KNOWN, parts

    def paper(*_: Any) -> tuple[bytes, int]:
        gc.collect()
        assert held and not any(part() for part in held)
        return b"%PDF", 7

    monkeypatch.setattr(making, "gathered", gathered)
    monkeypatch.setattr(making, "paper", paper)
    assert build_book.main(["--site", str(small), "--out", str(tmp_path)]) == 0
