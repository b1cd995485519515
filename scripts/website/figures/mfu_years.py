"""MFU of published training runs over the years, each point linked to its source."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

from flopbook.prediction.reached import COMPUTED, CONVERTED, Reached
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart, named
from scripts.website.figures.drawing import Figure, words
from scripts.website.figures.plotted import ChartAxis
from scripts.website.figures.reached_points import MARKS, legend, mark_number, points
from scripts.website.pages.reached import shown_runs

# Points of one year stand side by side over this part of it, in the order of their sources. What
# is left at its begin has the numbers of the medians.
_FROM, _TO = 0.22, 0.96
_FEWEST = 10  # runs of one format in a year that have a median drawn
_CLEAR = 5.0  # percent between two numbers of a year that do not touch
# Runs that readers know, with the words for each; the first of the list get room first.
_NAMED = {
    "narayanan21-t1-1008.0B": "1T on 3,072 A100",
    "bloom-176b-tr11": "BLOOM",
    "korthikanti22-530B-2240gpu-selective": "530B on 2,240 A100",
    "gopher-280b-mfu": "Gopher",
    "gpt3-175b-v100": "GPT-3",
    "llama-65b-380tps": "LLaMA",
    "megascale-175b-megascale-12288gpu": "MegaScale, 12,288 GPUs",
    "maxtext-v5e-64B-32slice": "8,192 TPU v5e",
}


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


def yearly(runs: Iterable[Reached]) -> list[tuple[int, int, float]]:
    """Year, number of the format's mark and median share, where a year has enough runs of one."""
    groups: dict[tuple[int, int], list[float]] = defaultdict(list)
    for run in runs:
        groups[int(run.date), mark_number(run)].append(run.rate.share or 0)
    return [
        (year, number, statistics.median(shares))
        for (year, number), shares in sorted(groups.items())
        if len(shares) >= _FEWEST
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
            place = _FROM + (_TO - _FROM) * (number + 0.5) / len(group)
            placed.append((year + place, run))
    return placed


def _levels(chart: Chart, runs: Iterable[Reached]) -> list[str]:
    """The median of each format in each year, a line over it, and its number where it fits."""
    shapes, last = [], (0, 0.0)
    for year, number, share in sorted(yearly(runs), key=lambda row: (row[0], -row[2])):
        height = 100 * share
        ends = [(year + 0.02, height), (year + 0.98, height)]
        shapes.append(chart.line(ends, number, f"median, {MARKS[number][0]}"))
        if last[0] == year and last[1] - height < _CLEAR:
            continue
        last = year, height
        x, y = chart.place(ends[0])
        shapes.append(words(x, y - 4, f"{height:.0f}", "start", "fb-strong fb-halo"))
    return shapes


def _names(chart: Chart, placed: Sequence[tuple[float, Reached]]) -> list[str]:
    """Words beside the runs that readers know, where there is room."""
    spots = {run.row.id: (x, 100 * (run.rate.share or 0)) for x, run in placed}
    room = chart.room(chart.place(spot) for spot in spots.values())
    labels = [(spots[row], name) for row, name in _NAMED.items() if row in spots]
    chart.labels += labels
    return list(named(room, ((chart.place(at), name) for at, name in labels)).values())


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
    placed = _placed(runs)
    shapes = [*chart.grid(), *points(chart, placed), *_levels(chart, runs), *_names(chart, placed)]
    shapes += legend(386, 76)
    by_format = medians(runs)
    said = ", ".join(f"{percent(share)} in {name}" for name, _, share in by_format)
    counts = ", ".join(f"{count} in {name}" for name, count, _ in by_format)
    return Figure(
        f"Training reaches a median MFU of {said}",
        f"{len(runs)} training runs from {first} to {last - 1} ({counts}). Medians: {said}. The "
        "middle half of all runs lies between "
        f"{' and '.join(f'{100 * n:.0f}' for n in quartiles(runs))} percent.",
        f"{len(runs)} published training runs by the year of their measurement; each point leads "
        "to its source, and a line is the median of a format in a year. MFU counts weights that "
        "multiply and unmasked attention, over the dense peak of the format. Within a year, "
        "neighbours are of one source.",
        400,
        tuple(shapes),
        plots=(chart,),
        role="group",
    )


def quartiles(runs: Sequence[Reached]) -> tuple[float, float]:
    """The shares between which the middle half of some runs lies."""
    low, _, high = statistics.quantiles([run.rate.share or 0 for run in runs], n=4)
    return low, high
