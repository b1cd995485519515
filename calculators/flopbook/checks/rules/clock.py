"""A peak is rate per cycle x units x clock, where all three are recorded."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, agree, at_claim, counted
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import source_tiers
from flopbook.hardware.choice import choose

NAME = "clock"
TOLERANCE = 0.03
SAID = ("the recorded peak", "mend one of the four, or say why under 'exceptions'")


def check(data: Data) -> Iterator[Finding]:
    """Peaks that rate, units and clock contradict."""
    for entry in data.entries.values():
        for rate in (c for c in entry.claims if c.field == "flop_per_clock" and counted(c)):
            units = choose(c for c in entry.claims if c.field == "cores" and c.name == rate.name)
            if units is None or not units.si_value:
                continue
            for peak in _peaks(entry, rate):
                hertz = peak.at_clock_mhz * 1e6 if peak.at_clock_mhz else _boost(entry)
                product = (rate.si_value or 0) * units.si_value * hertz
                if product and not agree(product, peak.si_value or 1, TOLERANCE):
                    found = f"{rate.value:g} {rate.unit} x {units.value:g} {units.name} x {hertz / 1e6:g} MHz = "
                    yield at_claim(
                        NAME, entry, rate, found + f"{product:.4g}, peak {peak.si_value:.4g}", SAID
                    )


def _peaks(entry: Entry, rate: Claim) -> list[Claim]:
    """The chosen peak of the rate's format; others of the same format may be of other clocks."""
    same = [
        c
        for c in entry.claims
        if c.field == "peak" and (c.dtype, c.sparsity) == (rate.dtype, rate.sparsity)
    ]
    engines = {
        c.engine: [one for one in same if one.engine == c.engine and counted(one)] for c in same
    }
    wanted = "tensor" if engines.get("tensor") else "vector"
    chosen = choose(engines.get(wanted, ()), source_tiers())
    return [chosen] if chosen else []


def _boost(entry: Entry) -> float:
    for name in ("tensor", "boost"):
        clock = choose(
            (c for c in entry.claims if c.field == "clock" and c.name.startswith(name)),
            source_tiers(),
        )
        if clock is not None and clock.si_value:
            return clock.si_value
    return 0.0
