"""A figure for a narrow screen, drawn anew from the values of its charts.

Letters stay as large as they are in the wide one: the plot has the whole width, what its axis means
stands above it, and what its lines and marks are stands below, one under the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from flopbook.drawing.frame import Frame, PlotAxis, side_by_side
from flopbook.drawing.scales import LETTER, Room, Scale, ticks_in
from scripts.website.figures.chart import MOST_TICKS, named
from scripts.website.figures.drawing import Figure, Sheet, dot, path, tooltip, words
from scripts.website.figures.folded import folded
from scripts.website.figures.plotted import MARK, ChartAxis, PlotSeries, Plotted, Point
from scripts.website.figures.shapes import SHEET, lines_of
from scripts.website.pages.trends import SHAPES

WIDTH = SHEET
_HEIGHT = 210.0  # of what is plotted
_TITLE, _FOOT, _ROW = 24.0, 42.0, 18.0
_GAP = 12.0  # between the legend of a chart and the next chart
_SAMPLE = 26.0  # pixels of a line in the legend
_MARK = "fb-mark fb-c"  # of the marks that have a shape for each number
_OPEN, _HOLLOW = " fb-open", ", hollow"  # of a style, and of a name
_MOST_LARGE = 80  # marks of a chart that are as large as in its legend
_SMALL = 0.6  # scale of more of them

Tick = tuple[float, str]


def narrow_sheet(drawn: Figure) -> Sheet | None:
    """The figure at the width of a phone; None for a diagram that cannot be laid out anew."""
    if drawn.narrow is not None:
        return drawn.narrow
    return charts_sheet(drawn.plots) if drawn.plots else folded(drawn)


def charts_sheet(plots: Collection[Plotted]) -> Sheet:
    """Charts one below the other at the width of a phone, with what they show below them.

    What a stroke means is below each chart where it means something else in another.
    """
    top, parts = 0.0, list[str]()
    entries = _named(plots)
    legend = {series.name for series in entries}
    is_apart = _differ(plots)
    for chart in plots:
        panel = _Panel(chart, top)
        parts += panel.shapes(legend)
        top = panel.foot
        if is_apart:
            own = _named([chart])
            parts += _legend(own, top)
            top += _ROW * len(own) + _GAP
    if not is_apart:
        parts += _legend(entries, top)
        top += _ROW * len(entries)
    meanings = _meanings(plots)
    for number, line in enumerate(meanings):
        parts.append(words(0, top + _ROW * number + 9, line, "start"))
    descent = 4 if meanings else 0  # of the letters of the last line
    height = top + _ROW * len(meanings) + descent
    return Sheet(WIDTH, height, tuple(parts))


class _Panel:
    """One chart of a figure, from `top` on."""

    def __init__(self, chart: Plotted, top: float) -> None:
        self.chart = chart
        self.head = top + (2 * _TITLE if chart.title else _TITLE)
        bottom = self.head + _HEIGHT
        up = _axis(chart.up, bottom, self.head, MOST_TICKS)
        left = 10 + LETTER * max((len(text) for _, text in up.ticks), default=0)
        across = _axis(chart.across, left, WIDTH - 12, MOST_TICKS)
        clear = list(_clear(across.ticks, across.scale))
        self.frame = Frame(across._replace(ticks=clear), up)
        self.foot = bottom + _FOOT

    def shapes(self, legend: Collection[str]) -> list[str]:
        """Grid, lines, marks, and as many of the labels as there is room for.

        What is in the legend is no label.
        """
        frame = self.frame
        parts = [words(0, self.head - 12, frame.up.title, "start", "fb-small")]
        if self.chart.title:
            parts.append(words(0, self.head - 12 - _TITLE, self.chart.title, "start", "fb-strong"))
        for value, text in frame.across.ticks:
            x = frame.x.at(value)
            parts.append(path([(x, frame.y.end), (x, frame.y.start)], "fb-grid"))
            parts.append(words(x, frame.y.start + 16, text))
        for value, text in frame.up.ticks:
            y = frame.y.at(value)
            parts.append(path([(frame.x.start, y), (frame.x.end, y)], "fb-grid"))
            parts.append(words(frame.x.start - 6, y + 4, text, "end"))
        middle = (frame.x.start + frame.x.end) / 2
        parts.append(words(middle, frame.y.start + 34, frame.across.title, kind="fb-small"))
        return [*parts, *self._series(legend)]

    def _series(self, legend: Collection[str]) -> Iterator[str]:
        """Lines, marks and names; of marks too many to be large those that have a name are."""
        marks, labels = enumerate(self._marks()), self._labels(legend)
        points = [one for series in self.chart.series for one in series.points[: _count(series)]]
        is_full = self.chart.is_apart or len(points) > _MOST_LARGE
        hollow = [_OPEN in one.style for one in self.chart.series for _ in range(_count(one))]
        # Of marks at one place the last that is filled: a figure draws those with a name last.
        last = {
            self.frame.at(*points[number]): number
            for number in sorted(range(len(points)), key=lambda number: not hollow[number])
        }
        named_marks = {number for at, number in last.items() if at in labels}
        large = []
        for series in self.chart.series:
            if series.kind != "mark":
                yield path(self._line(series), series.style)
                continue
            own = islice(marks, _count(series))
            for (number, place), tip in zip(own, series.tips, strict=True):
                if is_full and number in named_marks:
                    large.append(shaped(series.style, place, tip))
                else:
                    yield shaped(series.style, place, tip, _SMALL if is_full else 1.0)
        yield from (*large, *labels.values())

    def _marks(self) -> list[Point]:
        """The places of all marks, in the order of their series."""
        marks = (series for series in self.chart.series if series.kind == "mark")
        places = [self.frame.at(*point) for series in marks for point in series.points]
        return side_by_side(places, _SMALL * MARK) if self.chart.is_apart else places

    def _line(self, series: PlotSeries) -> list[Point]:
        """A line through points, or one across the plot at a value, in pixels."""
        places = [self.frame.at(*point) for point in series.points]
        x, y = self.frame.x, self.frame.y
        if series.kind == "level":
            return [(x.start, places[0][1]), (x.end, places[0][1])]
        if series.kind == "upright":
            return [(places[0][0], y.end), (places[0][0], y.start)]
        return places

    def _labels(self, legend: Collection[str]) -> dict[Point, str]:
        """Words beside their points, or at the end of a pointer, by the places of the points."""
        frame = self.frame
        room = Room((frame.x.start, frame.y.end, frame.x.end, frame.y.start))
        room.block(self._marks())
        for series in self.chart.series:
            if series.kind != "mark":
                room.avoid(self._line(series))
        labels = (one for one in self.chart.labels if one[1] not in legend)
        return named(room, ((frame.at(*point), text) for point, text in labels))


def _count(series: PlotSeries) -> int:
    """The number of its marks; lines have none."""
    return len(series.points) if series.kind == "mark" else 0


def shaped(style: str, place: Point, tip: str = "", scale: float = 1) -> str:
    """A mark: a dot, or the shape of its number, which may be scaled."""
    if not style.startswith(_MARK):
        return dot(*place, style, tip)
    x, y = place
    shape = SHAPES[int(style.removeprefix(_MARK)[0])]
    at = f"translate({round(x, 1):g} {round(y, 1):g})"
    if scale != 1:  # one of hundreds, which weigh: whole pixels
        at = f"translate({x:.0f} {y:.0f}) scale({scale:g})"
    return f'<path class="{style}" transform="{at}" d="{shape}">{tooltip(tip)}</path>'


def _axis(axis: ChartAxis, start: float, end: float, most: int) -> PlotAxis:
    scale = Scale(axis.low, axis.high, start, end, axis.log)
    ticks = list(axis.ticks) or ticks_in(scale, axis.unit)
    kept = ticks[:: -(-len(ticks) // most)] if ticks else []
    return PlotAxis(scale, [(tick, _shortened(axis, tick)) for tick in kept], axis.label)


def _shortened(axis: ChartAxis, value: float) -> str:
    """A value at the axis, without the word of its unit where the title of the axis has it."""
    number, _, unit = axis.tick(value).rpartition(" ")
    is_said = unit in axis.label.split()
    return number if is_said else axis.tick(value)


def _clear(ticks: Iterable[Tick], scale: Scale) -> Iterator[Tick]:
    """The ticks whose words touch neither each other nor the edge of the sheet."""
    free = 0.0
    for value, text in ticks:
        half = LETTER * len(text) / 2
        place = scale.at(value)
        if place - half < free or place + half > WIDTH:
            continue
        free = place + half + 6
        yield value, text


def _named(charts: Iterable[Plotted]) -> list[PlotSeries]:
    """A series for each entry of the legend: those with a name, each name and look once.

    What is hollow is named with what is filled. Lines of a panel stand together, in the order of
    the panels, since two panels may draw different things with one stroke.
    """
    entries: dict[tuple[str, str], tuple[int, PlotSeries]] = {}
    found = [(panel, series) for panel, chart in enumerate(charts) for series in chart.series]
    for panel, series in found:
        style = series.style.removesuffix(_OPEN)
        name = series.name if style == series.style else series.name.removesuffix(_HOLLOW)
        if name and (style, name) not in entries:
            entries[style, name] = panel, PlotSeries(series.kind, style, name)
    ordered = sorted(
        entries.values(), key=lambda one: (one[1].kind == "mark", one[0], one[1].style)
    )
    return [series for _, series in ordered]


def _differ(charts: Collection[Plotted]) -> bool:
    """Whether one stroke of a line has another name in another chart."""
    names: dict[str, set[str]] = {}
    for series in _named(charts):
        if series.kind != "mark":
            names.setdefault(series.style, set()).add(series.name)
    return any(len(known) > 1 for known in names.values())


def _legend(entries: Iterable[PlotSeries], top: float) -> Iterator[str]:
    for number, series in enumerate(entries):
        y = top + _ROW * number + 6
        if series.kind == "mark":
            yield shaped(series.style, (_SAMPLE / 2, y))
        else:
            yield path([(0, y), (_SAMPLE, y)], series.style)
        yield words(_SAMPLE + 8, y + 4, series.name, "start")


def _meanings(charts: Iterable[Plotted]) -> list[str]:
    """The lines below a legend that say what marks without a fill mean."""
    said = dict.fromkeys(chart.hollow for chart in charts if chart.hollow)
    return [line for text in said for line in lines_of(f"hollow: {text}", "", WIDTH)]
