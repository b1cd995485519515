"""The bandwidth of a chip is the number of its links x the rate of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

NAME = "links"
TOLERANCE = 0.03  # sources round both rates
ADVICE = Advice("the bandwidth of the chip", "mend one of the three, or say why under 'exceptions'")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Links whose sum is not the chip's bandwidth."""
    for entry in holdings.entries.values():
        claims = [claim for claim in entry.claims if counted(claim)]
        rates = [claim for claim in claims if claim.field == "scaleup_bandwidth"]
        counts = {claim.name: claim for claim in claims if claim.field == "scaleup_links"}
        for link in rates:
            if link.aggregate == "link" and link.name in counts:
                yield from _against_chip(entry, link, counts[link.name], rates)


def _against_chip(
    entry: Entry, link: Claim, count: Claim, rates: Sequence[Claim]
) -> Iterator[Finding]:
    total = _rate(link) * amount(count)
    for chip in rates:
        if _comparable(chip, link) and not agree(total, _rate(chip), TOLERANCE):
            links = f"{count.value:g} links x {printed(link)} {link.direction}"
            observed = f"{links}, chip {printed(chip)} {chip.direction}"
            yield at_claim(NAME, entry, link, observed, ADVICE)
            return  # one contradiction is enough to look


def _comparable(chip: Claim, link: Claim) -> bool:
    """True for the rate of a whole chip over the same links, with a direction if the link has."""
    return (
        chip.aggregate == "chip"
        and (chip.name, chip.per) == (link.name, link.per)
        and (chip.direction == "unstated") == (link.direction == "unstated")
    )


def _rate(claim: Claim) -> float:
    """One way where a direction is stated, else as printed."""
    return amount(claim) if claim.one_way is None else claim.one_way
