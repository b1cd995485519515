"""A new entry of the bibliography from what a service says: its key, its file and its text."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from flopbook.contributing.metadata import Work, host_of
from flopbook.data.bibtex_text import BibEntry, Field, folded, pieces, print_entry
from flopbook.data.files import MAX_BIB_BYTES, NotRead, read_bytes, write_text
from flopbook.data.identifiers import Identifier, identify
from flopbook.data.reference import Person, Reference
from flopbook.data.works import same_work
from flopbook.errors import FlopbookError, show_path

# Words that say nothing about a title.
_SMALL_WORD = re.compile(
    "a|an|and|are|as|at|be|by|can|do|does|for|from|go|how|in|into|is|it|its|not|of|on|or|our|over|"
    "than|that|the|their|to|toward|towards|under|up|using|via|we|what|when|where|which|why|with|"
    "without|you|your"
)
_BETWEEN_WORDS = re.compile(r"[\s/:–—-]+")
NEW_FILE = "new.bib"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def known_as(
    identifier: Identifier, work: Work, references: Collection[Reference]
) -> Reference | None:
    """The reference that is this work already: by any identifier, or by its title."""
    for text in (identifier.address, work.eprint, work.doi):
        named = identify(text) if text else None
        if named and (reference := same_work(named, references)):
            return reference
    title = folded(work.title)
    if not title:
        return None
    return next((reference for reference in references if folded(reference.title) == title), None)


def key_of(work: Work, taken: Collection[str]) -> str:
    """A free key in the form authorYEARword: with a word of the title, or one with a letter."""
    stem = f"{_author(work)}{work.year or datetime.date.today().year}"
    words = [folded(word) for word in _BETWEEN_WORDS.split(work.title)]
    words = [word for word in words if word] or ["work"]
    telling = [word for word in words if not _SMALL_WORD.fullmatch(word) and not word.isdigit()]
    keys = [stem + word for word in telling or words]
    keys += [keys[0] + letter for letter in "bcdefghijklmnopqrstuvwxyz"]
    return next((key for key in keys if key not in taken), f"{keys[0]}{len(taken)}")


def _author(work: Work) -> str:
    """The beginning of a key: the first author, or the host of a page without one."""
    if work.people:
        first = work.people[0]
        family = first.family.split()[0] if first.organisation else first.family
        name = folded(family)
    else:
        name = folded(host_of(work.url).rpartition(".")[0].rpartition(".")[2])
    return name if name[:1].isalpha() else f"x{name}"  # BibTeX keys begin with a letter here


def pick_file(work: Work, topic: str | None, references: Iterable[Reference]) -> str:
    """The file that a work goes to.

    With a topic, the one that holds most of its works; else the one with most works of the same
    host; else the one whose titles share most with this one, rare words counting more; else a new
    file.
    """
    references = list(references)
    if topic:
        return _most_voted(_votes_by_topic(topic, references))
    host = host_of(work.url)
    votes = Counter(ref.file for ref in references if host and host_of(ref.url) == host)
    if votes:
        return _most_voted(votes)
    likeness = _likeness(work, references)
    return _most_voted({file: score for file, score in likeness.items() if score > 0})


def _votes_by_topic(topic: str, references: Iterable[Reference]) -> Counter[str]:
    """Works of each file whose first topic is this one, or else that have it at all."""
    tagged = [reference for reference in references if topic in reference.topics]
    first = Counter(reference.file for reference in tagged if reference.topics[0] == topic)
    return first or Counter(reference.file for reference in tagged)


def _likeness(work: Work, references: Iterable[Reference]) -> dict[str, float]:
    """How much the titles of each file share with a work, a word of many titles counting less."""
    words = {reference.key: _words(reference.title) for reference in references}
    frequency = Counter(word for title_words in words.values() for word in title_words)
    own = _words(work.title)
    likeness: dict[str, float] = {}
    for reference in references:
        score = sum(1 / frequency[word] for word in words[reference.key] & own)
        likeness[reference.file] = likeness.get(reference.file, 0.0) + score
    return likeness


def _most_voted(votes: Mapping[str, float]) -> str:
    """The file with most votes, the first by name of several; a new file where there is none."""
    if not votes:
        return NEW_FILE
    return Path(max(sorted(votes), key=votes.__getitem__)).name


def _words(title: str) -> set[str]:
    """The words of a title that say something about it."""
    words = {folded(word) for word in _BETWEEN_WORDS.split(title)}
    return {word for word in words if len(word) > 2 and not _SMALL_WORD.fullmatch(word)}


def entry_text(key: str, work: Work, topic: str | None = None) -> str:
    """The entry as it is written.

    A person fills in `annote`, `type` of a page, and `keywords` if no topic is given; lint says
    what is still open. A paper whose record names no venue is a preprint as of today.
    """
    venue_field, venue = work.venue
    today = datetime.date.today().isoformat()
    texts = {
        "author": " and ".join(_name(author) for author in work.people),
        "title": title_text(work.title),
        "type": "",
        venue_field: latex(venue),
        **{name: latex(text) for name, text in work.more},
        "year": str(work.year or ""),
        "doi": work.doi,
        "eprint": work.eprint,
        "archiveprefix": "arXiv" if work.eprint else "",
        "preprint": today if work.eprint and not venue else "",
        "url": work.url,
        "urldate": today if work.url else "",
    }
    # What every entry has is written even if empty, so that it is seen when it is missing.
    required = {"author", "title", "year"}
    if not work.doi and not work.eprint:
        required.add("type")  # only a page does not say itself what it is
    fields = [
        Field(name, f"{{{text}}}")
        for name, text in texts.items()
        if name and (text or name in required)
    ]
    if work.month:
        fields.append(Field("month", MONTHS[work.month - 1]))
    fields += [Field("keywords", f"{{{topic or ''}}}"), Field("annote", "{}")]
    return print_entry(BibEntry(work.type, key, tuple(fields)))


def _name(author: Person) -> str:
    """An author as BibTeX wants it; braces keep the name of an organisation in one piece."""
    if author.organisation or not author.given:
        return f"{{{latex(author.family)}}}"
    return f"{_part(author.family)}, {_part(author.given)}"


def _part(text: str) -> str:
    """A part of a name, in braces where a comma or an `and` in it would begin another."""
    part = latex(text)
    return f"{{{part}}}" if _JOINT.search(part) else part


_JOINT = re.compile(r",|(?:^|\s)and(?:\s|$)", re.IGNORECASE)
# As in Markdown: no space inside the two dollars, so that prices are prices.
_MATHS = re.compile(r"((?<!\\)\$(?!\s)[^$]+(?<!\s)\$(?!\d))")
_SPECIAL = re.compile(r"(?<!\\)([&%#_$])")


def latex(text: str) -> str:
    """A text as BibTeX wants it: LaTeX's special characters escaped, braces in pairs."""
    if not _paired(text):
        text = re.sub(r"[{}]", "", text)
    pieces_of_text = _MATHS.split(text)
    pieces_of_text[::2] = map(_escaped, pieces_of_text[::2])  # maths, at odd places, stays as it is
    return "".join(pieces_of_text)


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


_WORD = re.compile(r"([(\"'“‘]*)([\w+./-]*[A-Z0-9][\w+./-]*?)([.,:;?!)\"'”’]*)")


def _kept(word: str) -> str:
    """A word in braces if BibTeX styles would lower a capital inside of it."""
    match = _WORD.fullmatch(word)
    if match is None or "$" in word:
        return word
    opening, core, closing = match.groups()
    if not re.search(r"[A-Za-z]", core) or not re.search(r".[A-Z]|\d", core):
        return word
    return f"{opening}{{{core}}}{closing}"


def insert(path: Path, key: str, entry: str) -> None:
    """Write an entry into its file, in the order of the keys; nothing else is changed.

    Raises FlopbookError.
    """
    try:
        text = read_bytes(path, MAX_BIB_BYTES).decode("utf-8") if path.exists() else ""
    except UnicodeDecodeError:
        raise FlopbookError(f"{show_path(path)} is not UTF-8 text; nothing was written") from None
    except NotRead as error:
        message = f"{show_path(path)} is {error.strerror}; nothing was written"
        raise FlopbookError(message) from None
    (_, _, head), *entries = pieces(text)
    place = next((place for place, (own, _, _) in enumerate(entries) if own > key), len(entries))
    before = head + "".join(own + behind for _, own, behind in entries[:place])
    after = "".join(own + behind for _, own, behind in entries[place:])
    blocks = [before.strip("\n"), entry, after.strip("\n")]
    write_text(path, "\n\n".join(block for block in blocks if block) + "\n")
