"""Which claims of an entry its page, the export and a comparison show."""

from __future__ import annotations

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.hardware.choice import choose_each, quantity_of
from flopbook.hardware.parts import settled_totals


def chosen_claims(entry: Entry) -> set[int]:
    """Identities of the claims that are shown: one for each quantity.

    Of what follows from the parts the sum is shown, unless the vendor's own total goes before it;
    the other of the two stands beside it.
    """
    settled = settled_totals(entry)
    derived = {quantity_of(total.of_parts) for total in settled}
    candidates: list[Claim] = [c for c in entry.claims if quantity_of(c) not in derived]
    printed = {id(total.shown) for total in settled if not total.is_sum}
    return {id(claim) for claim in choose_each(candidates)} | printed
