"""Measured memory bandwidth as a share of the printed one by chip, linked to its sources."""

from __future__ import annotations

import statistics

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure
from scripts.website.figures.matmul_share import lines
from scripts.website.figures.reached_rows import row_chart, run_readings

# One source alone says as much about its program as about the chip.
SOURCES = 2


def figure() -> Figure:
    """A line of points for each chip, with a bar at the highest rate."""
    rows = lines("hbm_bandwidth", SOURCES)
    middle = statistics.median(line.middle for line in rows)
    medians = ", ".join(f"{line.name} {percent(line.middle)}" for line in rows)
    shapes, height = row_chart(rows, "percent of the printed bandwidth", count=0)
    return Figure(
        f"The best kernel reads {percent(middle)} of the printed bandwidth on the chip in the "
        "middle",
        f"Measured memory bandwidth of {len(rows)} chips as a share of the printed one, the best "
        f"of each: {medians}.",
        f"Measured memory bandwidth on {len(rows)} chips that {SOURCES} or more sources have "
        "measured; a bar marks the highest rate. Reads come closest, copies reach less, "
        "applications least.",
        height,
        shapes,
        role="group",
        readings=run_readings(rows),
    )
