"""A peak is rate per cycle x units x clock, where all three are recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flopbook.checks.rules.base import (
    Advice,
    Finding,
    Holdings,
    agree,
    amount,
    at_claim,
    counted,
    printed,
)
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.hardware.choice import choose

NAME = "clock"
TOLERANCE = 0.03  # sources round peaks and clocks
ADVICE = Advice("the recorded peak", "mend one of the four, or say why under 'exceptions'")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Peaks that rate, units and clock contradict."""
    for entry in holdings.entries.values():
        for rate in entry.claims:
            if rate.field == "flop_per_clock" and counted(rate):
                yield from _of_rate(entry, rate, holdings.tiers)


def _of_rate(entry: Entry, rate: Claim, tiers: Mapping[str, str]) -> Iterator[Finding]:
    counts = (c for c in entry.claims if c.field == "cores" and c.name == rate.name)
    units = choose(counts, tiers)
    peak = _peak(entry, rate, tiers)
    if units is None or peak is None:
        return
    hertz = peak.at_clock_mhz * 1e6 if peak.at_clock_mhz else _boost(entry, tiers)
    product = amount(rate) * amount(units) * hertz
    if product and not agree(product, amount(peak), TOLERANCE):
        factors = f"{printed(rate)} x {units.value:g} {units.name} x {hertz / 1e6:g} MHz"
        observed = f"{factors} = {product:.4g}, peak {amount(peak):.4g}"
        yield at_claim(NAME, entry, rate, observed, ADVICE)


def _peak(entry: Entry, rate: Claim, tiers: Mapping[str, str]) -> Claim | None:
    """The chosen peak of the rate's format: of matrix units where it has them, else of vectors."""
    peaks = [
        claim
        for claim in entry.claims
        if claim.field == "peak" and (claim.dtype, claim.sparsity) == (rate.dtype, rate.sparsity)
    ]
    for engine in ("tensor", "vector"):
        usable = [claim for claim in peaks if claim.engine == engine and counted(claim)]
        if usable:
            return choose(usable, tiers)
    return None


def _boost(entry: Entry, tiers: Mapping[str, str]) -> float:
    """The clock of the matrix units in hertz, else the boost clock; 0 where neither is recorded."""
    for name in ("tensor", "boost"):
        clocks = (c for c in entry.claims if c.field == "clock" and c.name.startswith(name))
        clock = choose(clocks, tiers)
        if clock is not None and clock.si_value:
            return clock.si_value
    return 0.0
