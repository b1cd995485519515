"""How much of a batch of rollouts still decodes while the longest ones finish."""

from __future__ import annotations

import math

from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

_SPREADS = (0.5, 1.0, 1.5)  # standard deviations of the logarithm of an answer's length
_END, _POINTS = 8.0, 80  # in mean lengths
_LEAST = 1e-3  # the smallest share that is drawn


def alive(time: float, spread: float) -> float:
    """The share of answers longer than `time` mean lengths, for log-normal lengths."""
    if time <= 0:
        return 1.0
    # A log-normal of mean 1 has its median at exp(-spread^2 / 2).
    distance = (math.log(time) + spread**2 / 2) / spread
    return 0.5 * math.erfc(distance / math.sqrt(2))


def figure() -> Figure:
    """One line for each spread: the share of sequences that decode, over time."""
    chart = Chart(
        ChartAxis("decoding steps, in mean lengths of an answer", 0, _END, "", log=False),
        ChartAxis("share of the batch that still decodes", _LEAST, 1, "1"),
        (74, 14, 540, 290),
    )
    shapes, facts = chart.grid(), []
    for number, spread in enumerate(_SPREADS):
        times = [_END * step / _POINTS for step in range(_POINTS + 1)]
        points = [(time, alive(time, spread)) for time in times if alive(time, spread) >= _LEAST]
        shapes += [chart.line(points, number), chart.words(points[-1], f"spread {spread:g}")]
        facts.append(
            f"spread {spread:g}: {percent(alive(3, spread), 1)} decode after three mean lengths"
        )
    return Figure(
        f"At three mean lengths {percent(alive(3, _SPREADS[0]), 1)} to "
        f"{percent(alive(3, _SPREADS[-1]))} of the answers keep the GPUs waiting",
        f"Answers with log-normal lengths of equal mean. {'; '.join(facts)}.",
        "A logarithmic share over time, so that the tail shows. Most answers end within two mean "
        "lengths; the GPUs go on for the few that do not. The spread is the standard deviation of "
        "the logarithm of the length: the wider, the longer the tail that everyone waits for.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
