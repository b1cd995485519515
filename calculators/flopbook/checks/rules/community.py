"""No chip rests on aggregators alone: data sets and encyclopaedias copy each other's mistakes."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.errors import Problem

NAME = "community"
ADVICE = Advice(
    "a source of another tier", "find the vendor's document, a submission, a test or a report"
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Chips all of whose values come from community sources."""
    for entry in holdings.entries.values():
        # "not published" and known errors are no values that a chip rests on.
        claims = (claim for claim in entry.claims if claim.published and not claim.known_error)
        sources = {claim.source for claim in claims}
        tiers = {holdings.tiers.get(source, "") for source in sources}
        if entry.computes and tiers == {"community"}:
            observed = f"only {', '.join(sorted(sources))}"
            yield Finding(Problem(entry.file, 1, 1, NAME, observed, *ADVICE), (entry,))
