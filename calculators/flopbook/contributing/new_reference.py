"""A new entry of the bibliography from what a service says: its key, its file and its text."""

from __future__ import annotations

import datetime
import os
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

from flopbook.contributing.metadata import Work, host_of
from flopbook.data.bibtex_text import BibEntry, Field, folded, pieces, print_entry
from flopbook.data.identifiers import Identifier, identify
from flopbook.data.references import Person, Reference
from flopbook.data.works import same_work
from flopbook.errors import FlopbookError, show_path

# Words that say nothing about a title.
SMALL = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "do",
        "does",
        "for",
        "from",
        "go",
        "how",
        "in",
        "into",
        "is",
        "it",
        "its",
        "not",
        "of",
        "on",
        "or",
        "our",
        "over",
        "than",
        "that",
        "the",
        "their",
        "to",
        "toward",
        "towards",
        "under",
        "up",
        "using",
        "via",
        "we",
        "what",
        "when",
        "where",
        "which",
        "why",
        "with",
        "without",
        "you",
        "your",
    )
)
NEW_FILE = "new.bib"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def known_as(what: Identifier, work: Work, items: Collection[Reference]) -> Reference | None:
    """The reference that is this work already: by any identifier, or by its title."""
    for text in (what.address, work.eprint, work.doi):
        named = identify(text) if text else None
        if named and (found := same_work(named, items)):
            return found
    title = folded(work.title)
    return next((item for item in items if title and folded(item.title) == title), None)


def key_of(work: Work, taken: Collection[str]) -> str:
    """A key in the form authorYEARword that nobody has: a word of the title, another one, or one
    with a letter.
    """
    year = work.year or datetime.date.today().year
    author = _author(work)
    words = [word for part in re.split(r"[\s/:–—-]+", work.title) if (word := folded(part))]
    good = [word for word in words if word not in SMALL and not word.isdigit()] or words or ["work"]
    keys = [f"{author}{year}{word}" for word in good]
    keys += [f"{keys[0]}{letter}" for letter in "bcdefghijklmnopqrstuvwxyz"]
    return next((key for key in keys if key not in taken), f"{keys[0]}{len(taken)}")


def _author(work: Work) -> str:
    if work.people:
        first = work.people[0]
        name = folded(first.family.split()[0]) if first.organisation else folded(first.family)
    else:
        name = folded(host_of(work.url).rpartition(".")[0].rpartition(".")[2])
    return name if name[:1].isalpha() else f"x{name}"


def pick_file(work: Work, topic: str | None, items: Iterable[Reference]) -> str:
    """The file that a work goes to.

    With a topic, the one that holds most of its works; else the one with most works of the same
    host; else the one whose titles share most with this one, rare words counting more; else a new
    file.
    """
    items = list(items)
    if topic:
        votes = Counter(item.file for item in items for name in item.topics[:1] if name == topic)
        votes = votes or Counter(item.file for item in items if topic in item.topics)
        return _first(votes)
    host = host_of(work.url)
    if host and (votes := Counter(item.file for item in items if host_of(item.url) == host)):
        return _first(votes)
    words = {item.key: _words(item.title) for item in items}
    common = Counter(word for own in words.values() for word in own)
    likeness: dict[str, float] = {}
    for item in items:
        score = sum(1 / common[word] for word in words[item.key] & _words(work.title))
        likeness[item.file] = likeness.get(item.file, 0.0) + score
    return _first({file: score for file, score in likeness.items() if score > 0})


def _first(votes: dict[str, int] | dict[str, float] | Counter[str]) -> str:
    return Path(max(sorted(votes), key=lambda file: votes[file])).name if votes else NEW_FILE


def _words(title: str) -> set[str]:
    return {
        word
        for part in re.split(r"[\s/:–—-]+", title)
        if len(word := folded(part)) > 2 and word not in SMALL
    }


def entry_text(key: str, work: Work, topic: str | None = None) -> str:
    """The entry as it is written. A person fills in `annote`, `type` of a page, and `keywords` if
    no topic is given.

    Lint says what is still open.
    """
    venue, name = work.venue
    fields = {
        "author": " and ".join(_name(one) for one in work.people),
        "title": title_text(work.title),
        "type": "",
        venue: latex(name),
        **dict(work.more),
        "year": str(work.year or ""),
        "doi": work.doi,
        "eprint": work.eprint,
        "archiveprefix": "arXiv" if work.eprint else "",
        "url": work.url,
        "urldate": datetime.date.today().isoformat() if work.url else "",
    }
    # What every entry has, so that it is seen when it is missing; only a page does not say itself
    # what it is.
    open_ = {"author", "title", "year", *(() if work.doi or work.eprint else ("type",))}
    kept = [
        Field(field, f"{{{text}}}")
        for field, text in fields.items()
        if field and (text or field in open_)
    ]
    kept += [Field("month", MONTHS[work.month - 1])] if work.month else []
    kept += [Field("keywords", f"{{{topic or ''}}}"), Field("annote", "{}")]
    return print_entry(BibEntry(work.type, key, tuple(kept)))


def _name(one: Person) -> str:
    if one.organisation:
        return f"{{{latex(one.family)}}}"
    return f"{latex(one.family)}, {latex(one.given)}" if one.given else f"{{{latex(one.family)}}}"


# As in Markdown: no space inside the two dollars, so that prices are prices.
_MATHS = re.compile(r"((?<!\\)\$(?!\s)[^$]+(?<!\s)\$(?!\d))")
_SPECIAL = re.compile(r"(?<!\\)([&%#_$])")


def latex(text: str) -> str:
    """A text as BibTeX wants it: what LaTeX would take for a command is escaped, and braces are in
    pairs.
    """
    text = text if _paired(text) else re.sub(r"[{}]", "", text)
    parts = _MATHS.split(text)  # maths stays as it is
    return "".join(part if place % 2 else _escaped(part) for place, part in enumerate(parts))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text).replace("~", r"{\textasciitilde}")


def _paired(text: str) -> bool:
    depth = 0
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return False
    return depth == 0


def title_text(title: str) -> str:
    """A title whose capitals stay: words with a capital or a digit inside go into braces."""
    return " ".join(_kept(word) for word in latex(title).split())


def _kept(word: str) -> str:
    found = re.fullmatch(r"([(\"'“‘]*)([\w+./-]*[A-Z0-9][\w+./-]*?)([.,:;?!)\"'”’]*)", word)
    if (
        not found
        or "$" in word
        or not re.search(r"[A-Za-z]", found[2])
        or not re.search(r".[A-Z]|\d", found[2])
    ):
        return word
    return f"{found[1]}{{{found[2]}}}{found[3]}"


def insert(path: Path, key: str, entry: str) -> None:
    """Write an entry into its file, in the order of the keys; nothing else is changed.

    Raises FlopbookError.
    """
    try:
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
    except UnicodeDecodeError:
        raise FlopbookError(f"{show_path(path)} is not UTF-8 text; nothing was written") from None
    (_, _, head), *found = pieces(text)
    before, after = head, ""
    for place, (own, one, behind) in enumerate(found):
        if own > key:
            after = "".join(rest for _, *two in found[place:] for rest in two)
            break
        before += one + behind
    parts = [part for part in (before.strip("\n"), entry, after.strip("\n")) if part]
    _replace(path, "\n\n".join(parts) + "\n")


def _replace(path: Path, text: str) -> None:
    """Write a file beside its place and move it there, so that it is whole whatever happens."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, path.stat().st_mode if path.exists() else 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
