"""A 2:4 sparse peak is twice the dense one of its source."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, agree, at_claim, counted
from flopbook.data.claims import Claim

NAME = "sparsity"
TOLERANCE = 0.02
SAID = ("twice the dense peak", "mend one of them, or say why under 'exceptions'")


def check(data: Data) -> Iterator[Finding]:
    """Sparse peaks that are not twice the dense ones."""
    for entry in data.entries.values():
        peaks = [c for c in entry.claims if c.field == "peak" and counted(c)]
        for sparse in (c for c in peaks if c.sparsity == "2:4"):
            dense = [
                c for c in peaks if c.sparsity == "dense" and _quantity(c) == _quantity(sparse)
            ]
            if dense and not any(
                agree(sparse.si_value or 0, 2 * (c.si_value or 1), TOLERANCE) for c in dense
            ):
                found = f"2:4 {sparse.dtype} {sparse.value} {sparse.unit}, dense {dense[0].value} {dense[0].unit}"
                yield at_claim(NAME, entry, sparse, found, SAID)


def _quantity(claim: Claim) -> tuple[str, ...]:
    return (claim.dtype, claim.engine, claim.per, claim.source, claim.accumulate)
