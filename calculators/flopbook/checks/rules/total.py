"""What a vendor prints for a system is count x chip, within 3 %."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import (
    Advice,
    Finding,
    Holdings,
    agree,
    amount,
    at_claim,
    counted,
)
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.errors import FlopbookError
from flopbook.hardware.parts import totals
from flopbook.quantities.units import percent

NAME = "total"
TOLERANCE = 0.03  # vendors round their totals
ADVICE = Advice("count x chip", "mend it, or say why under 'exceptions'")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Printed totals that do not follow from the parts."""
    for entry in holdings.entries.values():
        yield from _of_entry(entry, holdings)


def _of_entry(entry: Entry, holdings: Holdings) -> Iterator[Finding]:
    try:
        sums = totals(entry, holdings.load_entry, holdings.tiers)
    except FlopbookError:  # its parts are missing, broken or in a cycle, which another rule says
        return
    derived = {_quantity(total): total for total in sums}
    for claim in entry.claims:
        total = derived.get(_quantity(claim))
        if total is None or not counted(claim) or claim.per != total.per or not total.si_value:
            continue
        if not agree(amount(claim), total.si_value, TOLERANCE):
            distance = abs(amount(claim) / total.si_value - 1)
            observed = (
                f"{claim.value} {claim.unit}, but {total.formula} is {percent(distance)} away"
            )
            yield at_claim(NAME, entry, claim, observed, ADVICE)


def _quantity(claim: Claim) -> tuple[str, ...]:
    return (claim.field, claim.dtype, claim.engine, claim.sparsity, claim.tier, claim.direction)
