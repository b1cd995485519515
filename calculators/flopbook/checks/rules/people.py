"""Authors are people with all their names, family name first, or organisations in braces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, at_reference
from flopbook.data.bibtex_text import read_entry
from flopbook.data.library import references
from flopbook.data.references import Person, Reference
from flopbook.errors import shorten

NAME = "author"
FORM = ("'Family, Given', or an organisation in double braces", "mend the name")
_OTHERS = re.compile(r"\b(?:et\.? al|and others|others)\b", re.IGNORECASE)
_NUMERALS = ("III", "VII")
_NO_NAME = re.compile(r"[\d@;]|https?:")


def check(data: Data) -> Iterator[Finding]:
    """Names that do not parse, and lists of authors that stop early."""
    for item in references().values():
        entry = read_entry(item.bibtex)
        texts = entry.texts if entry else {}
        for field in ("author", "editor"):
            for name in names(texts.get(field, "")):
                if not name.startswith("{") and "," not in name:
                    yield at_reference(NAME, item, f"'{shorten(name)}' in {field}", FORM)
        yield from (
            at_reference(NAME, item, *fault)
            for person in item.people
            if (fault := _fault(person, item))
        )


def names(text: str) -> list[str]:
    """The names of a field, cut at each `and` that stands outside braces."""
    found, depth, start = [], 0, 0
    for match in re.finditer(r"[{}]|\s+and\s+", text):
        depth += (match[0] == "{") - (match[0] == "}")
        if match[0] not in "{}" and depth == 0:
            found.append(text[start : match.start()])
            start = match.end()
    return [name.strip() for name in [*found, text[start:]] if name.strip()]


def _long(person: Person) -> list[str]:
    """The parts of a name that are too long for initials."""
    return [*re.findall(r"\w{3,}", person.family), *re.findall(r"\w{4,}", person.given)]


def _fault(person: Person, item: Reference) -> tuple[str, tuple[str, str]] | None:
    """What is wrong with a name as it was read."""
    said = f"'{shorten(person.full)}' in {item.key}"
    if _OTHERS.search(person.full):
        return said, ("all authors", "list every author")
    if person.organisation:
        return None
    if _NO_NAME.search(person.full):
        return said, ("a name", "remove what is no part of it")
    if person.given and any(part.isupper() and part not in _NUMERALS for part in _long(person)):
        return said, ("a name in upper and lower case", "write it as the author does")
    return None
