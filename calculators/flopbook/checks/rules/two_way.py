"""A link's figure for both directions is twice the one for one direction."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, agree, at_claim, counted
from flopbook.data.claims import Claim

NAME = "two-way"
TOLERANCE = 0.02
SAID = ("twice the figure for one way", "mend one of them, or say why under 'exceptions'")
FIELDS = ("scaleup_bandwidth", "scaleout_bandwidth", "host_bandwidth", "bisection_bandwidth")


def check(data: Data) -> Iterator[Finding]:
    """Pairs of figures that are not two to one."""
    for entry in data.entries.values():
        links = [c for c in entry.claims if c.field in FIELDS and counted(c)]
        for both in (c for c in links if c.direction == "both"):
            for one in (
                c for c in links if c.direction == "one-way" and _quantity(c) == _quantity(both)
            ):
                if not agree(both.si_value or 0, 2 * (one.si_value or 1), TOLERANCE):
                    found = (
                        f"both ways {both.value:g} {both.unit}, one way {one.value:g} {one.unit}"
                    )
                    yield at_claim(NAME, entry, both, found, SAID)


def _quantity(claim: Claim) -> tuple[str, ...]:
    return (claim.field, claim.name, claim.aggregate, claim.per)
