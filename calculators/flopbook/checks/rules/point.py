"""Two rates of one source for one format are those of two operating points or versions.

The peaks of a chip that are shown together belong to one of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_claim, contradicted, printed
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.hardware.choice import quantity_of

NAME = "point"
TOLERANCE = 0.02  # a source may print one rate twice, rounded differently
ADVICE = Advice(
    "one rate at one operating point",
    "name the point of the peak that does not belong with the others under 'point'",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Peaks that one source prints twice, without a word on what is different."""
    for entry in holdings.entries.values():
        yield from _of_entry(entry)


def _of_entry(entry: Entry) -> Iterator[Finding]:
    # What a source contradicts itself in is mostly no error, so a conflict excuses nothing.
    peaks = (
        claim
        for claim in entry.claims
        if claim.field == "peak" and claim.si_value is not None and not claim.known_error
    )
    for claim, earlier in contradicted(peaks, _conditions, TOLERANCE):
        rates = f"{printed(claim)} here, {printed(earlier)} in line {earlier.line}"
        yield at_claim(NAME, entry, claim, f"two rates of {claim.source}: {rates}", ADVICE)


def _conditions(claim: Claim) -> Hashable:
    at = (claim.accumulate, claim.at_power_w, claim.at_clock_mhz)
    return quantity_of(claim), claim.source, at
