"""The same number once in GB and once in GiB is a disagreement of 7 %, not a spelling."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_claim, printed
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim

NAME = "binary"
# Amounts of bytes, which sources print in both kinds of unit.
FIELDS = ("memory", "memory_bandwidth", "sram", "cache", "stack_memory", "scaleup_bandwidth")
ADVICE = Advice(
    "one unit for one number", "record the disagreement with 'conflicts_with', or mend the unit"
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Equal numbers in decimal and in binary units, neither of them marked as a disagreement."""
    for entry in holdings.entries.values():
        yield from _of_entry(entry)


def _of_entry(entry: Entry) -> Iterator[Finding]:
    first: dict[Hashable, Claim] = {}
    for claim in entry.claims:
        if claim.field not in FIELDS or claim.si_value is None or claim.known_error:
            continue
        earlier = first.setdefault(_quantity(claim), claim)
        differ = _is_binary(claim) != _is_binary(earlier)
        if differ and not claim.conflicts_with and not earlier.conflicts_with:
            observed = f"{printed(claim)} here, {printed(earlier)} in line {earlier.line}"
            yield at_claim(NAME, entry, claim, observed, ADVICE)


def _is_binary(claim: Claim) -> bool:
    return "i" in claim.unit.partition("/")[0]


def _quantity(claim: Claim) -> Hashable:
    """What two claims share that print the same number of the same thing: GiB counts as GB."""
    conditions = (claim.tier, claim.name, claim.per, claim.direction, claim.aggregate)
    return claim.field, conditions, claim.value, claim.unit.replace("i", "")
