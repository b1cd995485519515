"""No text is one that `flopbook new` wrote for a person to replace.

"not published" under such a locator would pass for a reading of the source that nobody made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_text
from flopbook.data.claims import Claim
from flopbook.data.placeholders import is_placeholder
from flopbook.data.vendors import Vendor
from flopbook.errors import shorten

NAME = "placeholder"
ADVICE = {
    "summary": Advice("a sentence or two of your own", "say what it is and who uses it"),
    "locator": Advice("where in the source it stands", "read the source and name the place"),
    "quote": Advice("words of the source", "quote the source, or name the place in 'locator'"),
    "note": Advice("a sentence of your own", "write it, or leave the note out"),
}


class _Text(NamedTuple):
    """A text that a person is to write, the field it fills, and its place or a line above."""

    field: str
    text: str
    file: str
    line: int = 1


def check(holdings: Holdings) -> Iterator[Finding]:
    """Summaries, locators, quotes and notes that wait to be written."""
    for text in _texts(holdings):
        if is_placeholder(text.text):
            observed = f"the {text.field} '{shorten(text.text)}'"
            advice = ADVICE[text.field]
            yield at_text(NAME, text.file, text.text, observed, advice, from_line=text.line)


def _texts(holdings: Holdings) -> Iterator[_Text]:
    for owner in holdings.owners:
        yield _Text("summary", owner.summary, owner.file)
        yield _Text("note", owner.notes, owner.file)
        yield from _of_claims(owner.claims)
    for entry in holdings.entries.values():
        yield from (_Text("note", status.note, entry.file) for status in entry.status)
        if entry.die:
            yield _Text("locator", entry.die.locator, entry.file)
            yield _Text("quote", entry.die.quote, entry.file)
    for vendor in holdings.vendors.values():
        yield from _of_vendor(vendor, holdings.vendor_file(vendor.id))


def _of_claims(claims: Iterable[Claim]) -> Iterator[_Text]:
    for claim in claims:
        for field in ("locator", "quote", "note"):
            yield _Text(field, getattr(claim, field), claim.file, claim.line)


def _of_vendor(vendor: Vendor, file: str) -> Iterator[_Text]:
    yield _Text("summary", vendor.summary, file)
    for fact in vendor.facts:
        for field in ("locator", "quote", "note"):
            yield _Text(field, getattr(fact, field), file)
