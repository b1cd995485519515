"""A reference has the fields that its type needs, no field that nobody reads, and a month that is
one.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, at_reference
from flopbook.data.bibtex_text import KNOWN, read_entry
from flopbook.data.library import references
from flopbook.data.references import Reference
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


def check(data: Data) -> Iterator[Finding]:
    """Fields that are missing, unknown or unreadable."""
    for item in references().values():
        entry = read_entry(item.bibtex)
        if entry is None:
            said = ("each field once, as name = {value}", "mend the commas, or write values out")
            yield at_reference(
                NAME, item, f"{item.key} with fields that cannot be told apart", said
            )
            continue
        yield from _fields(item, entry.texts)


def _fields(item: Reference, texts: dict[str, str]) -> Iterator[Finding]:
    needed = NEEDED.get(item.type, ())
    if needed and not any(texts.get(name) for name in needed):
        said = (f"a {' or '.join(needed)}", "say where it appeared, or choose another type")
        yield at_reference(NAME, item, f"@{item.type} {item.key} without one", said)
    for name in texts.keys() - KNOWN:
        near = UnknownName("field", name, KNOWN).near
        said = (
            f"a field of bibliography/README.md{f' such as {near[0]}' if near else ''}",
            "mend the name",
        )
        yield at_reference(NAME, item, f"field '{shorten(name, 30)}' in {item.key}", said)
    if texts.get("month") and item.month is None:
        said = ("jan to dec, or 1 to 12", "mend the month")
        yield at_reference(NAME, item, f"month '{shorten(texts['month'], 30)}' in {item.key}", said)
    if item.eprint and texts.get("archiveprefix", "").lower() != "arxiv":
        said = ("archiveprefix = {arXiv}", "add it, so that programs know what the eprint is")
        yield at_reference(NAME, item, f"an eprint without its archive in {item.key}", said)
