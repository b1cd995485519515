"""Many chips in one plot: marks by family, a legend, names where there is room, equal ratios."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flopbook.drawing.markup import escape
from flopbook.drawing.scales import Room
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import path, words
from scripts.website.pages.explorer import ExplorerRow as Item
from scripts.website.pages.families import family_of
from scripts.website.pages.quantities import value_of
from scripts.website.pages.trends import SHAPES

# What shares a mark, by family; a family that is not named has the last one.
MARKS = (
    ("GPUs", ("gpu",)),
    ("TPUs", ("tpu",)),
    ("for own use", ("own",)),
    ("Chinese makers", ("china",)),
    ("wafer, SRAM, in memory", ("wafer", "sram", "near")),
    ("all others", ()),
)
_WIDTHS = (62, 60, 92, 124, 178, 0)


class Spot(NamedTuple):
    """A chip in a plot: place, what a pointer shows, and whether it is hollow."""

    item: Item
    x: float
    y: float
    tip: str
    hollow: bool = False


def mark_of(entry_id: str) -> int:
    """The number of a chip's mark."""
    family = family_of(entry_id).id
    return next((n for n, (_, families) in enumerate(MARKS) if family in families), len(MARKS) - 1)


def marks(chart: Chart, found: Iterable[Spot]) -> list[str]:
    """A mark for each chip, those of the last kind below all others."""
    ordered = sorted(found, key=lambda spot: (-mark_of(spot.item.entry.id), spot.item.entry.id))
    return [
        mark(mark_of(s.item.entry.id), (chart.x.at(s.x), chart.y.at(s.y)), s.tip, s.hollow)
        for s in ordered
    ]


def mark(number: int, place: tuple[float, float], tip: str = "", hollow: bool = False) -> str:
    """One mark, by its number."""
    kind = f"fb-mark fb-c{number}" + (" fb-open" if hollow else "")
    inside = f"<title>{escape(tip)}</title>" if tip else ""
    x, y = place
    return f'<path class="{kind}" transform="translate({x:g} {y:g})" d="{SHAPES[number]}">{inside}</path>'


def legend(top: float, left: float = 40, hollow: str = "") -> list[str]:
    """What the marks mean, in one line; a second one says what is hollow."""
    parts, x = [], left
    for number, ((name, _), width) in enumerate(zip(MARKS, _WIDTHS, strict=True)):
        parts += [mark(number, (x, top)), words(x + 9, top + 4, name, "start")]
        x += width
    return parts + ([words(left - 5, top + 22, hollow, "start")] if hollow else [])


def names(chart: Chart, found: Sequence[Spot], wanted: Sequence[str]) -> list[str]:
    """Names of chips beside their marks, as far as there is room; the first of the list go first."""
    left, top, right, bottom = chart.frame
    room = Room((left, top, right, bottom))
    room.block((chart.x.at(spot.x), chart.y.at(spot.y)) for spot in found)
    by_id = {spot.item.entry.id: spot for spot in found}
    parts = []
    for spot in (by_id[name] for name in wanted if name in by_id):
        name = short(spot.item)
        place = room.place(name, chart.x.at(spot.x), chart.y.at(spot.y))
        if place:
            parts.append(words(*place[:2], name, place[2], "fb-halo"))
    return parts


def short(item: Item) -> str:
    """A name without its maker and without what stands in brackets."""
    name = item.entry.name.partition(" (")[0]
    for maker in (
        "Google Cloud",
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
    ):
        if name.startswith(f"{maker} "):
            return name.removeprefix(f"{maker} ")
    return name


def diagonal(chart: Chart, ratio: float, text: str, share: float = 0) -> list[str]:
    """The line on which y is `ratio` times x, both logarithmic; none if it lies outside.

    `share` is where along the line its words begin.
    """
    low, high = max(chart.x.low, chart.y.low / ratio), min(chart.x.high, chart.y.high / ratio)
    if low >= high:
        return []
    ends = [(chart.x.at(x), chart.y.at(x * ratio)) for x in (low, high)]
    (x0, y0), (x1, y1) = ends
    long = math.hypot(x1 - x0, y1 - y0)
    along, down = (x1 - x0) / long, (y1 - y0) / long
    start = max(12.0, share * long)
    x, y = x0 + start * along + 5 * down, y0 + start * down - 5 * along  # above the line
    turn = f"translate({x:.5g} {y:.5g}) rotate({math.degrees(math.atan2(down, along)):.4g})"
    return [
        path(ends, "fb-dashed"),
        f'<g transform="{turn}">{words(0, 0, text, "start", "fb-halo")}</g>',
    ]


def dated(found: Iterable[Item]) -> list[tuple[Item, float]]:
    """Chips with the year of their announcement or launch."""
    return [(item, year) for item in found if (year := value_of(item.cells, "date")) is not None]
