"""The files of the book in the site, and the link to them.

There when they are there, once, and never dead.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.linkcheck.internal import check_built_site
from scripts.website.book.parts import BookError, read, words
from scripts.website.book.publish import MARK, megabytes, publish
from tests.support.binding import CHAPTERS

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made = [tmp_path / "book.pdf", tmp_path / "book.epub"]
    for number, file in enumerate(made, 1):
        file.write_bytes(b"x" * 1_250_000 * number)
    return made


def index(site: Path) -> str:
    return (site / "handbook" / "index.html").read_text(encoding="utf-8")


def test_both_files_are_copied_and_linked_with_their_size(small: Path, files: list[Path]) -> None:
    publish(files, small)
    assert (small / "book" / "book.pdf").read_bytes() == files[0].read_bytes()
    assert (
        '<a href="../book/book.pdf">PDF</a> (1.2 MB) and '
        '<a href="../book/book.epub">ePub</a> (2.5 MB)' in index(small)
    )


def test_a_second_time_changes_nothing(small: Path, files: list[Path]) -> None:
    publish(files, small)
    once = index(small)
    publish(files, small)
    assert index(small) == once


def test_the_link_leads_somewhere(small: Path, files: list[Path]) -> None:
    publish(files, small)
    assert not [fault for fault in check_built_site(small) if "book/" in fault.link]
    (small / "book" / "book.pdf").unlink()
    assert [fault.link for fault in check_built_site(small) if "book/" in fault.link] == [
        "../book/book.pdf"
    ]


def test_a_site_without_the_book_has_no_link(small: Path) -> None:
    assert "fb-book" not in index(small)
    assert "../book/" not in index(small)


def test_a_book_made_from_a_site_with_the_link_does_not_have_it(
    small: Path, files: list[Path]
) -> None:
    from scripts.website.book.shape import shape

    publish(files, small)
    about = read(small, CHAPTERS)[0]
    shape(about)
    assert "PDF" not in words(about.body)
    assert "book" not in str(about.body.select("a"))


def test_a_page_without_a_place_for_the_link_is_refused(
    small: Path, files: list[Path], page: Callable[[str, str], None]
) -> None:
    page("handbook/", "<h1>Handbook</h1>")
    with pytest.raises(BookError, match="found no <!-- book -->"):
        publish(files, small)


def test_the_real_page_has_the_place_once() -> None:
    assert (ROOT / "docs" / "handbook" / "index.md").read_text(encoding="utf-8").count(MARK) == 1


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0.0 MB"), (49_000, "0.0 MB"), (4_440_000, "4.4 MB")]
)
def test_sizes_are_decimal(tmp_path: Path, size: int, text: str) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"x" * size)
    assert megabytes(file) == text
