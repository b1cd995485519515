"""From the built site to the two files, step by step; what is wrong with either stops it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from scripts.website.book import colours, links, shape
from scripts.website.book.checks import problems
from scripts.website.book.document import Facts, facts
from scripts.website.book.epub import epub
from scripts.website.book.parts import BookError, BookPart, read
from scripts.website.build.generator import CONFIG, site_url
from scripts.website.build.handbook import chapters

SHEET = Path(__file__).resolve().parents[3] / "docs" / "assets" / "flopbook" / "flopbook.css"


def gathered(site: Path) -> tuple[Facts, list[BookPart]]:
    """The facts and the parts of the book, the chapters being those of docs/ in their order.

    Raises BookError.
    """
    book_facts = facts(CONFIG, site_url())
    pages = [f"{chapter.page.removesuffix('.md')}/" for chapter in chapters()]
    return book_facts, joined(site, pages, book_facts.site_url)


def joined(site: Path, pages: Sequence[str], address: str = "") -> list[BookPart]:
    """The parts of the book, ready to be written.

    `pages` are the folders of its chapters, `address` is that of the site.

    Raises BookError when a page is missing or a link inside the book leads nowhere.
    """
    parts = read(site, pages)
    rules = colours.rules(SHEET.read_text(encoding="utf-8"))
    for part in parts:
        shape.shape(part)
        colours.paint(part.body, rules)
    parts = links.connect(parts, site, address)
    if lost := links.dangling(parts):
        raise BookError("\n".join(["links inside the book:", *lost[:20]]))
    return parts


def paper(html: str, browser: Path) -> tuple[bytes, int]:
    """The PDF of a document, and its number of pages.

    Raises BookError when something is wider than the page.
    """
    from playwright.sync_api import sync_playwright  # only where a browser is asked for
    from pypdf import PdfReader

    from scripts.website.book.printing import pdf
    from scripts.website.build.weigh import LAUNCH

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(browser), args=list(LAUNCH))
        try:
            content = pdf(started.new_context(), html)
        finally:
            started.close()
    return content, len(PdfReader(io.BytesIO(content)).pages)


def reader(known: Facts, parts: Sequence[BookPart]) -> bytes:
    """The ePub. Raises BookError with what does not hold of it."""
    content = epub(known, parts)
    if faults := problems(content):
        raise BookError("\n".join(["the ePub:", *faults[:20]]))
    return content
