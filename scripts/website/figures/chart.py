"""A frame for figures that plot values: two scales, a grid with labels, lines, points and bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flopbook.drawing.frame import Frame, PlotAxis, moved_apart, ticks_of
from flopbook.drawing.scales import LETTER, Scale
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Point, dot, path, words

MOST_TICKS = 7
EDGE = 12.0  # the least place of the words that stand upright beside an axis: a line of text
_TICK_ROOM = 58.0  # pixels that the labels of the upright axis take at least

Named = tuple[str, Sequence[Point]]


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """What an axis shows: its words, its ends, the unit of its values (empty for plain numbers)."""

    label: str
    low: float
    high: float
    unit: str = "1"
    log: bool = True

    def tick(self, value: float) -> str:
        """A value as it stands at the axis."""
        if self.unit:
            return format_quantity(value, self.unit)
        # years, on a linear axis, go without a comma
        plain = f"{value:,g}" if self.log else f"{value:g}"
        return plain.replace("e+0", "e").replace("e+", "e")


class Chart:
    """A plot inside a picture.

    `area` is left, top, right and bottom of what is plotted. The frame holds the scales and the
    ticks; they are written in the larger letters of the handbook's pictures.
    """

    def __init__(
        self,
        across: ChartAxis,
        up: ChartAxis,
        area: tuple[float, float, float, float] = (84, 14, 616, 290),
    ) -> None:
        left, top, right, bottom = area
        self.area = area
        self.frame = Frame(
            _plot_axis(across, Scale(across.low, across.high, left, right, across.log)),
            _plot_axis(up, Scale(up.low, up.high, bottom, top, up.log)),
            title_drop=36,
        )

    @property
    def x(self) -> Scale:
        """The scale to the right."""
        return self.frame.x

    @property
    def y(self) -> Scale:
        """The scale upwards."""
        return self.frame.y

    def place(self, point: Point) -> Point:
        """Where a point of the plot is in the picture."""
        return self.frame.at(*point)

    def grid(self) -> list[str]:
        """Lines and labels at round values, and what the axes are."""
        return [*self._columns(), *self._rows(), *self._labels()]

    def _columns(self) -> Iterator[str]:
        _, top, _, bottom = self.area
        for value, text in self.frame.across.ticks:
            x = self.x.at(value)
            yield path([(x, top), (x, bottom)], "fb-grid")
            yield words(x, bottom + self.frame.tick_drop, text)

    def _rows(self) -> Iterator[str]:
        left, _, right, _ = self.area
        for value, text in self.frame.up.ticks:
            y = self.y.at(value)
            yield path([(left, y), (right, y)], "fb-grid")
            yield words(left - self.frame.tick_gap, y + 4, text, "end")

    def _labels(self) -> Iterator[str]:
        left, top, right, bottom = self.area
        across, up = self.frame.across, self.frame.up
        yield words((left + right) / 2, bottom + self.frame.title_drop, across.title)
        room = max([_TICK_ROOM, *(LETTER * len(text) + 14 for _, text in up.ticks)])
        x = max(left - room, EDGE)  # else it is cut at the edge of the picture
        turned = words(0, 0, up.title)
        yield f'<g transform="translate({x:g} {(top + bottom) / 2:g}) rotate(-90)">{turned}</g>'

    def line(self, points: Sequence[Point], number: int = 0) -> str:
        """A line in one of four colours, each with its own dashes."""
        return path([self.place(point) for point in points], f"fb-line{number}")

    def lines(self, named: Sequence[Named]) -> list[str]:
        """Lines in the order of the colours, each with its name at its end."""
        drawn = [self.line(points, number) for number, (_, points) in enumerate(named)]
        return [*drawn, *self.names(named)]

    def level(self, y: float, kind: str = "fb-dashed") -> str:
        """A line across the plot at one value."""
        left, _, right, _ = self.area
        return path([(left, self.y.at(y)), (right, self.y.at(y))], kind)

    def dot(self, x: float, y: float, tip: str, kind: str = "fb-c0", radius: float = 4) -> str:
        """A point with what a pointer shows; `radius` is in pixels."""
        return dot(*self.place((x, y)), kind, tip, radius)

    def words(self, point: Point, text: str, anchor: str = "start", shift: Point = (8, 4)) -> str:
        """Text beside a point of the plot; `shift` is in pixels."""
        x, y = self.place(point)
        return words(x + shift[0], y + shift[1], text, anchor)

    def names(self, named: Sequence[Named]) -> list[str]:
        """The name of each line right of its last point, moved down where two would touch."""
        ends = sorted(self._end(name, points) for name, points in named)
        baselines = moved_apart(y for y, _, _ in ends)
        return [
            words(x, baseline, name, "start")
            for (_, x, name), baseline in zip(ends, baselines, strict=True)
        ]

    def _end(self, name: str, points: Sequence[Point]) -> tuple[float, float, str]:
        """Where the name of a line would stand if it were alone: down, across."""
        x, y = self.place(points[-1])
        return y + 4, x + 6, name


def _plot_axis(axis: ChartAxis, scale: Scale) -> PlotAxis:
    """The axis of a frame, with as many ticks as do not touch."""
    return PlotAxis(scale, ticks_of(_few(scale.round_ticks()), axis.tick), axis.label)


def _few(ticks: list[float]) -> list[float]:
    """Every second or third tick where all of them would touch."""
    step = -(-len(ticks) // MOST_TICKS)
    return ticks[::step]


def spaced(low: float, high: float, count: int) -> list[float]:
    """Values from low to high, each the same factor above the one before."""
    return [low * (high / low) ** (n / (count - 1)) for n in range(count)]
