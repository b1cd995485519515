"""A peak is not derived from the peak of another number format: a chip may lack the format, or run
it otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, at_claim
from flopbook.data.accelerators import dtype_names

NAME = "inferred"
SAID = ("a source that prints this format", "find one, or leave the peak out")


def check(data: Data) -> Iterator[Finding]:
    """Derived peaks whose derivation names another number format."""
    formats = re.compile(rf"\b({'|'.join(dtype_names())})\b", re.I)
    for entry in data.entries.values():
        for claim in entry.claims:
            if claim.field == "peak" and claim.basis == "derived":
                words = {
                    w.lower() for w in formats.findall(f"{claim.derived_from} {claim.formula}")
                } - {claim.dtype}
                if words:
                    found = f"a {claim.dtype} peak derived from {', '.join(sorted(words))}"
                    yield at_claim(NAME, entry, claim, found, SAID)
