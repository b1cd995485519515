"""MFU of published training runs over the years, each point linked to its source."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

from flopbook.prediction.reached import COMPUTED, CONVERTED, Reached
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.figures.reached_points import MARKS, legend, mark_number, points
from scripts.website.pages.reached import shown_runs

# Points of one year stand side by side over this part of it, in the order of their sources.
_SPREAD = 0.8


def trained() -> list[Reached]:
    """Training runs whose MFU follows from their figures."""
    return [
        run
        for run in shown_runs()
        if run.row.kind == "training_throughput" and run.rate.basis in (COMPUTED, CONVERTED)
    ]


def medians(runs: Iterable[Reached]) -> list[tuple[str, int, float]]:
    """Name of each kind of format, its number of runs, and their median share."""
    by_mark: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        by_mark[mark_number(run)].append(run.rate.share or 0)
    return [
        (MARKS[number][0], len(shares), statistics.median(shares))
        for number, shares in sorted(by_mark.items())
    ]


def _placed(runs: Sequence[Reached]) -> list[tuple[float, Reached]]:
    """Runs with their place in time: those of a year side by side, by source."""
    by_year: dict[float, list[Reached]] = defaultdict(list)
    for run in runs:
        by_year[int(run.date)].append(run)
    placed = []
    for year, group in by_year.items():
        group.sort(key=lambda run: (run.row.publication, run.row.id))
        for number, run in enumerate(group):
            placed.append((year + 0.5 + _SPREAD * ((number + 0.5) / len(group) - 0.5), run))
    return placed


def figure() -> Figure:
    """A point for each run; a column of points is a source."""
    runs = trained()
    years = [int(run.date) for run in runs]
    first, last = min(years), max(years) + 1
    chart = Chart(
        ChartAxis("year of the measurement", first, last, unit="", log=False),
        ChartAxis("MFU, percent of the dense peak", 0, 100, unit="", log=False),
        (64, 14, 616, 330),
    )
    shapes = [*chart.grid(), *points(chart, _placed(runs))]
    shapes += legend(386, 76)
    by_format = medians(runs)
    said = ", ".join(f"{100 * share:.0f} % in {name}" for name, _, share in by_format)
    counts = ", ".join(f"{count} in {name}" for name, count, _ in by_format)
    return Figure(
        f"Training reaches a median MFU of {said}",
        f"{len(runs)} training runs from {first} to {last - 1} ({counts}). Medians: {said}. The "
        "middle half of all runs lies between "
        f"{' and '.join(f'{100 * n:.0f}' for n in quartiles(runs))} percent.",
        f"{len(runs)} published training runs by the year of their measurement; each point leads "
        "to its source. MFU counts weights that multiply and unmasked attention, over the dense "
        "peak of the format. Within a year, neighbours are of one source.",
        400,
        tuple(shapes),
        plots=(chart,),
        role="group",
    )


def quartiles(runs: Sequence[Reached]) -> tuple[float, float]:
    """The shares between which the middle half of some runs lies."""
    low, _, high = statistics.quantiles([run.rate.share or 0 for run in runs], n=4)
    return low, high
