"""What goes wrong with a run, as chapters list it: each symptom is a card of the search.

Chapters list symptoms in tables whose first column is headed Symptom, and as paragraphs that begin
with one: **It hangs.**
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.drawing.markup import slug

_PART = re.compile(r"^#{2,3} (.+?)(?: \{#([\w-]+)\})?$", re.M)
_TABLE = re.compile(r"^\| Symptom \|.*\n\|[-| ]+\n((?:\|.*\n)+)", re.M)
_LEAD = re.compile(r"^\*\*(It [^*]+)\.\*\* (.+)", re.M)
_NUMBER = re.compile(r"\{\{ *([0-9.]+) *\|[^}]*\}\}")
_COMPUTED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
_NOTHING = re.compile(r" \([,; ]*\)")  # a parenthesis of citations, which are computed
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MARK = re.compile(r"[`*]")
_SENTENCE = re.compile(r".*?[.?!](?= |$)")


class Symptom(NamedTuple):
    """What one sees, what it may come of, and the section of its page that says so."""

    seen: str
    causes: str
    anchor: str


def symptoms(source: str) -> Iterator[Symptom]:
    """The symptoms that the source of a page lists, in order."""
    for heading, section in _sections(source):
        anchor = slug(_plain(heading))
        for table in _TABLE.findall(section):
            for line in table.splitlines():
                seen, *causes = (cell.strip() for cell in _plain(line).strip("|").split("|"))
                yield Symptom(_begun(seen), _begun("; ".join(causes)), anchor)
        for seen, told in _LEAD.findall(section):
            sentence = _SENTENCE.match(_plain(told))
            yield Symptom(seen, sentence[0] if sentence else "", anchor)


def _sections(source: str) -> Iterator[tuple[str, str]]:
    """Heading, or its own anchor where it has one, and text of each section."""
    _, *parts = _PART.split(source)
    for heading, anchor, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        yield anchor or heading, text


def _plain(text: str) -> str:
    """Words as they are read: computed numbers are left out, but for those that are typed."""
    shown = _NOTHING.sub("", _COMPUTED.sub("", _NUMBER.sub(r"\1", text)))
    return html.unescape(_MARK.sub("", _LINK.sub(r"\1", shown))).strip()


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]
