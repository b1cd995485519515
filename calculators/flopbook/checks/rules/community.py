"""No chip rests on aggregators alone: data sets and encyclopaedias copy each other's mistakes."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding
from flopbook.data.library import source_tiers
from flopbook.errors import Problem

NAME = "community"
SAID = ("a source of another tier", "find the vendor's document, a submission, a test or a report")


def check(data: Data) -> Iterator[Finding]:
    """Chips all of whose values come from community sources."""
    tiers = source_tiers()
    for entry in data.entries.values():
        used = {claim.source for claim in entry.claims if claim.published and not claim.known_error}
        if entry.computes and used and all(tiers.get(key) == "community" for key in used):
            found = f"only {', '.join(sorted(used))}"
            yield Finding(Problem(entry.file, 1, 1, NAME, found, *SAID), (entry,))
