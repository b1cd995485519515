"""A sweep as a picture: an output against an input, a line for each value of a second input or for
each output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from flopbook.drawing.markup import escape
from flopbook.drawing.scales import LETTER, Scale
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import said
from flopbook.evaluation.sweeping import Axis, Sweep

WIDTH, HEIGHT = 720, 400
LEFT, TOP, BOTTOM = 96, 18, 46
MOST_LINES, MOST_MARKS, MOST_PLACES = 8, 40, 2000
# One colour and one dash for each line: no line is told by its colour alone.
_COLOURS = (
    ("#0068a8", "#6ec6ff"),
    ("#b3480b", "#ffb27d"),
    ("#1b7a43", "#7fdca4"),
    ("#7b3fa0", "#d9a9f0"),
)
_DASHES = ("", "7 4", "2 4", "9 3 2 3")
STYLE = (
    "<style>.fb-curves text{font:12px sans-serif;fill:var(--md-default-fg-color,#222222)}"
    ".fb-curves .fb-grid{stroke:var(--md-default-fg-color--lightest,#dddddd);stroke-width:1}"
    ".fb-curves .fb-line{fill:none;stroke-width:2}"
    + "".join(
        f".fb-line{n}{{stroke:var(--fb-line{n},{c[0]});color:{c[0]}}}"
        for n, c in enumerate(_COLOURS)
    )
    + "@media (prefers-color-scheme:dark){.fb-curves text{fill:var(--md-default-fg-color,#e8e8e8)}"
    ".fb-curves .fb-grid{stroke:var(--md-default-fg-color--lightest,#444444)}"
    + "".join(f".fb-line{n}{{stroke:var(--fb-line{n},{c[1]})}}" for n, c in enumerate(_COLOURS))
    + "}</style>"
)


class Line(NamedTuple):
    """One line: its name, and its points as values of the first axis and of the output, None where
    there is none.
    """

    name: str
    points: tuple[tuple[Any, float | None], ...]


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
        return [y for line in self.lines for _, y in line.points if y is not None]


def plot_of(found: Sweep, outputs: Sequence[str] = ()) -> Plot:
    """The lines of a sweep. Without names its first output that changes. Raises FlopbookError for
    what has no picture.

    The axis is the first input that is a number; each combination of the others is a line of its
    own.
    """
    names = list(outputs) or [_first(found)]
    units = {found.formula.outputs[name].unit for name in names}
    words = [name for name in names if found.formula.outputs[name].choices]
    if words:
        raise FlopbookError(
            f"{words[0]} is a word and cannot be drawn; choose numbers with --outputs"
        )
    if len(units) > 1:
        raise FlopbookError(
            f"one picture has one unit, found {', '.join(sorted(units))}; choose with --outputs"
        )
    axis = next((one for one in found.axes if one.is_number), found.axes[0])
    lines = [line for name in names for line in _lines(found, axis, name, len(names) > 1)]
    if len(lines) > MOST_LINES:
        raise FlopbookError(f"{len(lines)} lines are too many for a picture, at most {MOST_LINES}")
    values = [y for line in lines for _, y in line.points if y is not None]
    if not values:
        raise FlopbookError(f"{names[0]} has no finite value to draw")
    label = ", ".join(names)
    title = f"{found.formula.title}: {label} by {' and '.join(one.name for one in found.axes)}"
    return Plot(title, label, axis, units.pop(), tuple(lines), axis.log and min(values) > 0)


def _first(found: Sweep) -> str:
    """The first output that is a number and changes, else the first that is a number."""
    numbers = [name for name in found.outputs() if not found.formula.outputs[name].choices]
    if not numbers:
        raise FlopbookError(f"no output of {found.formula.id} can be drawn here")
    changing = [
        name
        for name in numbers
        if len({repr(y) for y in _finite(found, name) if y is not None}) > 1
    ]
    return (changing or numbers)[0]


def _finite(found: Sweep, name: str) -> list[float | None]:
    return [y if isinstance(y, float) and math.isfinite(y) else None for y in found.column(name)]


def _lines(found: Sweep, axis: Axis, output: str, named: bool) -> list[Line]:
    """The lines of one output, one for each combination of the inputs that are not the axis."""
    others = [one for one in found.axes if one.name != axis.name]
    columns = [found.column(one.name) for one in others]
    groups: dict[tuple[Any, ...], list[tuple[Any, float | None]]] = {}
    for point, (x, y) in enumerate(
        zip(found.column(axis.name), _finite(found, output), strict=True)
    ):
        groups.setdefault(tuple(column[point] for column in columns), []).append((x, y))
    lines = []
    for key, points in groups.items():
        words = [
            f"{one.name} {said(value, one.unit or '1')}"
            for one, value in zip(others, key, strict=True)
        ]
        step = math.ceil(len(points) / MOST_PLACES)
        kept = [*points[::step], *(points[-1:] if (len(points) - 1) % step else ())]
        lines.append(
            Line(", ".join([*([output] if named or not words else []), *words]), tuple(kept))
        )
    return lines


def curves_svg(plot: Plot) -> str:
    """The picture as a file of its own, with title and description; text is text, colours fit light
    and dark.
    """
    right = 24 + LETTER * max(len(line.name) for line in plot.lines)
    x = _across(plot, WIDTH)
    y = _scale(plot.values(), HEIGHT - BOTTOM, TOP, plot.log)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + right:.0f} {HEIGHT}" '
        f'width="{WIDTH + right:.0f}" height="{HEIGHT}" role="img" class="fb-svg fb-curves" '
        f'aria-labelledby="fb-curves-t fb-curves-d"><title id="fb-curves-t">{escape(plot.title)}</title>'
        f'<desc id="fb-curves-d">{escape(description(plot))}</desc>{STYLE}',
        *_grid(plot, x, y),
        *(_line(line, number, x, y, plot) for number, line in enumerate(plot.lines)),
        *_labels(plot, x, y),
        f'<text class="fb-axis" x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(plot.axis.name)}{', logarithmic' if plot.axis.log else ''}</text>"
        f'<text class="fb-axis" transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(plot.label)}{", logarithmic" if plot.log else ""}</text></svg>',
    ]
    return "".join(parts)


def description(plot: Plot) -> str:
    """The picture in words, with its figures."""
    lines = []
    for line in plot.lines:
        found = [(x, y) for x, y in line.points if y is not None]
        if found:
            ends = [
                f"{said(y, plot.unit)} at {said(x, plot.axis.unit or '1')}"
                for x, y in (found[0], found[-1])
            ]
            lines.append(f"{line.name}: {ends[0]} to {ends[1]}")
        else:
            lines.append(f"{line.name}: no value")
    kind = "both axes logarithmic" if plot.log else "linear upwards"
    return f"{plot.title}; {kind}. {'; '.join(lines)}."


def _across(plot: Plot, end: float) -> Scale:
    """The scale of the axis; words stand evenly apart."""
    if plot.axis.is_number:
        return _scale(list(plot.axis.values), LEFT, end, plot.axis.log)
    return Scale(-0.5, len(plot.axis.values) - 0.5, LEFT, end, log=False)


def _scale(values: list[float], start: float, end: float, log: bool) -> Scale:
    low, high = min(values), max(values)
    if log:
        return (
            Scale(low / 1.1, high * 1.1, start, end)
            if low == high
            else Scale(low, high, start, end)
        )
    if low == high:
        low, high = low - max(1.0, abs(low)) / 2, high + max(1.0, abs(high)) / 2
    return Scale(min(low, 0.0) if low < 0.5 * high else low, high, start, end, log=False)


def _place(plot: Plot, value: Any) -> float:
    return value if plot.axis.is_number else float(list(plot.axis.values).index(value))


def _grid(plot: Plot, x: Scale, y: Scale) -> list[str]:
    lines = []
    marks = _ticks(x, plot.axis.unit) if plot.axis.is_number else list(range(len(plot.axis.values)))
    for value in marks:
        text = (
            _tick(value, plot.axis.unit)
            if plot.axis.is_number
            else str(plot.axis.values[int(value)])
        )
        at = x.at(value)
        lines.append(f'<path class="fb-grid" d="M{at} {y.end}V{y.start}"/>')
        lines.append(
            f'<text class="fb-tick" x="{at}" y="{y.start + 17}" text-anchor="middle">{escape(text)}</text>'
        )
    for value in _ticks(y, plot.unit):
        at = y.at(value)
        lines.append(f'<path class="fb-grid" d="M{x.start} {at}H{x.end}"/>')
        text = escape(_tick(value, plot.unit))
        lines.append(
            f'<text class="fb-tick" x="{x.start - 6}" y="{at + 4}" text-anchor="end">{text}</text>'
        )
    return lines


def _ticks(scale: Scale, unit: str) -> list[float]:
    """Round values of a scale; of a long time in days or hours, as they are written."""
    if unit != "s" or scale.log:
        return scale.round_ticks()
    size = next((size for size in (86400.0, 3600.0) if scale.high >= size), 1.0)
    ticks = Scale(
        scale.low / size, scale.high / size, scale.start, scale.end, log=False
    ).round_ticks()
    return [size * tick for tick in ticks]


def _tick(value: float, unit: str) -> str:
    return said(value, unit) if value else "0"


def _line(line: Line, number: int, x: Scale, y: Scale, plot: Plot) -> str:
    """A line with a gap where there is no value, and marks with their values where there are few."""
    path, pen = [], "M"
    for value, height in line.points:
        if height is None:
            pen = "M"
            continue
        path.append(f"{pen}{x.at(_place(plot, value))} {y.at(height)}")
        pen = "L"
    colour = number % len(_COLOURS)
    dash = _DASHES[(number + number // len(_COLOURS)) % len(_DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    drawn = (
        f'<path class="fb-line fb-line{colour}"{dashed} d="{"".join(path)}"/>'
        if plot.axis.is_number
        else ""
    )
    few = [(value, height) for value, height in line.points if height is not None]
    if len(few) > MOST_MARKS:
        return drawn
    marks = [
        f'<circle class="fb-line{colour}" fill="none" cx="{x.at(_place(plot, value))}" cy="{y.at(height)}" r="3">'
        f"<title>{escape(said(value, plot.axis.unit or '1'))}: {escape(said(height, plot.unit))}</title></circle>"
        for value, height in few
    ]
    return drawn + "".join(marks)


def _labels(plot: Plot, x: Scale, y: Scale) -> list[str]:
    """The name of each line at its end, moved apart where they would touch."""
    ends = []
    for number, line in enumerate(plot.lines):
        last = next((height for _, height in reversed(line.points) if height is not None), None)
        if last is not None:
            ends.append((y.at(last), number, line.name))
    labels, before = [], -math.inf
    for at, number, name in sorted(ends):
        before = max(at + 4, before + 14)
        mark = f'<path class="fb-line fb-line{number % len(_COLOURS)}" d="M{x.end + 4} {before - 4:.1f}h8"/>'
        labels.append(
            f'{mark}<text class="fb-label" x="{x.end + 16}" y="{before:.1f}">{escape(name)}</text>'
        )
    return labels
