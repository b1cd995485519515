"""The tables of measured against computed, for a page of prose."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from flopbook.quantities.units import percent
from scripts.website.markup import Html, table
from scripts.website.measured.comparisons import ComparedRun, compared

HEAD = ("Runs", "#n", "#Median error", "#Median bias", "#Worst", "Which one")


def measured_table(kind: str) -> Html:
    """A row for each group of runs of a kind, and one for all: median and worst error."""
    lines = compared(kind).lines
    groups = list(dict.fromkeys(line.group for line in lines))
    rows = [_row(name, [line for line in lines if line.group == name]) for name in groups]
    if len(groups) > 1:
        rows.append(_row("all", lines))
    return table(HEAD, rows, caption="Measured runs against the calculator", stacked=True)


def refused_rows(kind: str) -> int:
    """How many complete rows of a kind the calculator refuses or cannot be asked."""
    return compared(kind).refused


def _row(name: str, lines: Sequence[ComparedRun]) -> tuple[str, ...]:
    worst = max(lines, key=lambda line: line.factor)
    typical = statistics.median(abs(line.error) for line in lines)
    bias = statistics.median(line.error for line in lines)
    factor = worst.computed / worst.measured
    return (
        name,
        str(len(lines)),
        percent(typical),
        percent(bias, signed=True),
        f"× {factor:.2g}",
        worst.id,
    )
