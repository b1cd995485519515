"""A link's figure for both directions is twice the one for one direction."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

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

NAME = "two-way"
TOLERANCE = 0.02  # each of both is rounded
ADVICE = Advice("twice the figure for one way", "mend one of them, or say why under 'exceptions'")
# Links that carry data both ways at once.
FIELDS = (
    *("scaleup_bandwidth", "scaleout_bandwidth", "host_bandwidth", "bisection_bandwidth"),
    *("port_bandwidth", "chip_to_chip_bandwidth", "die_to_die_bandwidth"),
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Pairs of figures that are not two to one."""
    for entry in holdings.entries.values():
        yield from _of_entry(entry)


def _of_entry(entry: Entry) -> Iterator[Finding]:
    rates = [claim for claim in entry.claims if claim.field in FIELDS and counted(claim)]
    two_way = [rate for rate in rates if rate.direction == "both"]
    one_way = [rate for rate in rates if rate.direction == "one-way"]
    for both, single in itertools.product(two_way, one_way):
        if _quantity(both) != _quantity(single):
            continue  # of another link, or of a chip where the other is of a domain
        if not agree(amount(both), 2 * amount(single), TOLERANCE):
            observed = f"both ways {printed(both)}, one way {printed(single)}"
            yield at_claim(NAME, entry, both, observed, ADVICE)


def _quantity(claim: Claim) -> tuple[str, ...]:
    return (claim.field, claim.name, claim.aggregate, claim.per)
