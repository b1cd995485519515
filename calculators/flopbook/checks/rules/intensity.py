"""Peak over bandwidth of a chip with HBM lies between 30 and 1,000 FLOP per byte.

The peak is the dense 16-bit one of the matrix units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flopbook.checks.rules.base import Advice, Finding, Holdings, amount, at_claim, printed
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.hardware.choice import choose

NAME = "intensity"
# Wide on purpose: what lies outside is more often a mistake than a design.
LEAST, MOST = 30, 1000
ADVICE = Advice(
    f"{LEAST} to {MOST} FLOP per byte",
    "check that both are of one chip and dense, or say why under 'exceptions'",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Chips whose peak and bandwidth do not fit: a sparse peak or a half chip shows so."""
    for entry in holdings.entries.values():
        if entry.computes:
            yield from _of_chip(entry, holdings.tiers)


def _of_chip(entry: Entry, tiers: Mapping[str, str]) -> Iterator[Finding]:
    peak = _peak(entry, "bf16", tiers) or _peak(entry, "fp16", tiers)
    rates = (c for c in entry.claims if (c.field, c.tier) == ("memory_bandwidth", "hbm"))
    rate = choose(rates, tiers)
    if peak is None or rate is None or not rate.si_value:
        return
    ratio = amount(peak) / rate.si_value
    if not LEAST <= ratio <= MOST:
        observed = f"{peak.dtype} {printed(peak)} over {printed(rate)} = {ratio:.3g}"
        yield at_claim(NAME, entry, peak, observed, ADVICE)


def _peak(entry: Entry, dtype: str, tiers: Mapping[str, str]) -> Claim | None:
    """The chosen dense peak of a format on the matrix units; None if there is no number."""
    dense = ("peak", dtype, "tensor", "dense")
    peaks = (c for c in entry.claims if (c.field, c.dtype, c.engine, c.sparsity) == dense)
    peak = choose(peaks, tiers)
    return peak if peak is not None and peak.si_value else None
