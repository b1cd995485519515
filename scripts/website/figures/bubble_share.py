"""The idle share of a pipeline by the number of micro-batches, for several schedules."""

from __future__ import annotations

from flopbook.drawing.schedules import NAMES
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.drawing import Figure

MOST = 256  # micro-batches
LINES = (("1f1b", 1), ("interleaved", 4), ("zb-h1", 1), ("dualpipe", 1))


def figure(stages: int = 8) -> Figure:
    """Idle share against micro-batches on so many stages, passes of equal length."""
    counts = [stages * n for n in range(1, MOST // stages + 1)]
    lines = []
    for schedule, virtual in LINES:
        points = [(count, _share(schedule, virtual, stages, count)) for count in counts]
        lines.append((schedule, virtual, [(count, share) for count, share in points if share]))
    shares = [share for _, _, points in lines for _, share in points]
    chart = Chart(
        Axis("micro-batches", stages, counts[-1], ""),
        Axis("idle share of the step", min(shares) * 0.8, 0.6, ""),
        (84, 14, 500, 270),
    )
    shapes, facts, named = chart.grid(), [], []
    for number, (schedule, virtual, points) in enumerate(lines):
        name = NAMES[schedule].partition(",")[0] + (f", {virtual} chunks" if virtual > 1 else "")
        name = "GPipe and 1F1B" if schedule == "1f1b" else name
        shapes.append(chart.line(points, number))
        named.append((name, points))
        facts.append(
            f"{name}: {points[0][1]:.1%} at {points[0][0]}, {points[-1][1]:.1%} at {points[-1][0]}"
        )
    shapes += chart.names(named)
    title = f"Idle share of a pipeline of {stages} stages"
    return Figure(
        title,
        f"Both axes logarithmic. {'; '.join(facts)} micro-batches.",
        f"{title}, passes of equal length. Each line falls as one over the number of "
        "micro-batches.",
        312,
        tuple(shapes),
    )


def _share(schedule: str, virtual: int, stages: int, count: int) -> float:
    """The idle share; 0 where the schedule does not exist."""
    chunks = {"virtual": virtual} if virtual > 1 else {}
    try:
        return float(
            calculate("bubble", schedule=schedule, stages=stages, microbatches=count, **chunks)[
                "fraction"
            ]
        )
    except FlopbookError:
        return 0.0
