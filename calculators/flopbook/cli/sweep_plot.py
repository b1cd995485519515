"""The curves of a sweep as text: a row for each point, marks between the lowest and highest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from flopbook.drawing.curves import Plot
from flopbook.drawing.scales import Scale
from flopbook.evaluation.answers import format_value

MOST_ROWS = 48  # of a plot in a terminal
NARROWEST, WIDEST = 20, 100  # columns between the axes
_LOGARITHMIC = "logarithmic"


class PlotRow(NamedTuple):
    """One point of the axis, with the height of each line there, None where it has none."""

    label: str
    heights: Sequence[float | None]


def terminal_plot(plot: Plot, width: int) -> str:
    """The plot in so many columns; several lines are marked by letters."""
    values = plot.values()
    low, high = min(values), max(values)
    rows = _rows(plot)
    margin = max(map(len, [plot.axis.name, *(row.label for row in rows)]))
    texts = [_value_text(plot, row) for row in rows]
    room = width - margin - 3 - max(map(len, texts)) - 1
    room = max(NARROWEST, min(WIDEST, room))
    # Without a difference between low and high there is no scale: the marks stand in the middle.
    scale = Scale(low, high, 0, room - 1, plot.log) if low < high else None
    lines = [plot.title, f"{plot.axis.name.rjust(margin)} |{_limits(plot, low, high, room)}|"]
    for row, text in zip(rows, texts, strict=True):
        track = _track(row.heights, scale, room)
        lines.append(f"{row.label.rjust(margin)} |{track}| {text}".rstrip())
    if len(plot.lines) > 1:
        names = [f"{_letter(number)} {line.name}" for number, line in enumerate(plot.lines)]
        lines.append(", ".join([*names, "+ several"]))
    count = len(plot.lines[0].points)
    if len(rows) < count:
        lines.append(f"{len(rows)} of {count:,} points are shown; --plot FILE.svg shows more")
    return "\n".join(lines)


def _rows(plot: Plot) -> list[PlotRow]:
    """Every point, or of too many every second, third and so on."""
    points = plot.lines[0].points
    step = math.ceil(len(points) / MOST_ROWS)
    rows = []
    for number in range(0, len(points), step):
        label = format_value(points[number][0], plot.axis.unit or "1")
        rows.append(PlotRow(label, [line.points[number][1] for line in plot.lines]))
    return rows


def _value_text(plot: Plot, row: PlotRow) -> str:
    """The value of a single line; several would not fit."""
    if len(row.heights) > 1 or row.heights[0] is None:
        return ""
    return format_value(row.heights[0], plot.unit)


def _track(heights: Sequence[float | None], scale: Scale | None, room: int) -> str:
    """The marks of one point: a star for a single line, letters for several."""
    track = [" "] * room
    for number, height in enumerate(heights):
        if height is None:
            continue
        place = round(scale.at(height)) if scale else room // 2
        if len(heights) == 1:
            track[place] = "*"
        else:
            track[place] = _letter(number) if track[place] == " " else "+"
    return "".join(track)


def _letter(number: int) -> str:
    return chr(ord("a") + number)


def _limits(plot: Plot, low: float, high: float, room: int) -> str:
    """The lowest value on the left, the highest on the right."""
    lowest, highest = format_value(low, plot.unit), format_value(high, plot.unit)
    gap = room - len(lowest) - len(highest)
    # A blank on either side at least.
    middle = _LOGARITHMIC if plot.log and gap > len(_LOGARITHMIC) + 2 else ""
    return f"{lowest}{middle.center(gap)}{highest}"
