"""Two rates of one source for one format are those of two operating points or versions.

The peaks of a chip that are shown together belong to one of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator

from flopbook.checks.rules.base import (
    Advice,
    Finding,
    Holdings,
    agree,
    amount,
    at_claim,
    contradicted,
    printed,
)
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.hardware.choice import quantity_of

NAME = "point"
TOLERANCE = 0.02  # a source may print one rate twice, rounded differently
ADVICE = Advice(
    "one rate at one operating point",
    "name the point of the peak that does not belong with the others under 'point'",
)
STEP_ADVICE = Advice(
    "the rate of the usual point, or the same 'point'", "name the point, or mend the value"
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Peaks that one source prints twice, without a word on what is different."""
    for entry in holdings.entries.values():
        yield from _of_entry(entry)


def _of_entry(entry: Entry) -> Iterator[Finding]:
    # What a source contradicts itself in is mostly no error, so a conflict excuses nothing.
    peaks = [
        claim
        for claim in entry.claims
        if claim.field == "peak" and claim.si_value is not None and not claim.known_error
    ]
    for claim, earlier in contradicted(peaks, _conditions, TOLERANCE):
        rates = f"{printed(claim)} here, {printed(earlier)} in line {earlier.line}"
        yield at_claim(NAME, entry, claim, f"two rates of {claim.source}: {rates}", ADVICE)
    for claim, other in itertools.product(peaks, peaks):
        if other.point and _belongs_to(claim, other, peaks):
            rate = f"{printed(other)} at {other.point} in line {other.line}"
            observed = f"{printed(claim)} here, in step with {rate}"
            yield at_claim(NAME, entry, claim, observed, STEP_ADVICE)


def _belongs_to(claim: Claim, other: Claim, peaks: list[Claim]) -> bool:
    """A peak without a point, in step with that of another point and not with the usual one."""
    if claim.point or claim.dtype == other.dtype or _place(claim) != _place(other):
        return False
    usual = [
        peak
        for peak in peaks
        if not peak.point and peak.dtype == other.dtype and _place(peak) == _place(other)
    ]
    follows_usual = any(_in_step(claim, peak) for peak in usual)
    return bool(usual) and _in_step(claim, other) and not follows_usual


def _in_step(claim: Claim, other: Claim) -> bool:
    """Whether two rates differ by a power of two: half the width mostly doubles the rate."""
    ratio = amount(claim) / amount(other)
    return agree(ratio, 2.0 ** round(math.log2(ratio)), TOLERANCE)


def _place(claim: Claim) -> Hashable:
    """What two peaks of different formats share that stand in one table."""
    return claim.source, claim.per, claim.engine, claim.sparsity, _settings(claim)


def _conditions(claim: Claim) -> Hashable:
    return quantity_of(claim), claim.source, _settings(claim)


def _settings(claim: Claim) -> Hashable:
    return claim.accumulate, claim.at_power_w, claim.at_clock_mhz
