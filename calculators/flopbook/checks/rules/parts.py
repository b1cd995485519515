"""Parts and variants name entries that exist, and no entry contains itself."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, locate
from flopbook.data.library import entry_ids
from flopbook.errors import DataError, FlopbookError, Problem
from flopbook.hardware.parts import packages

NAME = "part"


def check(data: Data) -> Iterator[Finding]:
    """References to entries that are missing, and cycles of parts."""
    known = set(entry_ids())
    for entry in data.entries.values():
        refs = [part.ref for part in entry.contains] + (
            [entry.variant_of] if entry.variant_of else []
        )
        for ref in refs:
            if ref not in known:
                said = (f"'{ref}'", "the id of an entry", "add that entry or mend the id")
                yield Finding(Problem(*locate(entry.file, ref), NAME, *said))
        if all(ref in data.entries for ref in refs):
            try:
                packages(entry)
            except DataError:  # a part of a part that is missing or broken has its own problem
                continue
            except FlopbookError as error:
                at = locate(entry.file, entry.contains[0].ref)
                yield Finding(
                    Problem(*at, NAME, str(error), "parts without a cycle", "mend 'contains'")
                )
