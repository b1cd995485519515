"""A sweep as a plot: an output against an input, one line per value of a second input or output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from flopbook.drawing.frame import Frame, PlotAxis, moved_apart, scale_over, ticks_of
from flopbook.drawing.markup import escape
from flopbook.drawing.scales import LETTER, Scale, ticks_in
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import said
from flopbook.evaluation.sweeping import Axis, Sweep

WIDTH, HEIGHT = 720, 400
LEFT, TOP, BOTTOM = 96, 18, 46
MOST_LINES, MOST_MARKS, MOST_PLACES = 8, 40, 2000
# One colour (for light and for dark pages) and one dash for each line, so that no two lines differ
# by colour alone.
_COLOURS = (
    ("#0068a8", "#6ec6ff"),
    ("#b3480b", "#ffb27d"),
    ("#1b7a43", "#7fdca4"),
    ("#7b3fa0", "#d9a9f0"),
)
_DASHES = ("", "7 4", "2 4", "9 3 2 3")
_LIGHT_RULES = "".join(
    f".fb-line{number}{{stroke:var(--fb-line{number},{light});color:{light}}}"
    for number, (light, _) in enumerate(_COLOURS)
)
_DARK_RULES = "".join(
    f".fb-line{number}{{stroke:var(--fb-line{number},{dark})}}"
    for number, (_, dark) in enumerate(_COLOURS)
)
STYLE = (
    "<style>.fb-curves text{font:12px sans-serif;fill:var(--md-default-fg-color,#222222)}"
    ".fb-curves .fb-grid{stroke:var(--md-default-fg-color--lightest,#dddddd);stroke-width:1}"
    f".fb-curves .fb-line{{fill:none;stroke-width:2}}{_LIGHT_RULES}"
    "@media (prefers-color-scheme:dark){.fb-curves text{fill:var(--md-default-fg-color,#e8e8e8)}"
    f".fb-curves .fb-grid{{stroke:var(--md-default-fg-color--lightest,#444444)}}{_DARK_RULES}"
    "}</style>"
)


class Line(NamedTuple):
    """One line: its name, and each value of the axis with the output there, None for no value."""

    name: str
    points: tuple[tuple[Any, float | None], ...]

    def drawn(self) -> list[tuple[Any, float]]:
        """The points that have a value."""
        return [(x, y) for x, y in self.points if y is not None]


class Plot(NamedTuple):
    """What is drawn: lines over an axis, all in one unit."""

    title: str
    label: str
    axis: Axis
    unit: str
    lines: tuple[Line, ...]
    log: bool

    def values(self) -> list[float]:
        """All values that are drawn."""
        return [y for line in self.lines for _, y in line.drawn()]


def plot_of(swept: Sweep, outputs: Sequence[str] = ()) -> Plot:
    """The plot of some outputs, by default of the first that changes.

    The axis is the first input that is a number; each combination of the other inputs is a line of
    its own. Raises FlopbookError for what has no picture.
    """
    names = list(outputs) or [_first_changing(swept)]
    unit = _common_unit(swept, names)
    axis = next((axis for axis in swept.axes if axis.is_number), swept.axes[0])
    lines = [line for name in names for line in _lines(swept, axis, name, named=len(names) > 1)]
    if len(lines) > MOST_LINES:
        raise FlopbookError(f"{len(lines)} lines are too many for a picture, at most {MOST_LINES}")
    label = ", ".join(names)
    inputs = " and ".join(axis.name for axis in swept.axes)
    title = f"{swept.formula.title}: {label} by {inputs}"
    plot = Plot(title, label, axis, unit, tuple(lines), log=False)
    if not plot.values():
        raise FlopbookError(f"{names[0]} has no finite value to draw")
    return plot._replace(log=axis.log and min(plot.values()) > 0)


def _common_unit(swept: Sweep, names: Sequence[str]) -> str:
    """The unit of these outputs. Raises FlopbookError for a word, or for more than one unit."""
    units = {swept.formula.outputs[name].unit for name in names}
    words = [name for name in names if swept.formula.outputs[name].choices]
    if words:
        raise FlopbookError(
            f"{words[0]} is a word and cannot be drawn; choose numbers with --outputs"
        )
    if len(units) > 1:
        raise FlopbookError(
            f"one picture has one unit, found {', '.join(sorted(units))}; choose with --outputs"
        )
    return units.pop()


def _first_changing(swept: Sweep) -> str:
    """The first output that is a number and changes, else the first that is a number."""
    numbers = [name for name in swept.outputs() if not swept.formula.outputs[name].choices]
    if not numbers:
        raise FlopbookError(f"no output of {swept.formula.id} can be drawn here")
    return next((name for name in numbers if _changes(swept, name)), numbers[0])


def _changes(swept: Sweep, name: str) -> bool:
    finite = {repr(y) for y in _finite(swept, name) if y is not None}
    return len(finite) > 1


def _finite(swept: Sweep, name: str) -> list[float | None]:
    """An output at every point, None where it has no finite value."""
    return [y if isinstance(y, float) and math.isfinite(y) else None for y in swept.column(name)]


def _lines(swept: Sweep, axis: Axis, output: str, *, named: bool) -> list[Line]:
    """The lines of one output, one for each combination of the inputs that are not the axis."""
    further_axes = [further for further in swept.axes if further.name != axis.name]
    columns = [swept.column(further.name) for further in further_axes]
    groups: dict[tuple[Any, ...], list[tuple[Any, float | None]]] = {}
    points = zip(swept.column(axis.name), _finite(swept, output), strict=True)
    for number, point in enumerate(points):
        key = tuple(column[number] for column in columns)
        groups.setdefault(key, []).append(point)
    lines = []
    for key, group in groups.items():
        words = [
            f"{further.name} {said(level, further.unit or '1')}"
            for further, level in zip(further_axes, key, strict=True)
        ]
        if named or not words:
            words.insert(0, output)
        lines.append(Line(", ".join(words), tuple(_thinned(group))))
    return lines


def _thinned(points: list[tuple[Any, float | None]]) -> list[tuple[Any, float | None]]:
    """At most about MOST_PLACES of the points, the last one among them."""
    step = math.ceil(len(points) / MOST_PLACES)
    thinned = points[::step]
    if (len(points) - 1) % step:
        thinned.append(points[-1])
    return thinned


def curves_svg(plot: Plot) -> str:
    """The plot as an SVG file of its own, with title and description, for light and dark pages."""
    width = WIDTH + 24 + LETTER * max(len(line.name) for line in plot.lines)
    frame = _frame(plot)
    elements = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {HEIGHT}" '
        f'width="{width:.0f}" height="{HEIGHT}" role="img" class="fb-svg fb-curves" '
        'aria-labelledby="fb-curves-t fb-curves-d">'
        f'<title id="fb-curves-t">{escape(plot.title)}</title>'
        f'<desc id="fb-curves-d">{escape(description(plot))}</desc>{STYLE}',
        *frame.grid(),
        *(_drawn_line(plot, number, frame) for number in range(len(plot.lines))),
        *_names(plot, frame),
        *frame.titles(),
        "</svg>",
    ]
    return "".join(elements)


def description(plot: Plot) -> str:
    """The picture in words, with its figures."""
    lines = "; ".join(f"{line.name}: {_extent(plot, line)}" for line in plot.lines)
    kind = "both axes logarithmic" if plot.log else "linear upwards"
    return f"{plot.title}; {kind}. {lines}."


def _extent(plot: Plot, line: Line) -> str:
    """Where a line begins and where it ends."""
    points = line.drawn()
    if not points:
        return "no value"
    ends = [
        f"{said(y, plot.unit)} at {said(x, plot.axis.unit or '1')}"
        for x, y in (points[0], points[-1])
    ]
    return f"{ends[0]} to {ends[1]}"


def _frame(plot: Plot) -> Frame:
    """The axes of a plot; words on the lower one stand evenly apart."""
    axis = plot.axis
    if axis.is_number:
        x = scale_over(list(axis.values), LEFT, WIDTH, log=axis.log)
        x_ticks = ticks_of(ticks_in(x, axis.unit), lambda tick: _tick_text(tick, axis.unit))
    else:
        x = Scale(-0.5, len(axis.values) - 0.5, LEFT, WIDTH, log=False)
        x_ticks = [(float(place), str(word)) for place, word in enumerate(axis.values)]
    y = scale_over(plot.values(), HEIGHT - BOTTOM, TOP, log=plot.log)
    y_ticks = ticks_of(ticks_in(y, plot.unit), lambda tick: _tick_text(tick, plot.unit))
    return Frame(
        PlotAxis(x, x_ticks, _axis_title(axis.name, axis.log)),
        PlotAxis(y, y_ticks, _axis_title(plot.label, plot.log)),
        tick_drop=17,
    )


def _axis_title(name: str, log: bool) -> str:
    return f"{name}, logarithmic" if log else name


def _tick_text(tick: float, unit: str) -> str:
    return said(tick, unit) if tick else "0"  # zero needs no unit, and has no prefix


def _position(plot: Plot, x: Any) -> float:
    """Where a value is on the axis: a number is itself, a word its number among the words."""
    if plot.axis.is_number:
        return float(x)
    return float(list(plot.axis.values).index(x))


def _drawn_line(plot: Plot, number: int, frame: Frame) -> str:
    """A line with a gap where there is no value; with marks and tooltips if its points are few."""
    line = plot.lines[number]
    colour = number % len(_COLOURS)
    svg = ""
    if plot.axis.is_number:  # between two words there is nothing to connect
        dash = _DASHES[(number + number // len(_COLOURS)) % len(_DASHES)]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        svg = f'<path class="fb-line fb-line{colour}"{dashes} d="{_path(plot, line, frame)}"/>'
    points = line.drawn()
    if len(points) > MOST_MARKS:
        return svg
    for x, height in points:
        place_x, place_y = frame.at(_position(plot, x), height)
        tip = f"{said(x, plot.axis.unit or '1')}: {said(height, plot.unit)}"
        svg += (
            f'<circle class="fb-line{colour}" fill="none" cx="{place_x}" cy="{place_y}" r="3">'
            f"<title>{escape(tip)}</title></circle>"
        )
    return svg


def _path(plot: Plot, line: Line, frame: Frame) -> str:
    """The path of a line; the pen is lifted where there is no value."""
    steps, pen = [], "M"
    for x, height in line.points:
        if height is None:
            pen = "M"
            continue
        place_x, place_y = frame.at(_position(plot, x), height)
        steps.append(f"{pen}{place_x} {place_y}")
        pen = "L"
    return "".join(steps)


def _names(plot: Plot, frame: Frame) -> list[str]:
    """The name of each line at its end, moved apart where they would touch."""
    ends = []
    for number, line in enumerate(plot.lines):
        if points := line.drawn():
            ends.append((frame.y.at(points[-1][1]), number, line.name))
    ends.sort()
    baselines = moved_apart(y + 4 for y, _, _ in ends)
    labels = []
    for (_, number, name), baseline in zip(ends, baselines, strict=True):
        colour = number % len(_COLOURS)
        left = frame.x.end
        labels.append(
            f'<path class="fb-line fb-line{colour}" d="M{left + 4} {baseline - 4:.1f}h8"/>'
            f'<text class="fb-label" x="{left + 16}" y="{baseline:.1f}">{escape(name)}</text>'
        )
    return labels
