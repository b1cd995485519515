"""The bubble against the number of micro-batches for pipelines of several lengths."""

from __future__ import annotations

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart, spaced
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

STAGES = (4, 8, 16, 32)
ENOUGH, MOST = (
    4,
    512,
)  # micro-batches for each stage, as GPipe's authors advise; the end of the axis
POINTS = 50  # of a line


def share(stages: int, count: int) -> float:
    """The idle share of GPipe and 1F1B."""
    return float(
        calculate("bubble", schedule="gpipe", stages=stages, microbatches=count)["fraction"]
    )


def figure() -> Figure:
    """A line for each number of stages and a dot at four micro-batches for each of them."""
    counts = sorted({round(count) for count in spaced(1, MOST, POINTS)})
    lines = [(f"{k} stages", [(m, share(k, m)) for m in counts]) for k in STAGES]
    chart = Chart(
        ChartAxis("micro-batches", 1, MOST, ""),
        ChartAxis("idle share of the step", 0.005, 1, ""),
        (84, 14, 540, 270),
    )
    shapes = [*chart.grid(), *chart.lines(lines)]
    marks = [(ENOUGH * k, share(k, ENOUGH * k)) for k in STAGES]
    shapes += [
        chart.dot(m, f, f"{k} stages, {m} micro-batches: {percent(f, 1)}", f"fb-c{n}")
        for n, (k, (m, f)) in enumerate(zip(STAGES, marks, strict=True))
    ]
    shapes.append(chart.words(marks[-1], "M = 4K", "start", (4, -12)))
    facts = "; ".join(
        f"{k} stages {percent(f, 1)} at {m}" for k, (m, f) in zip(STAGES, marks, strict=True)
    )
    return Figure(
        "Four micro-batches for each stage keep the bubble below a fifth",
        "Both axes logarithmic. Lines fall from nearly 1 towards (K - 1) / M. With four "
        f"micro-batches for each stage: {facts}.",
        "GPipe and 1F1B, passes of equal length in all stages. Dots: four micro-batches per "
        "stage, where the loss stays below a fifth for any number of stages.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
