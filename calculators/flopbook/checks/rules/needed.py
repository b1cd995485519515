"""Every chip has the values that the calculators need.

Or it says that they are not published, and what was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.data.accelerators import Entry

NAME = "needed"
# What the calculators take from a chip.
FIELDS = ("peak", "memory", "memory_bandwidth", "scaleup_bandwidth", "power")
ADVICE = Advice(
    "a value, or the words: not published",
    "add the claim with its source, or with what was looked at",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Chips that are silent about a needed value."""
    for entry in holdings.entries.values():
        if entry.computes:
            for words in _missing(entry):
                yield at_file(NAME, entry.file, f"no {words}", ADVICE)


def _missing(entry: Entry) -> Iterator[str]:
    # A peak of the vector units alone says nothing about matrix multiplication.
    claims = (c for c in entry.claims if c.field != "peak" or c.engine == "tensor")
    fields = {claim.field for claim in claims}
    yield from (field for field in FIELDS if field not in fields)
    if fields.isdisjoint(("announced", "launched")):
        yield "announced or launched"
