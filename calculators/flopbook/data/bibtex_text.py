"""BibTeX as text: entries and fields with the very characters that people wrote, and one way to lay
them out.

The meaning of an entry is read by `references`; here nothing is decoded, so that a file can be laid
out anew without touching a word of it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# The order of fields in an entry; one that is not named here stands before the last three.
ORDER = (
    "author",
    "editor",
    "title",
    "type",
    "journal",
    "booktitle",
    "school",
    "institution",
    "publisher",
    "howpublished",
    "series",
    "edition",
    "volume",
    "number",
    "chapter",
    "pages",
    "address",
    "organization",
    "isbn",
    "issn",
    "year",
    "month",
    "day",
    "doi",
    "eprint",
    "archiveprefix",
    "primaryclass",
    "url",
    "urldate",
    "code",
    "tier",
)
LAST = ("keywords", "note", "annote")
KNOWN = frozenset((*ORDER, *LAST))


class Field(NamedTuple):
    """A field: its name in lower case and its value as written, with its braces or quotes."""

    name: str
    value: str

    @property
    def text(self) -> str:
        """The value without its outer braces or quotes, on one line."""
        bare = self.value[1:-1] if self.value[:1] in ("{", '"') else self.value
        return " ".join(bare.split())


class BibEntry(NamedTuple):
    """An entry as it stands in a file."""

    type: str
    key: str
    fields: tuple[Field, ...]

    @property
    def texts(self) -> dict[str, str]:
        """Field -> its text."""
        return {field.name: field.text for field in self.fields}


_HEAD = re.compile(r"@(\w+)\s*\{\s*([^,\s{}\"=]+)\s*(?=[,}])")
_NAME = re.compile(r"[\s,]*([A-Za-z][\w-]*)\s*=\s*")
_BARE = re.compile(r"[A-Za-z0-9][\w-]*")
_END = re.compile(r"[\s,]*\}\s*")


@functools.lru_cache(maxsize=8192)  # several rules ask for the same entries
def read_entry(text: str) -> BibEntry | None:
    """The entry that a text is, or None where it holds anything that would not come out again: it
    is left alone.
    """
    head = _HEAD.match(text)
    if head is None or head[1].lower() in ("comment", "string", "preamble"):
        return None
    fields: list[Field] = []
    place = head.end()
    while found := _NAME.match(text, place):
        end = _value_end(text, found.end())
        if end is None:
            return None
        fields.append(Field(found[1].lower(), text[found.end() : end]))
        place = end
        if not re.match(r"\s*[,}]", text[place:]):  # two values joined by a hash, or nonsense
            return None
    names = [field.name for field in fields]
    if not _END.fullmatch(text, place) or len(set(names)) != len(names):
        return None
    return BibEntry(head[1].lower(), head[2], tuple(fields))


def _value_end(text: str, start: int) -> int | None:
    """Where a value ends: at its closing brace or quote, or behind a bare word."""
    if text[start : start + 1] not in ("{", '"'):
        found = _BARE.match(text, start)
        return found.end() if found else None
    quoted, depth = text[start] == '"', 0
    for place in range(start, len(text)):
        letter = text[place]
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return None
        if depth == 0 and (letter == "}" if not quoted else letter == '"' and place > start):
            return place + 1
    return None


def print_entry(entry: BibEntry) -> str:
    """The entry in the layout of the house: one field on a line, in one order, values as they were
    written.
    """
    inside = [f"  {field.name} = {field.value}" for field in sorted(entry.fields, key=_rank)]
    return ",\n".join([f"@{entry.type}{{{entry.key}", *inside]) + "\n}"


def _rank(field: Field) -> tuple[int, int, str]:
    if field.name in LAST:
        return 2, LAST.index(field.name), ""
    return (0, ORDER.index(field.name), "") if field.name in ORDER else (1, 0, field.name)


_START = re.compile(r"^@\w+[ \t]*\{[ \t]*([^,\s]+)", re.MULTILINE)


def pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """A file cut at the entries that start a line: (key, entry, what stands behind it); first what
    stands before all.

    The first piece has neither key nor entry. Joined again, the pieces are the text.
    """
    starts = list(_START.finditer(text))
    yield "", "", text[: starts[0].start() if starts else len(text)]
    ends = [*(match.start() for match in starts[1:]), len(text)]
    for match, end in zip(starts, ends[: len(starts)], strict=True):
        whole = text[match.start() : end]
        cut = _closing(whole)
        yield match[1], whole[:cut], whole[cut:]


def _closing(text: str) -> int:
    """The place behind the brace that closes an entry, or the end of a text that never closes."""
    depth = 0
    for match in re.finditer(r"[{}]", text):  # BibTeX counts escaped braces too
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(text)


_PLAIN = str.maketrans({"ø": "o", "ł": "l", "ß": "ss", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})


def folded(name: str) -> str:
    """A name in the letters of a key: lower case ASCII, no spaces or marks."""
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", name.lower().translate(_PLAIN)))
