"""The idle share of a pipeline by the number of micro-batches, for several schedules."""

from __future__ import annotations

from typing import Any

from flopbook.drawing.schedules import NAMES
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

MOST = 256  # micro-batches
LINES = (("1f1b", 1), ("interleaved", 4), ("zb-h1", 1), ("dualpipe", 1))


def figure(stages: int = 8) -> Figure:
    """Idle share against micro-batches on so many stages, passes of equal length."""
    counts = [stages * n for n in range(1, MOST // stages + 1)]
    lines = [
        (_name(schedule, virtual), _points(schedule, virtual, stages, counts))
        for schedule, virtual in LINES
    ]
    shares = [share for _, points in lines for _, share in points]
    chart = Chart(
        ChartAxis("micro-batches", stages, counts[-1], ""),
        ChartAxis("idle share of the step", min(shares) * 0.8, 0.6, ""),
        (84, 14, 500, 270),
    )
    facts = []
    for name, points in lines:
        (fewest, most_idle), (most, least_idle) = points[0], points[-1]
        facts.append(
            f"{name}: {percent(most_idle, 1)} at {fewest:g}, {percent(least_idle, 1)} at {most:g}"
        )
    title = f"Idle share of a pipeline of {stages} stages"
    (few, idle), (more, less) = (lines[0][1][number - 1] for number in (4, 8))
    return Figure(
        f"Twice the micro-batches nearly halve the bubble: {percent(idle)} of the step at "
        f"{few:g}, {percent(less)} at {more:g} with 1F1B",
        f"Both axes logarithmic. {'; '.join(facts)} micro-batches.",
        f"{title}, passes of equal length. Both axes are logarithmic.",
        312,
        (*chart.grid(), *chart.lines(lines)),
        plots=(chart,),
    )


def _name(schedule: str, virtual: int) -> str:
    if schedule == "1f1b":
        return "GPipe and 1F1B"  # their bubbles are alike
    name = NAMES[schedule].partition(",")[0]
    return f"{name}, {virtual} chunks" if virtual > 1 else name


def _points(schedule: str, virtual: int, stages: int, counts: list[int]) -> list[Point]:
    """The idle share by the number of micro-batches, where the schedule exists."""
    options: dict[str, Any] = {"schedule": schedule, "stages": stages}
    if virtual > 1:
        options["virtual"] = virtual
    points = []
    for count in counts:
        try:
            share = float(calculate("bubble", microbatches=count, **options)["fraction"])
        except FlopbookError:
            continue
        if share:
            points.append((float(count), share))
    return points
