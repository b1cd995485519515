"""How much of the mean of a few own runs calibration applies, by how much they scatter."""

from __future__ import annotations

from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

SOURCES = 0.15  # scatter between publications, as a logarithm
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
        name = f"runs within {percent(scatter)}"
        shapes.append(chart.line(points, number, name))
        shapes.append(chart.words((4.0, applied(4, scatter) - 0.07), name))
        facts.append(f"{name}: {percent(applied(3, scatter))} of the mean with three runs")
    half = next(runs for runs in range(1, 99) if applied(runs, SCATTERS[-1]) >= 0.5)
    return Figure(
        f"One run good to {percent(SCATTERS[0])} counts for {percent(applied(1, SCATTERS[0]))}; "
        f"of runs that scatter by {percent(SCATTERS[-1])} it takes {half} to count for half",
        f"Publications differ by {percent(SOURCES)}. {'; '.join(facts)}.",
        f"Publications scatter by {percent(SOURCES)} here. One run that is good to "
        f"{percent(SCATTERS[0])} moves "
        "every prediction nearly all the way to it. If your runs scatter three times as much as "
        f"publications do, three of them move it {percent(applied(3, SCATTERS[-1]))} of the way.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
