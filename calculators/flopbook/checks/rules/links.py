"""The bandwidth of a chip is the number of its links x the rate of one."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, agree, at_claim, counted
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim

NAME = "links"
TOLERANCE = 0.03
SAID = ("the bandwidth of the chip", "mend one of the three, or say why under 'exceptions'")


def check(data: Data) -> Iterator[Finding]:
    """Links whose sum is not the chip's bandwidth."""
    for entry in data.entries.values():
        rates = [c for c in entry.claims if c.field == "scaleup_bandwidth" and counted(c)]
        counts = {c.name: c for c in entry.claims if c.field == "scaleup_links" and counted(c)}
        for one in (c for c in rates if c.aggregate == "link" and c.name in counts):
            yield from _against_chip(entry, one, counts[one.name], rates)


def _against_chip(entry: Entry, one: Claim, count: Claim, rates: list[Claim]) -> Iterator[Finding]:
    total = _rate(one) * (count.si_value or 0)
    chips = [c for c in rates if c.aggregate == "chip" and (c.name, c.per) == (one.name, one.per)]
    chips = [c for c in chips if (c.direction == "unstated") == (one.direction == "unstated")]
    other = next((chip for chip in chips if not agree(total, _rate(chip), TOLERANCE)), None)
    if other is not None:
        found = f"{count.value:g} links x {one.value:g} {one.unit} {one.direction}"
        yield at_claim(
            NAME, entry, one, f"{found}, chip {other.value:g} {other.unit} {other.direction}", SAID
        )


def _rate(claim: Claim) -> float:
    """One way where a direction is stated, else as printed."""
    return claim.one_way if claim.one_way is not None else claim.si_value or 0.0
