"""The whole handbook as a book, from the real site.

Every part is there and nothing in it leads nowhere.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

from flopbook.data.library import references
from scripts.website.book.colours import THEME
from scripts.website.book.document import Facts, markup, printed
from scripts.website.book.making import gathered, reader
from scripts.website.book.parts import BookPart
from scripts.website.book.printing import pdf
from scripts.website.book.publish import MARK
from scripts.website.book.shape import MOVES
from scripts.website.build.handbook import chapters

# Gathering the book takes half a minute: one worker does it, for all of these.
pytestmark = pytest.mark.xdist_group("book")


@pytest.fixture(scope="module")
def book(site: Path) -> tuple[Facts, list[BookPart]]:
    """The facts and the parts."""
    return gathered(site)


def test_every_chapter_is_there_in_its_order_and_every_citation_in_the_bibliography(
    book: tuple[Facts, list[BookPart]],
) -> None:
    parts = book[1]
    assert [part.title for part in parts if part.number] == [one.title for one in chapters()]
    cited = {key for part in parts for key in part.cited}
    assert cited <= set(references())
    assert len(parts[-1].body.select(".work")) == len(cited)


def _moving(article: str) -> int:
    """Figures that the book leaves out with what folds them, because all they do is move."""
    if not any(name.removeprefix(".") in article for name in MOVES):
        return 0
    folded = BeautifulSoup(article, "html.parser").select("details.example")
    figures = [fold.select("figure") for fold in folded if fold.select_one(", ".join(MOVES))]
    return sum(map(len, figures))


def test_every_chapter_keeps_its_pictures_formulas_and_answers(
    book: tuple[Facts, list[BookPart]], site: Path
) -> None:
    for part in (part for part in book[1] if part.number):
        page = (site / part.page / "index.html").read_text(encoding="utf-8")
        article = page[page.index("<article") : page.index("</article>")]
        assert len(part.body.select("figure")) == article.count("<figure") - _moving(article)
        assert len(part.body.select(".answer")) == article.count('<details class="success">')
        assert len(part.body.select("math")) == article.count("<math")
        assert len(part.body.select("tr")) == article.count("<tr")


def test_its_pictures_have_no_variable_and_no_class_left(
    book: tuple[Facts, list[BookPart]],
) -> None:
    for part in book[1]:
        assert "var(--" not in markup(part.body)
        assert not part.body.select("svg[class], svg [class]")


def test_the_site_is_built_without_a_link_to_the_book_and_with_a_place_for_it(site: Path) -> None:
    page = (site / "handbook" / "index.html").read_text(encoding="utf-8")
    assert page.count(MARK) == 1
    assert "../book/" not in page


def test_its_epub_is_whole(book: tuple[Facts, list[BookPart]]) -> None:
    """The check inside raises for every broken file, link or entry of the manifest."""
    assert reader(*book).startswith(b"PK")


def test_the_cheat_sheet_is_one_page(
    book: tuple[Facts, list[BookPart]], surf: Callable[..., Any]
) -> None:
    """Between title and contents before it and the next part after it.

    Nothing of it is wider than its column.
    """
    parts = [
        copy.deepcopy(part)
        for part in book[1]
        if part.slug in ("cheat-sheet", "tensor-parallelism")
    ]
    for link in [link for part in parts for link in part.body.select("a")]:
        link.unwrap()
    html = printed(book[0], parts)

    def wider(context: Any) -> list[str]:
        tab = context.new_page()
        tab.set_viewport_size({"width": round((210 - 2 * 12) / 25.4 * 96), "height": 900})
        tab.emulate_media(media="print")
        tab.set_content(html)
        found = (
            "[...document.querySelectorAll('.fb-sheet :is(p, table)')]"
            ".filter(one => one.scrollWidth > WIDE)"
        )
        wide = found.replace("WIDE", "Math.ceil(one.parentElement.clientWidth)")
        return list(tab.evaluate(f"{wide}.map(one => one.textContent)"))

    assert surf(wider) == []
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(surf(pdf, html))).pages]
    assert all(word in texts[-1] for word in ("Rooflines", "Inference", "Units", "AWS Trainium2"))


LOOK = """(moving) => [...document.querySelectorAll("figure svg")]
  .filter((svg) => !svg.querySelector(moving) && !svg.closest(".fb-calculator, .fb-slim"))
  .map((svg) => [...svg.querySelectorAll("rect, circle, polyline, polygon, line, path, text")]
    .flatMap((one) => {
    const seen = getComputedStyle(one);
    const rim = [seen.stroke, seen.strokeWidth, seen.strokeDasharray,
      seen.strokeLinejoin, seen.strokeLinecap];
    const text = [seen.fontSize, seen.fontWeight, seen.fontStyle, seen.textAnchor];
    const rest = [one.localName, seen.fill, seen.opacity,
      ...(one.localName === "text" ? text : [])];
    const above = ["none", "1px", "none", "miter", "butt", ...rest].join(" ");
    return [[...rim, ...rest].join(" "), ...(seen.paintOrder.startsWith("stroke") ? [above] : [])];
  }))"""


def test_pictures_look_as_they_do_on_the_site(
    book: tuple[Facts, list[BookPart]], surf: Callable[..., Any], base: str
) -> None:
    """Every shape and word has the paint that a browser computes, the theme's colours aside.

    The sheets for narrow screens are of the site only.
    """
    theme = "".join(f"{name}: {value} !important;" for name, value in THEME.items())
    pages = [part for part in book[1] if part.number and part.body.select_one("svg")]
    assert len(pages) >= 10

    def look(context: Any) -> list[tuple[Any, Any]]:
        found = []
        tab = context.new_page()
        for part in pages:
            tab.goto(base + part.page)
            tab.add_style_tag(content=f":root, [data-md-color-scheme] {{ {theme} }}")
            there = tab.evaluate(LOOK, ", ".join(MOVES))
            tab.set_content(markup(part.body))
            found.append((there, tab.evaluate(LOOK, ", ".join(MOVES))))
        return found

    for part, (there, here) in zip(pages, surf(look, color_scheme="light"), strict=True):
        assert there
        assert here == there, part.page
