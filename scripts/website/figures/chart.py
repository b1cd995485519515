"""A frame for figures that plot values: two scales, a grid with labels, lines, points and bars.

A chart keeps what was drawn in it, as values: the file of values and the picture for narrow screens
are made of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from flopbook.drawing.frame import Frame, PlotAxis, moved_apart, ticks_of
from flopbook.drawing.scales import LETTER, TO_WORDS, Room, Scale, ticks_in
from scripts.website.figures.drawing import dot, path, words
from scripts.website.figures.plotted import ChartAxis, PlotSeries, Point

MOST_TICKS = 7
EDGE = 12.0  # the least place of the words that stand upright beside an axis: a line of text
_TICK_ROOM = 58.0  # pixels that the labels of the upright axis take at least

Named = tuple[str, Sequence[Point]]


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
        self.across, self.up = across, up
        self.series: list[PlotSeries] = []
        self.labels: list[tuple[Point, str]] = []
        self.title = ""  # of one plot among several
        self.hollow = ""  # what marks without a fill mean
        self.is_apart = False  # whether marks move up and down until each is in sight
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

    def room(self, places: Iterable[Point]) -> Room:
        """The room for names: off some places of the picture, and off its lines where it can be."""
        room = Room(self.area)
        room.block(places)
        for series in self.series:
            if series.kind == "line":
                room.avoid([self.place(point) for point in series.points])
        return room

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

    def line(self, points: Sequence[Point], number: int = 0, name: str = "") -> str:
        """A line in one of four colours, each with its own dashes."""
        self.series.append(PlotSeries("line", f"fb-line{number}", name, list(points)))
        return path([self.place(point) for point in points], f"fb-line{number}")

    def lines(self, named: Sequence[Named]) -> list[str]:
        """Lines in the order of the colours, each with its name at its end."""
        drawn = [self.line(points, number) for number, (_, points) in enumerate(named)]
        return [*drawn, *self.names(named)]

    def level(self, y: float, kind: str = "fb-dashed", name: str = "") -> str:
        """A line across the plot at one value."""
        left, _, right, _ = self.area
        self.series.append(PlotSeries("level", kind, name, [(self.across.low, y)], [name]))
        return path([(left, self.y.at(y)), (right, self.y.at(y))], kind)

    def upright(self, x: float, name: str, kind: str = "fb-dashed") -> str:
        """A line up the plot at one value."""
        _, top, _, bottom = self.area
        self.series.append(PlotSeries("upright", kind, name, [(x, self.up.low)], [name]))
        return path([(self.x.at(x), top), (self.x.at(x), bottom)], kind)

    def dot(
        self,
        x: float,
        y: float,
        tip: str,
        kind: str = "fb-c0",
        radius: float = 4,
        name: str = "",
    ) -> str:
        """A point with what a pointer shows; `radius` is in pixels, `name` that of all its kind."""
        self.mark((x, y), tip, kind, name)
        return dot(*self.place((x, y)), kind, tip, radius)

    def mark(self, point: Point, tip: str, kind: str, name: str = "") -> None:
        """Keep a point that the figure draws by itself, among those of its kind."""
        for series in self.series:
            if (series.kind, series.style, series.name) == ("mark", kind, name):
                break
        else:
            series = PlotSeries("mark", kind, name)
            self.series.append(series)
        series.points.append(point)
        series.tips.append(tip)

    def words(self, point: Point, text: str, anchor: str = "start", shift: Point = (8, 4)) -> str:
        """Text beside a point of the plot; `shift` is in pixels.

        At either end of a line without a name it is its name.
        """
        self._keep(point, text)
        x, y = self.place(point)
        return words(x + shift[0], y + shift[1], text, anchor)

    def _keep(self, point: Point, text: str) -> None:
        """Remember words: as the name of the line that ends here, else as a label."""
        for series in self.series:
            is_line = series.kind == "line" and not series.name
            if is_line and point in (series.points[0], series.points[-1]):
                series.name = text
                return
        self.labels.append((point, text))

    def names(self, named: Sequence[Named]) -> list[str]:
        """The name of each line right of its last point, moved down where two would touch."""
        for name, points in named:
            self._keep(points[-1], name)
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


def named(room: Room, names: Iterable[tuple[Point, str]]) -> dict[Point, str]:
    """Shapes of the names of points (pixels), off all lines: beside, or at the end of a pointer.

    Those beside their points go first, and in either part the first of the list. Points whose names
    have room in neither place are left out.
    """
    shapes, far = dict[Point, str](), []
    for point, name in names:
        if at := room.clear(name, *point):
            x, y, anchor = at
            shapes[point] = words(x, y, name, anchor, "fb-halo")
        else:
            far.append((point, name))
    for point, name in far:
        if at := room.lead(name, *point):
            x, y, anchor = at
            gap = TO_WORDS if anchor == "start" else -TO_WORDS
            text = words(x + gap, y + 4, name, anchor, "fb-halo")
            shapes[point] = path([point, (x, y)], "fb-stroke") + text
    return shapes


def _plot_axis(axis: ChartAxis, scale: Scale) -> PlotAxis:
    """The axis of a frame, with as many ticks as do not touch."""
    places = list(axis.ticks) or _few(ticks_in(scale, axis.unit))
    return PlotAxis(scale, ticks_of(places, axis.tick), axis.label)


def _few(ticks: list[float]) -> list[float]:
    """Every second or third tick where all of them would touch."""
    step = -(-len(ticks) // MOST_TICKS)
    return ticks[::step]


def spaced(low: float, high: float, count: int) -> list[float]:
    """Values from low to high, each the same factor above the one before."""
    return [low * (high / low) ** (n / (count - 1)) for n in range(count)]
