"""The PDF: Chromium lays the document out twice, the second time with the page numbers."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from pypdf import PdfReader

from scripts.website.book.document import style
from scripts.website.book.parts import BookError

TEXT_WIDTH = round(
    (210 - 2 * 20) / 25.4 * 96
)  # pixels between the margins of the sheet, see print.css
_NUMBER = """(pages) => {
  for (const place of document.querySelectorAll("[data-to]")) place.textContent = pages[place.dataset.to] ?? "";
}"""


def pdf(context: Any, html: str) -> bytes:
    """Print a document in a browser context.

    Raises BookError when something does not fit the page.
    """
    tab = context.new_page()
    tab.set_default_timeout(300_000)
    tab.set_viewport_size({"width": TEXT_WIDTH, "height": 900})
    tab.emulate_media(media="print", color_scheme="light")
    tab.set_content(html)
    tab.evaluate(_NUMBER, dict.fromkeys(_wanted(tab), 888))
    if wide := tab.evaluate(style("fit.js")):
        lines = [f"{what} ({over:.0f} px)" for what, over in wide[:10]]
        raise BookError("\n".join(["wider than the page:", *lines]))
    made = _printed(tab)
    pages = destinations(made)
    for _ in range(2):
        tab.evaluate(_NUMBER, pages)
        made = _printed(tab)
        before, pages = pages, destinations(made)
        if pages == before:
            tab.close()
            return made
    raise BookError("the page numbers of the contents do not settle")


def _wanted(tab: Any) -> list[str]:
    return list(
        tab.evaluate("[...document.querySelectorAll('[data-to]')].map(place => place.dataset.to)")
    )


def _printed(tab: Any) -> bytes:
    return bytes(
        tab.pdf(prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    )


def destinations(content: bytes) -> Mapping[str, int]:
    """Anchor -> number of its page, from 1, of everything in a PDF that a link leads to."""
    reader = PdfReader(io.BytesIO(content))
    places = {reader.get_page_number(page): number for number, page in enumerate(reader.pages, 1)}
    found = {}
    for name, place in reader.named_destinations.items():
        number = reader.get_destination_page_number(place)
        if number is not None and number in places:
            found[name.removeprefix("/")] = places[number]
    return found
