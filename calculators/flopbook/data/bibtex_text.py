"""BibTeX as text: entries and fields with the very characters that people wrote.

The meaning of an entry is read by `references`, where it begins is found by `bibtex_scan`; here
nothing is decoded, so that a file can be laid out anew without touching a word of it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from flopbook.data.bibtex_scan import NO_ENTRIES, headings

# The order of fields in an entry: who and what, where it appeared, when, and where to read it. One
# that is not named here stands before the last three.
ORDER = (
    *("author", "editor", "title", "type"),
    *("journal", "booktitle", "school", "institution", "publisher", "howpublished"),
    *("series", "edition", "volume", "number", "chapter", "pages"),
    *("address", "organization", "isbn", "issn"),
    *("year", "month", "day"),
    *("doi", "eprint", "archiveprefix", "primaryclass", "preprint"),
    *("url", "urldate", "record", "code", "tier"),
)
LAST = ("keywords", "note", "nofigure", "annote")
KNOWN = frozenset((*ORDER, *LAST))


class Field(NamedTuple):
    """A field: its name in lower case and its value as written, with its braces or quotes."""

    name: str
    value: str

    @property
    def text(self) -> str:
        """The value without its outer braces or quotes, on one line."""
        bare = self.value
        if bare.startswith(("{", '"')):
            bare = bare[1:-1]
        return " ".join(bare.split())


@dataclass(frozen=True)
class BibEntry:
    """An entry as it is written in a file."""

    type: str
    key: str
    fields: tuple[Field, ...]

    @functools.cached_property
    def texts(self) -> Mapping[str, str]:
        """Field -> its text."""
        return {field.name: field.text for field in self.fields}


_HEAD = re.compile(r"@(\w+)\s*\{\s*([^,\s{}\"=]+)\s*(?=[,}])")
_NAME = re.compile(r"[\s,]*([A-Za-z][\w-]*)\s*=\s*")
_BARE = re.compile(r"[A-Za-z0-9][\w-]*")
_AFTER_VALUE = re.compile(r"\s*[,}]")
_CLOSE = re.compile(r"[\s,]*\}\s*")
_BRACE = re.compile(r"[{}]")
_BRACE_OR_QUOTE = re.compile(r'[{}"]')


@functools.lru_cache(maxsize=32_768)  # several rules ask for the same entries
def read_entry(text: str) -> BibEntry | None:
    """The entry that a text is.

    None where it holds anything that would not come out again: such an entry is left alone.
    """
    head = _HEAD.match(text)
    if head is None or head[1].lower() in NO_ENTRIES:
        return None
    fields: list[Field] = []
    position = head.end()
    while name := _NAME.match(text, position):
        position = _value_end(text, name.end())
        # Without a comma or the last brace it is two values joined by a hash, or nonsense.
        if position < 0 or not _AFTER_VALUE.match(text, position):
            return None
        fields.append(Field(name[1].lower(), text[name.end() : position]))
    names = {field.name for field in fields}
    if not _CLOSE.fullmatch(text, position) or len(names) != len(fields):
        return None
    return BibEntry(head[1].lower(), head[2], tuple(fields))


def _value_end(text: str, start: int) -> int:
    """Where a value ends: behind its closing brace or quote, or a bare word; -1 for nowhere."""
    opening = text[start : start + 1]
    if opening == "{":
        return _brace_end(text, start)
    if opening == '"':
        return _quote_end(text, start)
    word = _BARE.match(text, start)
    return word.end() if word else -1


def _brace_end(text: str, start: int) -> int:
    """The place behind the brace that closes the one at `start`; -1 where it never closes."""
    depth = 0
    for match in _BRACE.finditer(text, start):  # BibTeX counts escaped braces too
        depth += {"{": 1, "}": -1}[match[0]]
        if depth == 0:
            return match.end()
    return -1


def _quote_end(text: str, start: int) -> int:
    """The place behind the next quote that is in no braces; -1 where there is none."""
    depth = 0
    for match in _BRACE_OR_QUOTE.finditer(text, start + 1):
        if match[0] == '"' and depth == 0:
            return match.end()
        depth += (match[0] == "{") - (match[0] == "}")
        if depth < 0:
            return -1
    return -1


def print_entry(entry: BibEntry) -> str:
    """The entry in the layout of the house: a field on each line, in one order, as written."""
    fields = [f"  {field.name} = {field.value}" for field in sorted(entry.fields, key=_rank)]
    return ",\n".join([f"@{entry.type}{{{entry.key}", *fields]) + "\n}"


def _rank(field: Field) -> tuple[int, int, str]:
    """Sort key of a field: those of ORDER, then unknown ones by name, then those of LAST."""
    if field.name in ORDER:
        return 0, ORDER.index(field.name), ""
    if field.name in LAST:
        return 2, LAST.index(field.name), ""
    return 1, 0, field.name


def pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """A file cut at the entries that start a line: (key, entry, what follows it).

    The first piece has neither key nor entry, only what precedes them all. Joined again, the pieces
    are the text.
    """
    entries = list(headings(text))
    ends = [*(heading.start for heading in entries), len(text)]
    yield "", "", text[: ends[0]]
    for (key, start), end in zip(entries, ends[1:], strict=True):
        block = text[start:end]
        cut = _brace_end(block, 0)
        if cut < 0:  # an entry that never closes has nothing behind it
            cut = len(block)
        yield key, block[:cut], block[cut:]


# Letters that do not fall apart into a letter of ASCII and a mark.
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "ß": "ss", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"}
)


def folded(name: str) -> str:
    """A name in the letters of a key: lower case ASCII, no spaces or marks."""
    letters = unicodedata.normalize("NFKD", name.lower().translate(_UNDECOMPOSED))
    return re.sub(r"[^a-z0-9]", "", letters)
