"""A vendor's total that is shown instead of the sum of the parts says why the two differ."""

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
    printed,
)
from flopbook.checks.rules.total import TOLERANCE
from flopbook.data.accelerators import Entry
from flopbook.errors import FlopbookError
from flopbook.hardware.parts import Total, reason_of, settled_totals

NAME = "system"
ADVICE = Advice(
    "the reason beside the total that is shown",
    "say under 'note' why the vendor's total differs, or that the vendor does not say",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Totals of vendors that go before the sum without a word on the difference."""
    for entry in holdings.entries.values():
        yield from _of_entry(entry, holdings)


def _of_entry(entry: Entry, holdings: Holdings) -> Iterator[Finding]:
    try:
        settled = settled_totals(entry, holdings.load_entry, holdings.tiers)
    except FlopbookError:  # its parts are missing, broken or in a cycle, which another rule says
        return
    for total in settled:
        if not total.is_sum and not reason_of(total.shown) and not _is_reported(total):
            parts = f"{total.of_parts.formula} is {printed(total.of_parts)}"
            observed = f"{printed(total.shown)} without a reason, while {parts}"
            yield at_claim(NAME, entry, total.shown, observed, ADVICE)


def _is_reported(total: Total) -> bool:
    """True for a contradiction that nobody has looked at yet, which `total` reports."""
    sum_of_parts = amount(total.of_parts)
    return counted(total.shown) and not agree(amount(total.shown), sum_of_parts, TOLERANCE)
