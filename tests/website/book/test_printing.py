"""The printed book, in a real browser.

Bookmarks, page numbers, links, and nothing cut at the margin.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter

from scripts.website.book.document import printed
from scripts.website.book.parts import BookError
from scripts.website.book.printing import destinations, packed, pdf
from tests.support.binding import KNOWN, bound

LONG = "".join(
    f"<p>Paragraph {n} of a chapter that goes on for more than one page of paper.</p>"
    for n in range(60)
)
CODE = "x = " + "a_long_name_without_a_gap_" * 20
NAMES = ["Contents", "About this book", "1 One", '2 Two & "three"', "Glossary", "Bibliography"]


def two(article: str) -> str:
    """The second chapter with this text in it."""
    return f'<h1 id="two">Two &amp; "three"</h1>{article}<h2 id="ends">Where it ends</h2>'


@pytest.fixture
def print_book(
    surf: Any, small: Path, page: Callable[[str, str], None]
) -> Callable[[str], PdfReader]:
    """Prints the small book with this text in its second chapter."""

    def printing(article: str) -> PdfReader:
        page("handbook/two/", two(article))
        return PdfReader(
            io.BytesIO(surf(pdf, printed(KNOWN, bound(small, "https://books.example/"))))
        )

    return printing


def titles(reader: PdfReader) -> list[str]:
    """The bookmarks of the first level."""
    return [str(one.title) for one in reader.outline if not isinstance(one, list)]


def test_the_book_has_bookmarks_numbers_and_living_links(
    print_book: Callable[[str], PdfReader],
) -> None:
    """One print for all that holds of it: a browser takes a second for each."""
    reader = print_book(LONG)
    texts = [" ".join(page.extract_text().split()) for page in reader.pages]
    assert len(texts) >= 8
    assert titles(reader) == NAMES
    assert any(isinstance(one, list) for one in reader.outline)  # sections below the chapters
    catalogue: Any = reader.trailer["/Root"]
    assert (catalogue["/Lang"], catalogue["/MarkInfo"]["/Marked"]) == ("en", True)
    assert reader.metadata is not None
    assert reader.metadata.title == KNOWN.title
    _links(reader)
    _numbers(reader, texts)
    assert "Version 1.2.3, sources read up to 21 November 2026" in texts[0]
    assert texts[-1].startswith(f"{KNOWN.title} Bibliography {len(texts)} ")


def _links(reader: PdfReader) -> None:
    """A link inside the book has a place there, any other an address."""
    known = {name.removeprefix("/") for name in reader.named_destinations}
    inside, outside = set(), set()
    for page in reader.pages:
        for note in (one.get_object() for one in page.get("/Annots", [])):
            if note["/Subtype"] == "/Link" and "/Dest" in note:
                inside.add(str(note["/Dest"]).removeprefix("/"))
            elif note["/Subtype"] == "/Link":
                outside.add(note["/A"]["/URI"])
    assert inside <= known
    assert {
        "one",
        "two-ends",
        "work-zeta2020last",
        "one-answer-to-exercise-1",
        "one-exercise-1",
    } <= inside
    assert {
        "https://books.example/accelerators/a/b/",
        "https://doi.example/zeta2020last",
    } <= outside
    assert all(address.startswith(("https://", "mailto:")) for address in outside)


def _numbers(reader: PdfReader, texts: list[str]) -> None:
    """The contents give the page on which each part begins.

    Its head names the part, its foot the number.
    """
    listed = next(text for text in texts if " Contents " in text)
    for mark in (
        one for one in reader.outline if not isinstance(one, list) and one.title != "Contents"
    ):
        number = (reader.get_destination_page_number(mark) or 0) + 1
        assert re.search(rf"{re.escape(str(mark.title))} {number}\b", listed), (
            mark.title,
            number,
            listed,
        )
        assert texts[number - 1].startswith(f"{KNOWN.title} {mark.title} {number} ")


def test_destinations_are_numbered_from_one(surf: Any) -> None:
    html = '<a href="#b">b</a><p id="a">x</p><p id="b" style="break-before: page">y</p>'

    def plain(context: Any) -> bytes:
        tab = context.new_page()
        tab.set_content(html)
        return bytes(tab.pdf())

    assert destinations(surf(plain)) == {"b": 2}


ROW = "<tr>" + "<td>123,456,789 units</td>" * 12 + "</tr>"
FORMULA = "<mrow>" + "<mi>abcdef</mi><mo>+</mo>" * 16 + "<mi>g</mi></mrow>"
WIDE = {
    "code": f"<pre><code>{CODE}</code></pre>",
    "columns": f"<pre><code><span>{('12 s' + ' ' * 20) * 9}</span></code></pre>",
    "table": f"<table><thead>{ROW.replace('td', 'th')}</thead><tbody>{ROW * 30}</tbody></table>",
    "stubborn-table": f"<table style='white-space: nowrap'><tbody>{ROW}</tbody></table>",
    "formula": f'<div class="fb-maths"><math display="block">{FORMULA}</math></div>',
    "word": f"<p><code>{CODE[4:]}</code></p>",
    "picture": '<svg viewBox="0 0 4000 300"><text x="1" y="90">wide</text></svg>',
}


@pytest.mark.parametrize("name", WIDE)
def test_what_is_wide_is_made_to_fit(print_book: Callable[[str], PdfReader], name: str) -> None:
    """Every word lies between the edges of the sheet, and nothing of the text is lost."""
    reader = print_book(WIDE[name])
    number = next(n for n, title in enumerate(titles(reader)) if title.startswith("2 "))
    first = (reader.get_destination_page_number(_marks(reader)[number]) or 0) + 1
    seen: list[float] = []
    page = reader.pages[first - 1]

    def look(text: str, outer: Any, place: Any, *_: Any) -> None:
        if text.strip():
            seen.append(place[4] * outer[0] + place[5] * outer[2] + outer[4])

    text = page.extract_text(visitor_text=look)
    assert seen
    assert max(seen) < float(page.mediabox.width)
    if name in ("code", "word"):
        assert CODE[4:] in re.sub(r"\s", "", text)


def _marks(reader: PdfReader) -> list[Any]:
    return [one for one in reader.outline if not isinstance(one, list)]


def test_what_cannot_be_made_to_fit_stops_the_book(surf: Any) -> None:
    html = printed(KNOWN, []).replace(
        "</body>", '<section id="s"><p style="width: 9000px">too wide</p></section></body>'
    )
    with pytest.raises(BookError, match=r"wider than the page:\ns p: too wide \(\d+ px\)"):
        surf(pdf, html)


BLOCKS = {
    "figure": '<figure><svg viewBox="0 0 600 380">'
    '<text x="9" y="20">FIRST</text><text x="9" y="370">LAST</text></svg>'
    "<figcaption>END</figcaption></figure>",
    "code": f"<pre><code>FIRST{chr(10) * 12}LAST END</code></pre>",
    "calculator": (
        "<div class='opened'><p>FIRST</p><p>x</p><p>x</p><p>x</p><p>x</p><p>x</p><p>LAST "
        "END</p></div>"
    ),
    "small-table": "<table><tr><td>FIRST</td></tr>"
    + "<tr><td>x</td></tr>" * 9
    + "<tr><td>LAST END</td></tr></table>",
    "row": "<table>"
    + "<tr><td>x</td></tr>" * 14
    + "<tr><td>FIRST<br>a<br>b<br>c<br>d<br>e<br>f<br>g<br>LAST END</td></tr></table>",
}


@pytest.mark.parametrize("name", BLOCKS)
def test_what_fits_on_a_page_is_not_broken(surf: Any, name: str) -> None:
    """Wherever on the page it begins: its first and its last word stand on one page."""
    blocks = {
        n: BLOCKS[name].replace("FIRST", f"F{n}").replace("END", f"E{n}") for n in range(0, 32, 4)
    }
    pieces = [
        f'<section class="part" id="p{n}">{"<p>line</p>" * n}{block}</section>'
        for n, block in blocks.items()
    ]
    html = printed(KNOWN, []).replace("</body>", "".join(pieces) + "</body>")
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(surf(pdf, html))).pages]
    for n in blocks:
        assert [f"F{n}" in text.split() or f"F{n}\n" in text for text in texts] == [
            f"E{n}" in text.split() or f"E{n}\n" in text for text in texts
        ]


def test_a_packed_book_is_smaller_and_has_the_same_pages_each_time() -> None:
    writer = PdfWriter()
    for _ in range(300):
        writer.add_blank_page(width=100, height=100)
    plain = io.BytesIO()
    writer.write(plain)
    made = packed(plain.getvalue())
    assert len(PdfReader(io.BytesIO(made)).pages) == 300
    assert len(made) < len(plain.getvalue()) / 3
    assert packed(plain.getvalue()) == made


def test_a_book_that_is_too_large_is_refused() -> None:
    writer, plain = PdfWriter(), io.BytesIO()
    writer.add_blank_page(width=100, height=100)
    writer.write(plain)
    with pytest.raises(BookError, match="bytes, expected at most 100"):
        packed(plain.getvalue(), most=100)
