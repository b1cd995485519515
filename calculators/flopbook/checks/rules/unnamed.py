"""Peaks of several number formats do not share one key.

A rate without a format is recorded as `unstated`. Two such rates of one chip are those of two
formats, and only one of them would be shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_claim, contradicted, printed
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim

NAME = "unnamed"
TOLERANCE = 0.1  # sources round one rate differently, but not by more
ADVICE = Advice(
    "one rate under one key",
    "give each its own 'dtype', with a new name in schema.json if need be",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Rates without a format that cannot be those of one format."""
    for entry in holdings.entries.values():
        yield from _of_entry(entry)


def _of_entry(entry: Entry) -> Iterator[Finding]:
    # Two formats are no disagreement, so one that is recorded as such is looked at too.
    rates = (
        claim
        for claim in entry.claims
        if claim.dtype == "unstated" and claim.si_value is not None and not claim.known_error
    )
    for claim, earlier in contradicted(rates, _conditions, TOLERANCE):
        both = f"{printed(claim)} here, {printed(earlier)} in line {earlier.line}"
        yield at_claim(NAME, entry, claim, f"two rates of no format: {both}", ADVICE)


def _conditions(claim: Claim) -> Hashable:
    return claim.field, claim.engine, claim.sparsity, claim.per
