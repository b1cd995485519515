"""A sum of many small numbers in narrow formats: first it errs, then it stops."""

from __future__ import annotations

import math

from flopbook.quantities.number_formats import Format, number_format
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

TERM, COUNT = 0.1, 10_000
SUMS = ("fp32", "fp16", "bf16")


def nearest(value: float, kind: Format) -> float:
    """The number of a floating-point format next to a positive one, the even one of two."""
    if value == 0:
        return 0.0
    step = 2.0 ** (max(math.frexp(value)[1] - 1, 1 - kind.bias) - kind.fraction)
    return round(value / step) * step


def sums(kind: Format, term: float = TERM, count: int = COUNT) -> list[float]:
    """What stands after each addition, rounded each time; the term is rounded as well."""
    total, narrow, found = 0.0, nearest(term, kind), []
    for _ in range(count):
        total = nearest(total + narrow, kind)
        found.append(total)
    return found


def figure() -> Figure:
    """A line for each format over the numbers added."""
    shown = sorted({round(10 ** (power / 12)) for power in range(4 * 12 + 1)})
    chart = Chart(
        ChartAxis(f"times that {TERM} was added", 1, COUNT),
        ChartAxis("sum", TERM * 0.8, 3 * TERM * COUNT),
        (84, 14, 560, 270),
    )
    lines: list[tuple[str, list[Point]]] = []
    for name in SUMS:
        found = sums(number_format(name))
        lines.append((name, [(float(count), found[count - 1]) for count in shown]))
    shapes = [*chart.grid(), *chart.lines(lines)]
    ends = {name: points[-1][1] for name, points in lines}
    told = ", ".join(f"{end:.4g} in {name}" for name, end in ends.items())
    return Figure(
        f"Added {COUNT:,} times, {TERM} makes {told}",
        f"Both axes logarithmic. At the end the sum is {told}.",
        "Each addition is rounded to the nearest number of the format. A line turns level where "
        f"neighbouring numbers are more than {2 * TERM:g} apart, so that the sum rounds back to "
        "what it was. Just before that it is too large, since each step is rounded up.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
