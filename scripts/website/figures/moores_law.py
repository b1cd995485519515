"""Transistors of accelerators by their year, with the doubling time that fits best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from flopbook.data.library import entry_ids, load_entry
from flopbook.errors import FlopbookError
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart, named
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.pages.growth import fitted
from scripts.website.pages.quantities import cells, shown_claims, value_of

_NAMED = {
    "nvidia/p100-sxm2": "P100",
    "nvidia/a100-sxm-40gb": "A100",
    "nvidia/h100-sxm": "H100",
    "nvidia/b200": "B200",
    "cerebras/wse-3": "WSE-3",
}
WAFERS = "cerebras"  # a wafer is no chip cut from one; it is drawn and left out of the fit


class ChipPoint(NamedTuple):
    """A chip: its id, name, year with a fraction, and transistors."""

    id: str
    name: str
    year: float
    transistors: float


def points() -> list[ChipPoint]:
    """Every chip with a number of transistors and a date, oldest first."""
    dated = []
    for name in entry_ids():
        entry = load_entry(name)
        if entry.kind != "package":
            continue
        values = cells(entry, shown_claims(entry))
        year, count = value_of(values, "date"), value_of(values, "transistors")
        if year is not None and count:
            dated.append(ChipPoint(name, entry.name, year, count))
    return sorted(dated, key=lambda point: (point.year, point.id))


def doubling(fitted_points: Sequence[ChipPoint]) -> tuple[float, float]:
    """Years for a doubling and the count in 2000, of the best fit.

    Raises FlopbookError for too few points.
    """
    fit = fitted([(point.year, point.transistors) for point in fitted_points])
    if fit is None:
        raise FlopbookError("too few dated chips with a number of transistors for a doubling time")
    return fit.doubling, fit.start


def _kind(chip_id: str) -> str:
    return "wafers" if chip_id.startswith(WAFERS) else "chips"


def _names(chart: Chart, shown: Iterable[ChipPoint]) -> Iterator[str]:
    """Names beside points that readers know, off the other points and off the lines."""
    places = {point.id: (point.year, point.transistors) for point in shown}
    room = chart.room(map(chart.place, places.values()))
    labels = [(places[chip_id], name) for chip_id, name in _NAMED.items()]
    chart.labels += labels
    yield from named(room, ((chart.place(point), name) for point, name in labels)).values()


def figure() -> Figure:
    """A point for each chip, the fitted line, and a doubling in two years from the same start."""
    shown = points()
    period, start = doubling([point for point in shown if not point.id.startswith(WAFERS)])
    first, last = math.floor(shown[0].year), math.ceil(shown[-1].year)
    chart = Chart(
        ChartAxis("year of the announcement or launch", first, last, "", log=False),
        ChartAxis("transistors", 1e9, 1e13, ""),
        (84, 14, 540, 290),
    )
    low, high = (start * 2 ** ((year - 2000) / period) for year in (first, last))
    moore = low * 2 ** ((last - first) / 2)
    lines = (
        (f"fit, {period:.1f} years", [(first, low), (last, high)]),
        ("2 years", [(first, low), (last, moore)]),
    )
    shapes = chart.grid()
    for point in shown:
        tip = f"{point.name}: {format_quantity(point.transistors, '1')} transistors"
        colour = "fb-c1" if point.id.startswith(WAFERS) else "fb-c0"
        shapes.append(chart.dot(point.year, point.transistors, tip, colour, name=_kind(point.id)))
    shapes += chart.lines(lines)
    shapes += _names(chart, shown)
    least = min(shown, key=lambda point: point.transistors)
    most = max(shown, key=lambda point: point.transistors)
    return Figure(
        f"The transistors of accelerators double every {period:.1f} years",
        f"{len(shown)} chips on a logarithmic axis, from {least.name} with "
        f"{format_quantity(least.transistors, '1')} to {most.name} with "
        f"{format_quantity(most.transistors, '1')}. The fitted line doubles in {period:.1f} years.",
        f"Transistors of the {len(shown)} chips of our data that have a count and a date. Solid: "
        f"the best fit, one doubling in {period:.1f} years. Dashed: Moore's two years. Wafers (the "
        "other colour) are left out of the fit. Large packages hold several dies.",
        334,
        tuple(shapes),
        plots=(chart,),
    )
