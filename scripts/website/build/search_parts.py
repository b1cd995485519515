"""Under which numbers and names chips are ordered: part numbers, and offers of clouds."""

from __future__ import annotations

import re
from collections import defaultdict

from flopbook.data.library import load_entry, per_library
from flopbook.data.prices import prices

# Such as HL-338 and RBLN-CA25; number formats have one digit, and speeds begin with digits.
_PART = re.compile(r"(?<![\w-])[A-Z]{2,}-[A-Z]{0,2}[0-9]{2,}[A-Z]?(?![\w-])")
# Such as trn2.48xlarge: one word; others say the chip's name and "VM".
_OFFER = re.compile(r"(?=[^ ]*[0-9])[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+")


def ordered_as(entry_id: str) -> list[str]:
    """Part numbers that an entry names, and what clouds call machines with its chips."""
    entry = load_entry(entry_id)
    words = [entry.summary, entry.notes]
    words += (text for claim in entry.claims for text in (claim.quote, claim.locator, claim.note))
    parts = {part for text in words for part in _PART.findall(text)}
    return sorted(parts) + sorted(_offers().get(entry_id, ()))


@per_library
def priced() -> set[str]:
    """The chips that a cloud on record rents out."""
    return {price.chip for price in prices()}


@per_library
def _offers() -> dict[str, set[str]]:
    offers: dict[str, set[str]] = defaultdict(set)
    for price in prices():
        if _OFFER.fullmatch(price.offer):
            offers[price.chip].add(price.offer)
    return dict(offers)
