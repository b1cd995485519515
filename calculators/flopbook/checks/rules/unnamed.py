"""Peaks of several number formats do not share one key.

A rate without a format is recorded as `unstated`. Two such rates of one chip are those of two
formats, and only one of them would be shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, agree, amount, at_claim, printed
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
    first: dict[Hashable, Claim] = {}
    for claim in entry.claims:
        # Two formats are no disagreement, so one that is recorded as such is looked at too.
        if claim.dtype != "unstated" or claim.si_value is None or claim.known_error:
            continue
        key = (claim.field, claim.engine, claim.sparsity, claim.per)
        earlier = first.setdefault(key, claim)
        if not agree(amount(claim), amount(earlier), TOLERANCE):
            rates = f"{printed(claim)} here, {printed(earlier)} in line {earlier.line}"
            yield at_claim(NAME, entry, claim, f"two rates of no format: {rates}", ADVICE)
