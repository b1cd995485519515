"""How much of the mean of a few own runs calibration applies, by how much they scatter."""

from __future__ import annotations

from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

SOURCES = 0.15  # scatter between sources, as a logarithm
SCATTERS = (0.03, 0.15, 0.45)  # of one's own runs
MOST = 12


def applied(runs: float, scatter: float, sources: float = SOURCES) -> float:
    """The share of their mean that is applied, as a logarithm."""
    return sources**2 / (sources**2 + scatter**2 / runs)


def figure() -> Figure:
    """One line for each scatter, over the number of runs."""
    chart = Chart(
        ChartAxis("runs of your own", 1, MOST, "", log=False),
        ChartAxis("share of their mean that is applied", 0, 1, "", log=False),
        (64, 14, 560, 290),
    )
    shapes, facts = chart.grid(), []
    for number, scatter in enumerate(SCATTERS):
        points = [(float(runs), applied(runs, scatter)) for runs in range(1, MOST + 1)]
        name = f"runs within {scatter:.0%}"
        shapes.append(chart.line(points, number, name))
        shapes.append(chart.words((4.0, applied(4, scatter) - 0.07), name))
        facts.append(f"{name}: {applied(3, scatter):.0%} of the mean with three runs")
    half = next(runs for runs in range(1, 99) if applied(runs, SCATTERS[-1]) >= 0.5)
    return Figure(
        f"One run good to {SCATTERS[0]:.0%} counts for {applied(1, SCATTERS[0]):.0%}; of runs that "
        f"scatter by {SCATTERS[-1]:.0%} it takes {half} to count for half",
        f"Sources differ by {SOURCES:.0%}. {'; '.join(facts)}.",
        f"Sources scatter by {SOURCES:.0%} here. One run that is good to {SCATTERS[0]:.0%} moves "
        "every prediction nearly all the way to it. If your runs scatter three times as much as "
        f"sources do, three of them move it {applied(3, SCATTERS[-1]):.0%} of the way.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
