"""Where the entries of a BibTeX text begin, and one field of each, without reading the entries.

Every command that chooses a value needs the tiers of all sources, so this module compiles two
patterns and imports little; `bibtex_text` reads an entry whole.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.data.files import MAX_BIB_BYTES, read_or_nothing


class Heading(NamedTuple):
    """The beginning of an entry: its key, empty for a comment or a string, and its place."""

    key: str
    start: int


# What begins like an entry and has no key.
NO_ENTRIES = ("comment", "string", "preamble")
_HEADING = re.compile(r"@(\w+)\s*\{(?:\s*([^,\s{}\"=]+)\s*(?=[,}]))?")
_LINK = re.compile(r"""^[ \t]*(url|doi|eprint)[ \t]*=[ \t]*[{"]([^{}"]*)[}"]""", re.M | re.I)
_TIER = re.compile(r"""tier[ \t]*=[ \t]*[{"]([a-z]*)["}][ \t]*(?=[,}\r\n])""")


_AS_IT_IS = "surrogatepass"  # half a letter of UTF-16 is for the reader of the entry to refuse


def headings(text: str) -> Iterator[Heading]:
    """The entries that begin a line, in their order."""
    for match in _HEADING.finditer(text):
        if _begins_line(text, match.start()):
            yield _heading(match)


def _heading(match: re.Match[str]) -> Heading:
    is_entry = match[1].lower() not in NO_ENTRIES
    return Heading(match[2] or "" if is_entry else "", match.start())


def _begins_line(text: str, place: int) -> bool:
    """Whether only blanks stand before a place: an address of mail begins no entry."""
    return _before_blanks(text, place) in ("", "\n")


def _before_blanks(text: str, place: int) -> str:
    """The last character before a place that is no blank; empty where there is none."""
    before = place - 1
    while before >= 0 and text[before] in " \t":
        before -= 1
    return text[before] if before >= 0 else ""


def lines_of(key: str, text: str) -> Iterator[int]:
    """The lines at which an entry of this key begins."""
    if key not in text:  # faster than to look for all headings
        return
    for heading in headings(text):
        if heading.key == key:
            yield line_at(text, heading.start)


def link_of(key: str, text: str) -> str:
    """Where the work of a key is to be read: its address, DOI or arXiv id; empty where not here."""
    if key not in text:
        return ""
    places = [*headings(text), Heading("", len(text))]
    for heading, following in itertools.pairwise(places):
        if heading.key == key:
            return _link(text[heading.start : following.start])
    return ""


def _link(entry: str) -> str:
    fields = {match[1].lower(): match[2].strip() for match in _LINK.finditer(entry)}
    if fields.get("url"):
        return fields["url"].replace("\\", "")
    if fields.get("doi"):
        return f"https://doi.org/{fields['doi']}"
    return f"https://arxiv.org/abs/{fields['eprint']}" if fields.get("eprint") else ""


def tiers(text: str) -> Iterator[tuple[str, str]]:
    """Key and tier of the entries that have one."""
    lower = _lowered(text)  # names of fields may be in capitals
    key, begin = "", 0
    for match in _TIER.finditer(lower):
        if not _begins_field(lower, match.start()):
            continue
        # Each part of a text is looked at once: a file may have tiers and no entries without end.
        heading = _last_heading(text, begin, match.start())
        key, begin = heading.key if heading else key, match.start()
        if key:
            yield key, match[1]


def _lowered(text: str) -> str:
    """A text with its ASCII letters lowered, in a tenth of the time of `lower`."""
    return text.encode("utf-8", _AS_IT_IS).lower().decode("utf-8", _AS_IT_IS)


def _begins_field(text: str, place: int) -> bool:
    """Whether a name begins a line or follows a comma: in `frontier = {x}` it does neither."""
    return _before_blanks(text, place) in ("\n", ",")


def _last_heading(text: str, begin: int, end: int) -> Heading | None:
    """The last heading that begins between two places."""
    while (end := text.rfind("@", begin, end)) >= 0:
        match = _HEADING.match(text, end)
        if match and _begins_line(text, end):
            return _heading(match)
    return None


def line_at(text: str, place: int) -> int:
    """The line of a place, from 1."""
    return text.count("\n", 0, place) + 1


def decoded(path: Path) -> str:
    """The text of a file; nothing of one that cannot be read: its reader says why."""
    return text_of(read_or_nothing(path, MAX_BIB_BYTES))


def text_of(content: bytes) -> str:
    """The text of a file's bytes, with a sign in place of each that is no UTF-8."""
    return content.decode("utf-8-sig", "replace")
