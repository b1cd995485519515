"""What a larger batch saves in steps and costs in tokens, around the critical batch."""

from __future__ import annotations

from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

_BATCHES = tuple(2.0 ** (power / 4) for power in range(-16, 17))


def steps(batch: float) -> float:
    """Steps over the least number of steps, with the batch in critical batches."""
    return 1 + 1 / batch


def tokens(batch: float) -> float:
    """Tokens over the fewest tokens, with the batch in critical batches."""
    return 1 + batch


def figure() -> Figure:
    """Two curves that cross at the critical batch."""
    chart = Chart(
        ChartAxis("batch over critical batch", _BATCHES[0], _BATCHES[-1]),
        ChartAxis("times the least", 1, 20),
        (72, 14, 520, 270),
    )
    shapes = chart.grid()
    shapes += chart.lines(
        [
            ("steps", [(batch, steps(batch)) for batch in _BATCHES]),
            ("tokens", [(batch, tokens(batch)) for batch in _BATCHES]),
        ]
    )
    shapes.append(chart.dot(1, 2, "critical batch: twice the least steps, twice the fewest tokens"))
    return Figure(
        "At the critical batch a run takes twice the least steps and twice the fewest tokens",
        "Both axes logarithmic, in units of the critical batch. At a quarter of it the run takes "
        f"{steps(0.25):.3g} times the least steps and {tokens(0.25):.3g} times the fewest tokens; "
        f"at four times it is {steps(4):.3g} and {tokens(4):.3g}.",
        "Far to the left, twice the batch nearly halves the steps and costs hardly a token. Far to "
        "the right it saves hardly a step and nearly doubles the tokens.",
        314,
        tuple(shapes),
        plots=(chart,),
    )
