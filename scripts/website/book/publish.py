"""The files of the book beside the site, and a link to them on the page that opens the handbook.

The site is built without the link, so that it never leads nowhere; it is put in here, when the
files are there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from flopbook.data.files import write_made
from scripts.website.book.parts import BookError

MARK = "<!-- book -->"  # in docs/handbook/index.md
_LINKED = re.compile(r'<p class="fb-book">.*?</p>', re.DOTALL)


def publish(files: Sequence[Path], site: Path) -> None:
    """Copy files to book/ in a built site and link them.

    Raises BookError when the page has no place for the link.
    """
    page = site / "handbook" / "index.html"
    text = _LINKED.sub("", page.read_text(encoding="utf-8"))
    if MARK not in text:
        raise BookError(f"{page}: found no {MARK}, which says where the link to the book goes")
    folder = site / "book"
    links = []
    for file in files:
        write_made(folder / file.name, file.read_bytes())
        kind = {"pdf": "PDF", "epub": "ePub"}[file.suffix[1:]]
        links.append(f'<a href="../book/{file.name}">{kind}</a> ({megabytes(file)})')
    files_linked = " and ".join(links)
    line = f'<p class="fb-book">The whole handbook for paper and for readers: {files_linked}.</p>'
    write_made(page, text.replace(MARK, line + MARK, 1))


def megabytes(file: Path) -> str:
    """The size of a file in words."""
    return f"{file.stat().st_size / 1e6:.1f} MB"
