"""Points of published runs in a picture: each leads to its source and says what it is."""

from __future__ import annotations

from collections.abc import Iterable

from flopbook.data.library import reference
from flopbook.prediction.reached import Reached
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import linked, tooltip, words
from scripts.website.figures.plotted import Point
from scripts.website.pages.reached import short_name, what
from scripts.website.pages.trends import SHAPES

# Formats with marks of their own; every other one counts as 16 bits.
MARKS = (("16 bits", ()), ("FP8", ("fp8", "int8")), ("FP4", ("fp4",)))

HOLLOW = "incomplete or doubted"


def mark_number(run: Reached) -> int:
    """The number of the mark of a run's format."""
    for number, (_, formats) in enumerate(MARKS):
        if run.format in formats:
            return number
    return 0


def points(chart: Chart, placed: Iterable[tuple[float, Reached]]) -> list[str]:
    """The runs of a chart whose height is a share in percent, each at its place to the right."""
    shapes = []
    chart.hollow = HOLLOW
    for x, run in placed:
        place = x, 100 * (run.rate.share or 0)
        number = mark_number(run)
        style = f"fb-mark fb-c{number} fb-open" if _is_hollow(run) else f"fb-mark fb-c{number}"
        name = MARKS[number][0]
        chart.mark(place, _words(run), style, f"{name}, hollow" if _is_hollow(run) else name)
        shapes.append(point(run, chart.place(place)))
    return shapes


def _is_hollow(run: Reached) -> bool:
    return bool(run.row.flags) or not run.is_whole


def point(run: Reached, place: Point) -> str:
    """A run at its place, linked to its source; hollow where its row is doubted."""
    x, y = place
    number = mark_number(run)
    kind = f"fb-mark fb-c{number}"
    if _is_hollow(run):
        kind += " fb-open"
    # Whole pixels: hundreds of points weigh, and each is six wide.
    at = f"translate({x:.0f} {y:.0f}) scale(.7)"
    shape = (
        f'<path class="{kind}" transform="{at}" d="{SHAPES[number]}">{tooltip(_words(run))}</path>'
    )
    return linked(shape, reference(run.source.source).link)


def _words(run: Reached) -> str:
    assert run.rate.share is not None  # what has no peak beside it has no place on the chart
    row = run.row
    chips = row.hardware.get("n_chips", 1)
    name = short_name(run.chip)
    form = f", {run.format}" if run.format else ""
    machine = name if chips == 1 else f"{chips:,} x {name}"
    return f"{what(row)}, {machine}{form}: {percent(run.rate.share)}"


def legend(top: float, left: float, count: int = len(MARKS)) -> list[str]:
    """What the marks mean, in one line."""
    shapes = []
    for number, (name, _) in enumerate(MARKS[:count]):
        x = left + 76 * number
        at = f"translate({round(x, 1):g} {round(top, 1):g})"
        shapes.append(f'<path class="fb-mark fb-c{number}" transform="{at}" d="{SHAPES[number]}"/>')
        shapes.append(words(x + 9, top + 4, name, "start"))
    shapes.append(words(left + 76 * count, top + 4, f"hollow: {HOLLOW}", "start"))
    return shapes
