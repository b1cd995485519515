"""Authors are people with all their names, family name first, or organisations in braces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference
from flopbook.data.bibtex_text import read_entry
from flopbook.data.reference import Person, Reference
from flopbook.errors import shorten

NAME = "author"
FORM = Advice("'Family, Given', or an organisation in double braces", "mend the name")
ALL_AUTHORS = Advice("all authors", "list every author")
A_NAME = Advice("a name", "remove what is no part of it")
CASE = Advice("a name in upper and lower case", "write it as the author does")
_OTHERS = re.compile(r"\b(?:et\.? al|and others|others)\b", re.IGNORECASE)
_AND = re.compile(r"\s+and\s+")
_NUMERALS = ("III", "VII")  # behind a name, and long enough to look like shouting
# Digits, addresses and separators of lists, which no name has.
_NO_NAME = re.compile(r"[\d@;]|https?:")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Names that do not parse, and lists of authors that stop early."""
    for reference in holdings.references.values():
        yield from _written(reference)
        for person in reference.people:
            if advice := _fault(person):
                observed = f"'{shorten(person.full)}' in {reference.key}"
                yield at_reference(NAME, reference, observed, advice)


def _written(reference: Reference) -> Iterator[Finding]:
    """Names as they are written, before they are read."""
    entry = read_entry(reference.bibtex)
    texts = entry.texts if entry else {}
    for field in ("author", "editor"):
        for name in names(texts.get(field, "")):
            if not name.startswith("{") and "," not in name:
                yield at_reference(NAME, reference, f"'{shorten(name)}' in {field}", FORM)


def names(text: str) -> list[str]:
    """The names of a field, cut at each `and` that stands outside braces."""
    if "{" not in text and "}" not in text:
        return [name for part in _AND.split(text) if (name := part.strip())]
    cut, depth, start = [], 0, 0
    for match in re.finditer(r"[{}]|\s+and\s+", text):
        depth += (match[0] == "{") - (match[0] == "}")
        if match[0] not in "{}" and depth == 0:
            cut.append(text[start : match.start()])
            start = match.end()
    cut.append(text[start:])
    return [name.strip() for name in cut if name.strip()]


def _fault(person: Person) -> Advice | None:
    """What to do about a name as it was read; None for one that is fine."""
    name = person.full
    if _OTHERS.search(name):
        return ALL_AUTHORS
    if person.organisation:
        return None
    if _NO_NAME.search(name):
        return A_NAME
    if person.given and any(_shouts(word) for word in _long_words(person)):
        return CASE
    return None


def _shouts(word: str) -> bool:
    return word.isupper() and word not in _NUMERALS


def _long_words(person: Person) -> list[str]:
    """The words of a name that are too long for initials."""
    return [*re.findall(r"\w{3,}", person.family), *re.findall(r"\w{4,}", person.given)]
