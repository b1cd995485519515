"""A 2:4 sparse peak is twice the dense one of its source; unsaid sparsity is explained."""

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

NAME = "sparsity"
TOLERANCE = 0.02  # each of both is rounded
ADVICE = Advice("twice the dense peak", "mend one of them, or say why under 'exceptions'")
UNSAID = Advice(
    "a note", "twice the dense rate is what a sparse one is: say in its note which it is"
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Sparse peaks that are not twice the dense ones, and unexplained ones that are."""
    for entry in holdings.entries.values():
        yield from _of_entry(entry)
        yield from _unsaid(entry)


def _of_entry(entry: Entry) -> Iterator[Finding]:
    peaks = [claim for claim in entry.claims if claim.field == "peak" and counted(claim)]
    for sparse in peaks:
        if sparse.sparsity != "2:4":
            continue
        dense = [p for p in peaks if p.sparsity == "dense" and _quantity(p) == _quantity(sparse)]
        doubled = [2 * amount(peak) for peak in dense]
        if dense and not any(agree(amount(sparse), double, TOLERANCE) for double in doubled):
            observed = (
                f"2:4 {sparse.dtype} {sparse.value} {sparse.unit},"
                f" dense {dense[0].value} {dense[0].unit}"
            )
            yield at_claim(NAME, entry, sparse, observed, ADVICE)


def _unsaid(entry: Entry) -> Iterator[Finding]:
    """Peaks without a word on sparsity that are twice a dense one, with no word of ours either."""
    peaks = [claim for claim in entry.claims if claim.field == "peak" and counted(claim)]
    for unstated in peaks:
        if unstated.sparsity != "unstated" or unstated.note or unstated.conflicts_with:
            continue
        for dense in peaks:
            if (
                dense.sparsity == "dense"
                and not dense.conflicts_with
                and _kind(dense) == _kind(unstated)
                and agree(amount(unstated), 2 * amount(dense), TOLERANCE)
            ):
                observed = (
                    f"{unstated.dtype} {unstated.value} {unstated.unit} of unstated sparsity,"
                    f" dense {dense.value} {dense.unit}"
                )
                yield at_claim(NAME, entry, unstated, observed, UNSAID)
                break


def _kind(claim: Claim) -> tuple[str, ...]:
    """What peaks of two sources share when they are about the same operations."""
    return (claim.dtype, claim.engine, claim.per, claim.accumulate)


def _quantity(claim: Claim) -> tuple[str, ...]:
    """What a sparse and a dense peak share when one is about the other."""
    return (claim.dtype, claim.engine, claim.per, claim.source, claim.accumulate)
