"""Every file of the data folders is one that a reader opens, and prose consists of plain files.

Another file would look like an entry and be none. A symbolic link would publish what it points at,
and a pipe would keep a reader waiting, so neither belongs into a folder that is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.data.audits import EXAMPLE, FOLDER, date_and_seed
from flopbook.data.files import MAX_PAGE_BYTES, kind_of
from flopbook.data.folders import RESERVED, is_id
from flopbook.errors import shorten, show_path

NAME = "file"
ADVICE = Advice("PRODUCT.yaml, lower case with hyphens", "rename or remove it")
VENDOR = Advice("a VENDOR in lower case with hyphens", "rename or remove it")
MODEL = Advice("MODEL.yaml, lower case with hyphens", "rename or remove it")
SHEET = Advice(f"the day and seed of an audit, such as {EXAMPLE}", "rename or remove it")
NAMED = Advice("letters, digits, hyphens and dots: it becomes an address", "rename it")
SHORT = Advice(f"at most {MAX_PAGE_BYTES:,} of them in a page", "split the page")
PLAIN = Advice("a plain file or folder", "put the content itself in its place")

_PLAIN_NAME = re.compile(r"[A-Za-z0-9._-]+")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Files that no reader opens, then what is neither a file nor a folder in the prose."""
    for path in sorted(holdings.accelerators.glob("*/*")):
        # What a linked folder leads to is nobody's business; the link itself is told of below.
        if not path.is_dir() and not path.parent.is_symlink() and not _is_hidden(path):
            yield from _beside_products(path)
    for path in sorted(holdings.accelerators.glob("*/vendor.yaml")):
        if not is_id(path.parent.name):
            yield at_file(NAME, show_path(path), f"a folder '{path.parent.name}'", VENDOR)
    for path in sorted(holdings.library.models.glob("*.yaml")):
        if not is_id(path.stem):
            yield at_file(NAME, show_path(path), f"'{path.name}'", MODEL)
    notebooks = holdings.docs.parent / "calculators" / "notebooks"
    pages = (*_below(holdings.docs), *_below(notebooks))
    # A wheel would hold what a link leads to. Of works, their own reader speaks.
    unread = (path for path in holdings.bibliography.glob("*") if path.suffix != ".bib")
    for path in (*pages, *holdings.accelerators.glob("*"), *unread):
        if kind := kind_of(path):
            yield at_file(NAME, show_path(path), kind, PLAIN)
    yield from _odd_names(pages)
    yield from _long_pages(pages)


def _odd_names(pages: Iterable[Path]) -> Iterator[Finding]:
    """Pages and folders whose names would need quoting in an address, or that Windows keeps."""
    for path in pages:
        is_plain = _PLAIN_NAME.fullmatch(path.name)
        if is_plain and path.name.partition(".")[0].lower() not in RESERVED:
            continue
        if not kind_of(path):
            yield at_file(NAME, show_path(path), f"'{shorten(path.name)}'", NAMED)


def _long_pages(pages: Iterable[Path]) -> Iterator[Finding]:
    """Pages that the rules of prose do not read: nobody would review them either."""
    for path in pages:
        size = path.lstat().st_size
        if path.suffix == ".md" and size > MAX_PAGE_BYTES and not kind_of(path):
            yield at_file(NAME, show_path(path), f"{size:,} bytes", SHORT)


def _beside_products(path: Path) -> Iterator[Finding]:
    """A file of a vendor's folder, or of the folder of audits."""
    is_sheet = path.parent.name == FOLDER
    suffix, is_name = (
        (".csv", date_and_seed(path.stem)) if is_sheet else (".yaml", is_id(path.stem))
    )
    if path.suffix != suffix or not is_name:
        yield at_file(NAME, show_path(path), f"'{path.name}'", SHEET if is_sheet else ADVICE)


def _below(folder: Path) -> Iterator[Path]:
    """Everything below a folder, links to folders included but not what they lead to."""
    for place, folders, files in os.walk(folder):
        yield from (Path(place) / name for name in sorted((*folders, *files)))


def _is_hidden(path: Path) -> bool:
    """True for a hidden file, and for Python's own, which it writes where it may."""
    return path.name.startswith(".") or path.parent.name == "__pycache__"
