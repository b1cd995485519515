"""What a vendor prints for a system is count x chip, within 3 %."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, agree, at_claim, counted
from flopbook.data.claims import Claim
from flopbook.errors import FlopbookError
from flopbook.hardware.parts import totals

NAME = "total"
TOLERANCE = 0.03
SAID = ("count x chip", "mend it, or say why under 'exceptions'")


def check(data: Data) -> Iterator[Finding]:
    """Printed totals that do not follow from the parts."""
    for entry in data.entries.values():
        try:
            derived = {_key(c): c for c in totals(entry)}
        except FlopbookError:  # its parts are missing, broken or in a cycle, which is said already
            continue
        for claim in filter(counted, entry.claims):
            total = derived.get(_key(claim))
            if total is None or not total.si_value or claim.per != total.per:
                continue
            if not agree(claim.si_value or 0, total.si_value, TOLERANCE):
                off = abs((claim.si_value or 0) / total.si_value - 1)
                found = f"{claim.value} {claim.unit}, but {total.formula} is {off:.0%} away"
                yield at_claim(NAME, entry, claim, found, SAID)


def _key(claim: Claim) -> tuple[str, ...]:
    return (claim.field, claim.dtype, claim.engine, claim.sparsity, claim.tier, claim.direction)
