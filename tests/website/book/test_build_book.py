"""The command behind `make book`: when it builds the site, what it prints, how it fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from scripts import build_book, ensure_browser
from scripts.website.book import making
from scripts.website.book.document import NAME
from scripts.website.book.parts import BookError
from tests.support.binding import CHAPTERS, KNOWN


@pytest.mark.usefixtures("quick")
def test_it_writes_both_files_links_them_and_says_how_large_they_are(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert build_book.main(["--site", str(small), "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == [f"{NAME}.epub", f"{NAME}.pdf"]
    assert sorted(path.name for path in (small / "book").iterdir()) == [
        f"{NAME}.epub",
        f"{NAME}.pdf",
    ]
    said = capsys.readouterr().out
    for words in (
        "5 parts, 3 citations",
        "7 pages, 0.0 MB",
        f"book: {out / NAME}.pdf",
        "s  print the PDF",
        "s  in all",
    ):
        assert words in said


@pytest.mark.usefixtures("quick")
def test_a_second_run_on_the_same_site_gives_the_same_epub(small: Path, tmp_path: Path) -> None:
    """The link to the book, which the first run put into the site, is not part of the book."""
    made = []
    for name in ("a", "b"):
        assert build_book.main(["--site", str(small), "--out", str(tmp_path / name)]) == 0
        made.append((tmp_path / name / f"{NAME}.epub").read_bytes())
    assert made[0] == made[1]


@pytest.mark.usefixtures("quick")
def test_a_site_that_is_not_there_is_one_line_and_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_book.main(["--site", str(tmp_path / "none"), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "none/handbook/index.html: No such file or directory; run make site" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_without_a_browser_the_status_is_2(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> Path:
        raise ensure_browser.BrowserError("no browser")

    monkeypatch.setattr(build_book, "ensure_browser", none)
    assert build_book.main(["--site", str(small)]) == 2
    assert capsys.readouterr().err == "book: no browser\n"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("status", [0, 1])
def test_a_stale_site_is_built_first_and_its_failure_stops_the_book(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    from scripts import build_site

    asked: list[Any] = []
    monkeypatch.setattr(build_book, "ROOT", tmp_path)  # the small site is its site
    monkeypatch.setattr(build_book, "stale", lambda site: True)
    monkeypatch.setattr(build_site, "main", lambda arguments: asked.append(arguments) or status)
    assert build_book.main(["--site", str(small), "--out", str(tmp_path / "out")]) == status
    assert asked == [[]]
    assert (tmp_path / "out").exists() == (status == 0)


def test_a_site_is_stale_when_a_source_is_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scripts import serve

    monkeypatch.setattr(serve, "ROOT", tmp_path)
    source, page = tmp_path / "docs" / "a.md", tmp_path / "site" / "index.html"
    for path in (source, page):
        path.parent.mkdir()
        path.write_text("x", encoding="utf-8")
    os.utime(source, (1000, 1000))
    os.utime(page, (2000, 2000))
    assert not build_book.stale(tmp_path / "site")
    os.utime(source, (3000, 3000))
    assert build_book.stale(tmp_path / "site")
    page.unlink()
    assert build_book.stale(tmp_path / "site")


def test_a_fault_of_the_epub_is_an_error_with_the_fault(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "problems", lambda content: ["nav.xhtml: x"])
    with pytest.raises(BookError, match=r"the ePub:\nnav\.xhtml: x"):
        making.reader(KNOWN, making.joined(small, CHAPTERS))


def test_lost_links_inside_the_book_are_an_error(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making.links, "dangling", lambda parts: ["no element with the id x"])
    with pytest.raises(BookError, match="links inside the book:\nno element with the id x"):
        making.joined(small, CHAPTERS)
