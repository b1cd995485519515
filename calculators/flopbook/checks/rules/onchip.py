"""Memories on a chip are built of arrays of 2^n words: their KB and MB mostly count 1,024.

Sources print KB and MB all the same. A size in a decimal unit is off by 2 % to 5 % then, so
the claim says why the unit is decimal, or that its source does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_claim, printed
from flopbook.data.claims import Claim

NAME = "on-chip"
FIELDS = ("sram", "cache")
DECIMAL_UNITS = ("kB", "MB", "GB")
# Words of a claim that settle what its unit counts.
_SETTLED = re.compile(r"\b(decimal|binary|1,?024|1,?000|million bytes)\b|\d_000", re.IGNORECASE)
# A note that says outright that the figure is binary; "1,000 or 1,024" leaves it open.
_COUNTED_BINARY = re.compile(r"\bcounts 1,?024\b", re.IGNORECASE)
ADVICE = Advice(
    "KiB or MiB where the hardware is binary",
    "mend the unit and note what the source prints, or note why it is decimal or not known",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Sizes of on-chip memories in decimal units of which nobody has said that they are."""
    for entry in holdings.entries.values():
        for claim in entry.claims:
            if claim.field in FIELDS and _is_open(claim):
                observed = f"{claim.name} of {printed(claim)}"
                yield at_claim(NAME, entry, claim, observed, ADVICE)


def _is_open(claim: Claim) -> bool:
    if claim.si_value is None or claim.known_error or claim.unit not in DECIMAL_UNITS:
        return False
    if _COUNTED_BINARY.search(claim.note):
        return True
    return not _SETTLED.search(f"{claim.note} {claim.quote} {claim.locator}")
