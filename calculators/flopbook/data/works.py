"""Finds a work of the bibliography by key, DOI, arXiv id or address, or by words of its title."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flopbook.data.bibtex_text import folded
from flopbook.data.identifiers import Identifier, identifiers, identify
from flopbook.data.library import library, references
from flopbook.data.reference import Reference
from flopbook.data.references import read_bib
from flopbook.errors import DataError, FlopbookError, UnknownName, shorten

# So many keys a message lists where a title is not told apart.
MOST_NAMED = 8


def find_work(text: str, works: Mapping[str, Reference] | None = None) -> Reference:
    """The one work that a text names. Raises FlopbookError when there is none, or more than one."""
    works = references() if works is None else works
    if text in works:
        return works[text]
    identifier = identify(text)
    if identifier is not None:
        return _by_identifier(identifier, text, works)
    return _by_title(text, works)


def _by_identifier(identifier: Identifier, text: str, works: Mapping[str, Reference]) -> Reference:
    # A repository that is a work of its own goes before the paper whose code it is.
    work = same_work(identifier, works.values()) or _first_of(identifier, works.values(), code=True)
    if work is None:
        name = shorten(text)
        offer = f"flopbook new reference {name}"
        raise FlopbookError(f"no work of the bibliography is {name}; {offer}")
    return work


def _by_title(text: str, works: Mapping[str, Reference]) -> Reference:
    words = [folded(word) for word in text.split() if folded(word)]
    if not words:
        raise UnknownName("reference", text, works)
    matching = [work for work in works.values() if _has_words(work.title, words)]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise UnknownName("reference", text, works)
    keys = [work.key for work in matching[:MOST_NAMED]]
    if len(matching) > MOST_NAMED:
        keys.append("...")
    raise FlopbookError(f"{len(matching)} titles have '{shorten(text)}': {', '.join(keys)}")


def _has_words(title: str, words: Iterable[str]) -> bool:
    """True when every word begins a word of the title."""
    # With and without hyphens: `FlashAttention-2` is one word and two.
    title_words = [*title.replace("-", " ").split(), *title.split()]
    folded_words = [folded(word) for word in title_words]
    return all(any(folded_word.startswith(word) for folded_word in folded_words) for word in words)


def same_work(identifier: Identifier, works: Iterable[Reference]) -> Reference | None:
    """The work with this arXiv id, DOI or address; the code of a paper may be a work of its own."""
    return _first_of(identifier, works, code=False)


def _first_of(
    identifier: Identifier, works: Iterable[Reference], *, code: bool
) -> Reference | None:
    for work in works:
        names = {candidate.name for candidate in identifiers(work, code=code)}
        if identifier.name in names:
            return work
    return None


def on_file() -> dict[str, Reference]:
    """Every work that can be read, finished or not: a file that is broken hides no other."""
    works: dict[str, Reference] = {}
    for path in sorted(library().bibliography.glob("*.bib")):
        try:
            works |= {work.key: work for work in read_bib(path)}
        except DataError:
            continue
    return works
