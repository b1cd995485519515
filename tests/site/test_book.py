"""The whole handbook as a book, from the real site: every part is there and nothing in it leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.document import Facts, markup
from book.making import gathered, reader
from book.parts import Part
from book.publish import MARK
from flopbook.references import references
from sitebuild.handbook import chapters


@pytest.fixture(scope="module")
def book(site: Path) -> tuple[Facts, list[Part]]:
    """The facts and the parts."""
    return gathered(site)


def test_every_chapter_is_there_in_its_order_and_every_citation_in_the_bibliography(
    book: tuple[Facts, list[Part]],
) -> None:
    parts = book[1]
    assert [part.title for part in parts if part.number] == [one.title for one in chapters()]
    cited = {key for part in parts for key in part.cited}
    assert cited <= set(references())
    assert len(parts[-1].body.select(".work")) == len(cited)


def test_every_chapter_keeps_its_pictures_formulas_and_answers(book: tuple[Facts, list[Part]], site: Path) -> None:
    for part in (part for part in book[1] if part.number):
        page = (site / part.page / "index.html").read_text(encoding="utf-8")
        article = page[page.index("<article") : page.index("</article>")]
        moving = len(re.findall(r'<details class="example">', article))
        assert len(part.body.select("figure")) == article.count("<figure") - moving
        assert len(part.body.select(".answer")) == article.count('<details class="success">')
        assert len(part.body.select("math")) == article.count("<math")
        assert len(part.body.select("tr")) == article.count("<tr")


def test_its_pictures_have_no_variable_and_no_class_left(book: tuple[Facts, list[Part]]) -> None:
    for part in book[1]:
        assert "var(--" not in markup(part.body)
        assert not part.body.select("svg[class], svg [class]")


def test_the_site_is_built_without_a_link_to_the_book_and_with_a_place_for_it(site: Path) -> None:
    page = (site / "handbook" / "index.html").read_text(encoding="utf-8")
    assert page.count(MARK) == 1
    assert "../book/" not in page


def test_its_epub_is_whole(book: tuple[Facts, list[Part]]) -> None:
    """The check inside raises for every broken file, link or entry of the manifest."""
    assert reader(*book).startswith(b"PK")
