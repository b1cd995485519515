"""MFU of published training runs by chip, each point linked to its source."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import NamedTuple

from flopbook.prediction.reached import Reached
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure
from scripts.website.figures.mfu_years import trained
from scripts.website.figures.reached_rows import LineOfRuns, row_chart, run_readings
from scripts.website.pages.reached import short_name

# A median of fewer runs says little of a chip.
LEAST = 5


class ChipRuns(NamedTuple):
    """A chip with its runs and the median of their shares."""

    chip: str
    runs: list[Reached]
    median: float


def by_chip(runs: list[Reached], least: int = LEAST) -> list[ChipRuns]:
    """Chips with enough runs, the highest median first."""
    runs_of: dict[str, list[Reached]] = defaultdict(list)
    for run in runs:
        runs_of[run.chip].append(run)
    rows = [
        ChipRuns(chip, group, statistics.median(run.rate.share or 0 for run in group))
        for chip, group in runs_of.items()
        if len(group) >= least
    ]
    return sorted(rows, key=lambda row: (-row.median, row.chip))


def figure() -> Figure:
    """A line of points for each chip, with a bar at the median."""
    rows = by_chip(trained())
    best, worst = rows[0], rows[-1]
    names = {row.chip: short_name(row.chip) for row in rows}
    medians = ", ".join(f"{names[row.chip]} {percent(row.median)}" for row in rows)
    lines = [LineOfRuns(names[row.chip], row.runs, row.median) for row in rows]
    shapes, height = row_chart(lines, "MFU, percent of the dense peak")
    return Figure(
        f"The median MFU goes from {percent(worst.median)} on {names[worst.chip]} to "
        f"{percent(best.median)} on {names[best.chip]}",
        f"Training runs of {len(rows)} chips. Medians: {medians}.",
        f"Published training runs on chips with {LEAST} or more of them; a bar marks the median, "
        "and each point leads to its source. Runs differ in model, size and year, so a chip's "
        "place also shows who measured what on it.",
        height,
        shapes,
        role="group",
        readings=run_readings(lines),
    )
