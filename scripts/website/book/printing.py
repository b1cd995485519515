"""The PDF: Chromium lays the document out twice, the second time with the page numbers."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pikepdf
from pypdf import PdfReader

from scripts.website.book.document import style
from scripts.website.book.parts import BookError

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

_SHEET_MM, _MARGIN_MM, _INCH_MM = 210, 20, 25.4  # see print.css
TEXT_WIDTH = round((_SHEET_MM - 2 * _MARGIN_MM) / _INCH_MM * 96)  # pixels between the margins
LARGEST = 8_000_000  # bytes of the PDF, which people load on a phone
_WIDEST_NUMBER = 888  # of a page, before the numbers are known
_ANCHORS = "[...document.querySelectorAll('[data-to]')].map(place => place.dataset.to)"
_NUMBER = """(pages) => {
  for (const place of document.querySelectorAll("[data-to]"))
    place.textContent = pages[place.dataset.to] ?? "";
}"""


def pdf(context: BrowserContext, html: str) -> bytes:
    """Print a document in a browser context.

    Raises BookError when something does not fit the page.
    """
    tab = context.new_page()
    tab.set_default_timeout(300_000)
    tab.set_viewport_size({"width": TEXT_WIDTH, "height": 900})
    tab.emulate_media(media="print", color_scheme="light")
    tab.set_content(html)
    tab.evaluate(_NUMBER, dict.fromkeys(_anchors(tab), _WIDEST_NUMBER))
    if wide := tab.evaluate(style("fit.js")):
        lines = [f"{element} ({over:.0f} px)" for element, over in wide[:10]]
        raise BookError("\n".join(["wider than the page:", *lines]))
    content = _printed(tab)
    pages = destinations(content)
    for _ in range(2):
        tab.evaluate(_NUMBER, pages)
        content = _printed(tab)
        before, pages = pages, destinations(content)
        if pages == before:
            tab.close()
            return packed(content)
    raise BookError("the page numbers of the contents do not settle")


def _anchors(tab: Page) -> list[str]:
    """The anchors whose page numbers the contents show."""
    return list(tab.evaluate(_ANCHORS))


def _printed(tab: Page) -> bytes:
    return tab.pdf(prefer_css_page_size=True, print_background=True, outline=True, tagged=True)


def packed(content: bytes, most: int = LARGEST) -> bytes:
    """The same document with its small objects in compressed streams.

    The tags for screen readers are tens of thousands of objects, which Chromium writes as text.
    Raises BookError where it has more bytes all the same.
    """
    made = io.BytesIO()
    with pikepdf.open(io.BytesIO(content)) as document:
        document.save(
            made,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            deterministic_id=True,
        )
    size = made.tell()
    if size > most:
        raise BookError(f"the PDF has {size:,} bytes, expected at most {most:,}")
    return made.getvalue()


def destinations(content: bytes) -> Mapping[str, int]:
    """Anchor -> number of its page, from 1, of everything in a PDF that a link leads to."""
    reader = PdfReader(io.BytesIO(content))
    numbers = {reader.get_page_number(page): number for number, page in enumerate(reader.pages, 1)}
    pages = {}
    for name, place in reader.named_destinations.items():
        index = reader.get_destination_page_number(place)
        if index is not None and index in numbers:
            pages[name.removeprefix("/")] = numbers[index]
    return pages
