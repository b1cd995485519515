"""Bibliographies as nearly all are written: entries of fields in braces or quotes, and no more.

Such a file means what it says, and is read by the patterns of `bibtex_text` in a tenth of the time
that pybtex takes. One with a macro, a joined text, a comment or anything else to be worked out is
left to pybtex, and so is every name but `Family, Given` and `{An Organisation}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from flopbook.data.bibtex_text import BibEntry, read_entry

_PEOPLE = ("author", "editor")
_AND = re.compile(" [Aa][Nn][Dd] ")
_SIMPLE = re.compile(r"([^,{}\\~]*),([^,{}\\~]*)")
_BRACED = re.compile(r"\{[^{}\\~]*\}")
# What a field may be without braces or quotes: a number, or one of the months that BibTeX knows.
_BARE = re.compile(r"[0-9]+|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)

_MOST_BRACES = 100  # of a field; more may lie in each other deeper than any reader goes


class Name(NamedTuple):
    """A name in the parts that pybtex gives it, as far as citations tell them apart."""

    last_names: Sequence[str]
    first_names: Sequence[str] = ()
    prelast_names: Sequence[str] = ()
    middle_names: Sequence[str] = ()
    lineage_names: Sequence[str] = ()


class PlainEntry(NamedTuple):
    """An entry with its fields by name, and its people by their part in the work."""

    type: str
    fields: Mapping[str, str]
    persons: Mapping[str, Sequence[Any]]


def plain_entries(text: str, sources: Iterable[tuple[str, str]]) -> dict[str, PlainEntry] | None:
    """The entries of a file by key, from each as it is written; None for a file to work out."""
    entries: dict[str, PlainEntry] = {}
    keys: set[str] = set()
    end = 0
    for key, source in sources:
        start = text.find(source, end)
        entry = read_entry(source)
        is_alone = not text[end:start].strip() and key.lower() not in keys
        if entry is None or not is_alone or not _is_plain(entry):
            return None
        try:
            entries[key] = _entry(entry)
        except Exception:  # pybtex fails in many ways on names; its own reader says where
            return None
        keys.add(key.lower())
        end = start + len(source)
    return None if text[end:].strip() else entries


def _is_plain(entry: BibEntry) -> bool:
    """Whether no field is a macro of its own, a sum of texts, or a way to another entry."""
    return all(
        field.name != "crossref"
        and (field.value[0] in '{"' or _BARE.fullmatch(field.value))
        and field.value.count("{") <= _MOST_BRACES
        for field in entry.fields
    )


def _entry(entry: BibEntry) -> PlainEntry:
    fields = entry.texts
    persons = {name: names(fields[name]) for name in _PEOPLE if name in fields}
    return PlainEntry(entry.type, fields, persons)


def names(text: str) -> list[Any]:
    """The people of a list; an empty one has none."""
    if not text.strip():
        return []
    if "{" in text:
        from pybtex.bibtex.utils import split_name_list  # an `and` in braces joins no names

        return [_name(name) for name in split_name_list(text)]
    return [_name(name.strip()) for name in _AND.split(text)]


def _name(text: str) -> Any:
    if match := _SIMPLE.fullmatch(text):
        return Name(match[1].split(), match[2].split())
    if _BRACED.fullmatch(text):
        return Name((text,))
    from pybtex.database import Person as Parsed

    return Parsed(text)
