"""Measured matrix products as a share of the printed peak by chip, linked to their sources."""

from __future__ import annotations

from flopbook.prediction.reached import Reached
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure
from scripts.website.figures.reached_rows import LineOfRuns, row_chart, run_readings
from scripts.website.pages.reached import short_name, shown_runs


def lines(kind: str = "matmul_peak", sources: int = 1) -> list[LineOfRuns]:
    """Chips with rates of a kind, the highest share first, at which the bar stands.

    A rate that is doubted sets no bar, and a chip with no other has no line; neither has one that
    fewer than so many sources have measured.
    """
    runs_of: dict[str, list[Reached]] = {}
    for run in shown_runs():
        if run.row.kind == kind and run.rate.share is not None:
            runs_of.setdefault(run.chip, []).append(run)
    rows = [
        LineOfRuns(short_name(chip), runs, best)
        for chip, runs in runs_of.items()
        if len({run.row.publication for run in runs}) >= sources
        and (best := max((run.rate.share or 0 for run in runs if not run.row.flags), default=0))
    ]
    return sorted(rows, key=lambda line: (-line.middle, line.name))


def figure() -> Figure:
    """A line of points for each chip, with a bar at its best product."""
    rows = lines()
    best, worst = rows[0], rows[-1]
    middle = rows[len(rows) // 2]
    medians = ", ".join(f"{line.name} {percent(line.middle)}" for line in rows)
    shapes, height = row_chart(rows, "percent of the printed dense peak of the format")
    return Figure(
        f"The best matrix product reaches {percent(middle.middle)} of the printed peak on the "
        f"chip in the middle, {percent(worst.middle)} on the last",
        f"Measured matrix products of {len(rows)} chips as a share of the printed dense peak, the "
        f"best of each: {medians}.",
        f"Measured matrix products on {len(rows)} chips, from {best.name} down; a bar marks the "
        "best of each chip, and each point leads to its source with shape and software.",
        height,
        shapes,
        role="group",
        readings=run_readings(rows),
    )
