"""A peak is not derived from the peak of another number format.

A chip may lack the format, or run it at another rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_claim
from flopbook.data.claims import Claim

NAME = "inferred"
ADVICE = Advice("a source that prints this format", "find one, or leave the peak out")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Derived peaks whose derivation names another number format."""
    if not holdings.dtypes:
        return
    dtype = re.compile(rf"\b({'|'.join(holdings.dtypes)})\b", re.IGNORECASE)
    for entry in holdings.entries.values():
        for claim in entry.claims:
            if claim.field == "peak" and claim.basis == "derived":
                foreign = _dtypes_named(claim, dtype) - {claim.dtype}
                if foreign:
                    observed = f"a {claim.dtype} peak derived from {', '.join(sorted(foreign))}"
                    yield at_claim(NAME, entry, claim, observed, ADVICE)


def _dtypes_named(claim: Claim, dtype: re.Pattern[str]) -> set[str]:
    words = dtype.findall(f"{claim.derived_from} {claim.formula}")
    return {word.lower() for word in words}
