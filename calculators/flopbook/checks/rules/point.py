"""Two rates of one source for one format are those of two operating points or versions.

The peaks of a chip that are shown together belong to one of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, agree, amount, at_claim, printed
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
    first: dict[Hashable, Claim] = {}
    for claim in entry.claims:
        # What a source contradicts itself in is mostly no error, so a conflict excuses nothing.
        if claim.field != "peak" or claim.si_value is None or claim.known_error:
            continue
        at = (claim.accumulate, claim.at_power_w, claim.at_clock_mhz)
        earlier = first.setdefault((quantity_of(claim), claim.source, at), claim)
        if not agree(amount(claim), amount(earlier), TOLERANCE):
            rates = f"{printed(claim)} here, {printed(earlier)} in line {earlier.line}"
            yield at_claim(NAME, entry, claim, f"two rates of {claim.source}: {rates}", ADVICE)
