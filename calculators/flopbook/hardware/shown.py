"""Which claims of an entry its page, the export and a comparison show."""

from __future__ import annotations

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.hardware.choice import choose_each, quantity_of
from flopbook.hardware.parts import totals


def chosen_claims(entry: Entry) -> set[int]:
    """Identities of the claims that are shown: one for each quantity.

    Where a total follows from the parts it is shown; what the vendor prints for the system stands
    beside it as a check.
    """
    derived = {quantity_of(claim) for claim in totals(entry)}
    candidates: list[Claim] = [c for c in entry.claims if quantity_of(c) not in derived]
    return {id(claim) for claim in choose_each(candidates)}
