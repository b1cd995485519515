"""The same number once in GB and once in GiB is a disagreement of 7 %, not a spelling."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, at_claim
from flopbook.data.claims import Claim

NAME = "binary"
FIELDS = ("memory", "memory_bandwidth", "sram", "cache", "stack_memory", "scaleup_bandwidth")
SAID = (
    "one unit for one number",
    "record the disagreement with 'conflicts_with', or mend the unit",
)


def check(data: Data) -> Iterator[Finding]:
    """Equal numbers in decimal and in binary units, neither of them marked as a disagreement."""
    for entry in data.entries.values():
        seen: dict[tuple, Claim] = {}
        for claim in entry.claims:
            if claim.field not in FIELDS or claim.si_value is None or claim.known_error:
                continue
            other = seen.setdefault(_quantity(claim), claim)
            differ = ("i" in claim.unit.partition("/")[0]) != ("i" in other.unit.partition("/")[0])
            if differ and not claim.conflicts_with and not other.conflicts_with:
                found = f"{claim.value:g} {claim.unit} here, {other.value:g} {other.unit} in line {other.line}"
                yield at_claim(NAME, entry, claim, found, SAID)


def _quantity(claim: Claim) -> tuple:
    letters = claim.unit.replace("i", "")
    return (
        claim.field,
        claim.tier,
        claim.name,
        claim.per,
        claim.direction,
        claim.aggregate,
        claim.value,
        letters,
    )
