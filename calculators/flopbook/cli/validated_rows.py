"""Rows of a validation as text: each with its error, and why others were refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flopbook.evaluation.answers import columns, counted
from flopbook.quantities.units import percent

if TYPE_CHECKING:
    from flopbook.prediction.validation import Validation

MOST_REASONS = 8
LARGEST_IN_FULL = 1000.0  # an error beyond this share is a slip of the units, whatever its digits


def share_cell(share: float | None) -> str:
    """A share as a table shows it; empty where there is none."""
    if share is None:
        return ""
    return percent(share, 1) if abs(share) < LARGEST_IN_FULL else f"{100 * share:.2g} %"


def _error(share: float) -> str:
    return percent(share, signed=True) if share < LARGEST_IN_FULL else share_cell(share)


def lines_of(validation: Validation) -> str:
    """Every row that was predicted, the largest error first."""
    ordered = sorted(validation.lines, key=lambda line: -abs(line.error))
    rows = [
        (
            line.case.row.id,
            line.quantity,
            f"{line.measured:.4g}",
            f"{line.predicted:.4g}",
            line.unit,
            _error(line.error),
            "" if line.is_covered else "outside the band",
        )
        for line in ordered
    ]
    return columns(rows, head=("row", "quantity", "measured", "predicted", "", "error", ""))


def refusals_of(validation: Validation) -> str:
    """Why rows could not be predicted, the most frequent reason first."""
    counts: dict[str, int] = {}
    for _, _, reason in validation.refused:
        counts[reason] = counts.get(reason, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    lines = [f"refused: {counted(count, 'row')}: {reason}" for reason, count in ordered]
    return "\n".join(lines[:MOST_REASONS])
