"""Finds a work of the bibliography by its key, its DOI, arXiv id or address, or by words of its
title.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flopbook.data.bibtex_text import folded
from flopbook.data.identifiers import Identifier, identifiers, identify
from flopbook.data.library import library, references
from flopbook.data.references import Reference, read_bib
from flopbook.errors import DataError, FlopbookError, UnknownName, shorten

MOST_NAMED = 8


def find_work(text: str, known: Mapping[str, Reference] | None = None) -> Reference:
    """The one work that a text names. Raises FlopbookError when there is none, or more than one."""
    known = references() if known is None else known
    if text in known:
        return known[text]
    what = identify(text)
    if what is not None:
        by_code = (
            item for item in known.values() if what.name in {one.name for one in identifiers(item)}
        )
        found = same_work(what, known.values()) or next(by_code, None)
        if found is None:
            raise FlopbookError(
                f"no work of the bibliography is {shorten(text)}; flopbook new reference {shorten(text)}"
            )
        return found
    words = [folded(word) for word in text.split() if folded(word)]
    titled = [item for item in known.values() if words and _has_words(item.title, words)]
    if len(titled) == 1:
        return titled[0]
    if titled:
        keys = ", ".join(item.key for item in titled[:MOST_NAMED])
        raise FlopbookError(
            f"{len(titled)} titles have '{shorten(text)}': {keys}{', ...' if len(titled) > MOST_NAMED else ''}"
        )
    raise UnknownName("reference", text, known)


def _has_words(title: str, words: Iterable[str]) -> bool:
    """True when every word begins a word of the title."""
    parts = [folded(part) for part in title.replace("-", " ").split()] + [
        folded(part) for part in title.split()
    ]
    return all(any(part.startswith(word) for part in parts) for word in words)


def same_work(what: Identifier, items: Iterable[Reference]) -> Reference | None:
    """The work with this arXiv id, DOI or address; the code of a paper may be a work of its own."""
    return next(
        (
            item
            for item in items
            if what.name in {one.name for one in identifiers(item, code=False)}
        ),
        None,
    )


def on_file() -> dict[str, Reference]:
    """Every work that can be read, finished or not: a file that is broken hides no other."""
    found: dict[str, Reference] = {}
    for path in sorted(library().bibliography.glob("*.bib")):
        try:
            found |= {item.key: item for item in read_bib(path)}
        except DataError:
            continue
    return found
