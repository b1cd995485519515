"""Many chips in one plot: marks by family, a legend, names where there is room, equal ratios."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flopbook.drawing.frame import side_by_side
from scripts.website.figures.chart import Chart, named
from scripts.website.figures.drawing import path, tooltip, words
from scripts.website.figures.plotted import MARK, PlotSeries, Point
from scripts.website.pages.explorer import ExplorerRow
from scripts.website.pages.families import family_of
from scripts.website.pages.quantities import value_of
from scripts.website.pages.trends import SHAPES

# What shares a mark, by the number of its shape and colour. Families that lie in the middle of
# every picture share the grey one, so that those which lie apart can be seen.
_OTHERS = 5
MARKS = {
    0: ("GPUs", ("gpu",)),
    1: ("TPUs", ("tpu",)),
    2: ("wafer, SRAM, in memory", ("wafer", "sram", "near")),
    _OTHERS: ("all others", ()),
}
_NUMBERS = {family: number for number, (_, families) in MARKS.items() for family in families}
_WIDTHS = (62, 60, 178, 0)  # pixels that each takes in the legend
# The longer name first: what is taken off is the first that fits.
_MAKERS = (
    "Google Cloud",
    "Google",
    "Intel Data Center GPU",
    "AMD Instinct",
    "NVIDIA",
    "AMD",
    "AWS",
    "Intel",
    "Huawei",
    "Microsoft",
    "Meta",
    "Cerebras",
    "OpenAI",
    "Groq",
)
# Chips of the worked example on the landscape, named before others.
WORKED_EXAMPLE = (
    "nvidia/h100-sxm",
    "nvidia/h200-sxm",
    "nvidia/h20",
    "nvidia/b200",
    "amd/mi355x",
    "google/tpu-v6e",
)
_BOARD = re.compile(r" SXM\d?\b| \d+GB\b")
_SMALL = 0.65  # scale of a mark that has no name
_ABOVE = 5  # pixels from a diagonal to its words
_LEAST_START = 12.0  # pixels along a diagonal before its words begin


class Spot(NamedTuple):
    """A chip in a plot: place, what a pointer shows, and whether it is hollow."""

    item: ExplorerRow
    x: float
    y: float
    tip: str
    hollow: bool = False

    @property
    def id(self) -> str:
        """The id of its entry."""
        return self.item.entry.id


def mark_of(entry_id: str) -> int:
    """The number of a chip's mark."""
    return _NUMBERS.get(family_of(entry_id).id, _OTHERS)


def marks(chart: Chart, spots: Sequence[Spot], named_ids: Sequence[str]) -> list[str]:
    """A mark for each chip, and names of some; the first of the list get the best places.

    Marks with a name are as large as in the legend and lie on top; those of the last kind lie below
    all others.
    """
    places = places_of(chart, spots)
    labels = _names(chart, spots, named_ids, places)
    large = {entry_id for entry_id in named_ids if places.get(entry_id) in labels}
    ordered = sorted(spots, key=lambda spot: (spot.id in large, -mark_of(spot.id), spot.id))
    shapes = []
    for spot in ordered:
        number, place = mark_of(spot.id), places[spot.id]
        name = f"{MARKS[number][0]}, hollow" if spot.hollow else MARKS[number][0]
        chart.mark((spot.x, spot.y), spot.tip, mark_style(number, spot.hollow), name)
        scale = 1.0 if spot.id in large else _SMALL
        shapes.append(mark(number, place, spot.tip, spot.hollow, scale))
    return [*shapes, *labels.values()]


def _names(
    chart: Chart, spots: Sequence[Spot], named_ids: Iterable[str], places: Mapping[str, Point]
) -> dict[Point, str]:
    by_id = {spot.id: spot for spot in spots}
    shown = [by_id[entry_id] for entry_id in named_ids if entry_id in by_id]
    chart.labels += [((spot.x, spot.y), short(spot.item)) for spot in shown]
    room = chart.room([*places.values(), *(chart.frame.at(spot.x, spot.y) for spot in spots)])
    return named(room, ((places[spot.id], short(spot.item)) for spot in shown))


def places_of(chart: Chart, spots: Iterable[Spot]) -> dict[str, Point]:
    """Where the mark of each chip is in the picture, by the id of its entry."""
    ordered = sorted(spots, key=lambda spot: (spot.x, spot.y, spot.id))
    places = [chart.frame.at(spot.x, spot.y) for spot in ordered]
    if chart.is_apart:
        places = side_by_side(places, MARK)
    return {spot.id: place for spot, place in zip(ordered, places, strict=True)}


def mark_style(number: int, hollow: bool) -> str:
    """The classes of a mark."""
    return f"fb-mark fb-c{number} fb-open" if hollow else f"fb-mark fb-c{number}"


def mark(number: int, place: Point, tip: str = "", hollow: bool = False, scale: float = 1) -> str:
    """One mark, by its number."""
    x, y = place
    kind = mark_style(number, hollow)
    at = f"translate({round(x, 1):g} {round(y, 1):g})"
    if scale != 1:
        at += f" scale({scale:g})"
    return f'<path class="{kind}" transform="{at}" d="{SHAPES[number]}">{tooltip(tip)}</path>'


def legend(top: float, left: float = 40, hollow: str = "") -> list[str]:
    """What the marks mean, in one line; a second one says what is hollow."""
    shapes, x = [], left
    for (number, (name, _)), width in zip(MARKS.items(), _WIDTHS, strict=True):
        shapes += [mark(number, (x, top)), words(x + 9, top + 4, name, "start")]
        x += width
    if hollow:
        shapes.append(words(left - 5, top + 22, hollow, "start"))
    return shapes


def short(item: ExplorerRow) -> str:
    """A name without its maker, its board and its memory, and without what stands in brackets."""
    name = _BOARD.sub("", item.entry.name.partition(" (")[0])
    for maker in _MAKERS:
        if name.startswith(f"{maker} "):
            return name.removeprefix(f"{maker} ")
    return name


def diagonal(
    chart: Chart, ratio: float, text: str, share: float = 0, together: str = ""
) -> list[str]:
    """The line on which y is `ratio` times x, both logarithmic; none if it lies outside.

    `share` is where along the line its words begin. `together` names all such lines at once, below
    a narrow sheet, where no line has room for words of its own.
    """
    low, high = max(chart.x.low, chart.y.low / ratio), min(chart.x.high, chart.y.high / ratio)
    if low >= high:
        return []
    points = [(x, x * ratio) for x in (low, high)]
    name = together or text
    chart.series.append(PlotSeries("line", "fb-dashed", name, points, [text, text]))
    ends = [chart.place(point) for point in points]
    (x0, y0), (x1, y1) = ends
    length = math.hypot(x1 - x0, y1 - y0)
    along, down = (x1 - x0) / length, (y1 - y0) / length
    start = max(_LEAST_START, share * length)
    x, y = x0 + start * along + _ABOVE * down, y0 + start * down - _ABOVE * along
    turn = f"translate({x:.5g} {y:.5g}) rotate({math.degrees(math.atan2(down, along)):.4g})"
    label = words(0, 0, text, "start", "fb-halo")
    return [path(ends, "fb-dashed"), f'<g transform="{turn}">{label}</g>']


def dated(items: Iterable[ExplorerRow]) -> list[tuple[ExplorerRow, float]]:
    """Chips with the year of their announcement or launch."""
    years = ((row, value_of(row.cells, "date")) for row in items)
    return [(row, year) for row, year in years if year is not None]
