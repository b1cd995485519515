"""From the built site to the two files, step by step; what is wrong with either stops it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from book import colours, links, shape
from book.checks import problems
from book.document import Facts, facts, printed
from book.epub import epub
from book.parts import BookError, Part, read
from sitebuild.generator import CONFIG, site_url
from sitebuild.handbook import chapters

SHEET = Path(__file__).resolve().parents[2] / "docs" / "assets" / "flopbook" / "flopbook.css"


def gathered(site: Path, pages: Sequence[str] | None = None) -> tuple[Facts, list[Part]]:
    """The facts and the parts of the book, ready to be written. Raises BookError.

    `pages` are the folders of the chapters in the site; those of docs/ in their order, when not given.
    """
    known = facts(CONFIG, site_url())
    if pages is None:
        pages = [one.page.removesuffix(".md") + "/" for one in chapters()]
    parts = read(site, pages)
    rules = colours.rules(SHEET.read_text(encoding="utf-8"))
    for part in parts:
        shape.shape(part)
        colours.paint(part.body, rules)
    parts = links.connect(parts, site, known.site_url)
    if lost := links.dangling(parts):
        raise BookError("\n".join(["links inside the book:", *lost[:20]]))
    return known, parts


def paper(known: Facts, parts: Sequence[Part], browser: Path) -> tuple[bytes, int]:
    """The PDF and its number of pages. Raises BookError when something is wider than the page."""
    import io

    from playwright.sync_api import sync_playwright
    from pypdf import PdfReader

    from book.printing import pdf
    from sitebuild.weigh import LAUNCH

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(browser), args=list(LAUNCH))
        try:
            made = pdf(started.new_context(), printed(known, parts))
        finally:
            started.close()
    return made, len(PdfReader(io.BytesIO(made)).pages)


def reader(known: Facts, parts: Sequence[Part]) -> bytes:
    """The ePub. Raises BookError with what does not hold of it."""
    made = epub(known, parts)
    if wrong := problems(made):
        raise BookError("\n".join(["the ePub:", *wrong[:20]]))
    return made
