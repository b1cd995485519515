"""A reference has the fields that its type needs, and none that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference
from flopbook.data.bibtex_text import KNOWN, read_entry
from flopbook.data.reference import Reference
from flopbook.errors import UnknownName, shorten

NAME = "fields"
# Type -> the fields of which it needs one: where the work appeared.
NEEDED = {
    "article": ("journal",),
    "inproceedings": ("booktitle",),
    "incollection": ("booktitle",),
    "book": ("publisher",),
    "phdthesis": ("school",),
    "mastersthesis": ("school",),
    "techreport": ("institution", "howpublished"),
}
UNREADABLE = Advice("each field once, as name = {value}", "mend the commas, or write values out")
MONTH = Advice("jan to dec, or 1 to 12", "mend the month")
ARCHIVE = Advice("archiveprefix = {arXiv}", "add it, so that programs know what the eprint is")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Fields that are missing, unknown or unreadable."""
    for reference in holdings.references.values():
        entry = read_entry(reference.bibtex)
        if entry is None:
            observed = f"{reference.key} with fields that cannot be told apart"
            yield at_reference(NAME, reference, observed, UNREADABLE)
            continue
        yield from _venue(reference, entry.texts)
        yield from _unknown(reference, entry.texts)
        yield from _contents(reference, entry.texts)


def _venue(reference: Reference, texts: Mapping[str, str]) -> Iterator[Finding]:
    needed = NEEDED.get(reference.type, ())
    if needed and not any(texts.get(name) for name in needed):
        mend = "say where it appeared, or choose another type"
        observed = f"@{reference.type} {reference.key} without one"
        yield at_reference(NAME, reference, observed, Advice(f"a {' or '.join(needed)}", mend))


def _unknown(reference: Reference, texts: Mapping[str, str]) -> Iterator[Finding]:
    for name in texts.keys() - KNOWN:  # mostly misspelt; what nobody reads would be lost
        expected = "a field of bibliography/README.md"
        if near := UnknownName("field", name, KNOWN).near:
            expected += f" such as {near[0]}"
        observed = f"field '{shorten(name, 30)}' in {reference.key}"
        yield at_reference(NAME, reference, observed, Advice(expected, "mend the name"))


def _contents(reference: Reference, texts: Mapping[str, str]) -> Iterator[Finding]:
    month = texts.get("month", "")
    if month and reference.month is None:
        observed = f"month '{shorten(month, 30)}' in {reference.key}"
        yield at_reference(NAME, reference, observed, MONTH)
    if reference.eprint and texts.get("archiveprefix", "").lower() != "arxiv":
        observed = f"an eprint without its archive in {reference.key}"
        yield at_reference(NAME, reference, observed, ARCHIVE)
