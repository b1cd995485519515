"""Parts and variants name entries that exist, and no entry contains itself."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_text
from flopbook.data.accelerators import Entry
from flopbook.errors import DataError, FlopbookError
from flopbook.hardware.parts import packages

NAME = "part"
UNKNOWN = Advice("the id of an entry", "add that entry or mend the id")
CYCLE = Advice("parts without a cycle", "mend 'contains'")


def check(holdings: Holdings) -> Iterator[Finding]:
    """References to entries that are missing, and cycles of parts."""
    for entry in holdings.entries.values():
        references = [part.ref for part in entry.contains]
        if entry.variant_of:
            references.append(entry.variant_of)
        for reference in references:
            if reference not in holdings.entry_ids:
                yield at_text(NAME, entry.file, reference, f"'{reference}'", UNKNOWN)
        # An entry without all of its parts cannot be followed; a missing one is said above.
        if all(reference in holdings.entries for reference in references):
            yield from _cycle(entry, holdings)


def _cycle(entry: Entry, holdings: Holdings) -> Iterator[Finding]:
    try:
        packages(entry, holdings.load_entry)
    except DataError:  # a part of a part that is missing or broken has its own problem
        return
    except FlopbookError as error:
        yield at_text(NAME, entry.file, entry.contains[0].ref, str(error), CYCLE)
