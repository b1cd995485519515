"""A chart with a line of points for each chip, and a bar at their middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flopbook.drawing.scales import Scale
from flopbook.prediction.reached import Reached
from scripts.website.figures.drawing import box, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.reached_points import MARKS, legend, point
from scripts.website.pages.reached import what

_LEFT, _RIGHT, _TOP, _LINE = 190.0, 616.0, 12.0, 22.0
_LETTER = 6.2  # width of one in a name, on average
_TICKS = (0, 20, 40, 60, 80, 100)


class LineOfRuns(NamedTuple):
    """A name, its runs, and the share at which its bar stands."""

    name: str
    runs: Sequence[Reached]
    middle: float


def run_readings(lines: Sequence[LineOfRuns]) -> tuple[FigureValue, ...]:
    """The share of each run, under the name of its line."""
    return tuple(
        FigureValue(line.name, what(run.row), run.rate.share or 0, "percent")
        for line in lines
        for run in line.runs
    )


def row_chart(
    lines: Sequence[LineOfRuns], title: str, count: int = len(MARKS)
) -> tuple[tuple[str, ...], float]:
    """The shapes of such a chart in percent, and its height; `count` marks are explained."""
    names = [f"{line.name} ({len(line.runs)})" for line in lines]
    left = max(_LEFT, 14 + _LETTER * max(map(len, names), default=0))
    scale = Scale(0, 100, left, _RIGHT, log=False)
    bottom = _TOP + _LINE * len(lines)
    shapes = []
    for tick in _TICKS:
        x = scale.at(tick)
        shapes += [path([(x, _TOP), (x, bottom)], "fb-grid"), words(x, bottom + 16, str(tick))]
    for number, line in enumerate(lines):
        y = _TOP + _LINE * (number + 0.5)
        shapes.append(words(left - 8, y + 4, names[number], "end"))
        shapes.append(box(scale.at(100 * line.middle) - 1.5, y - 9, 3, 18, "fb-c5"))
        shapes += [
            point(run, (scale.at(min(100 * (run.rate.share or 0), 100)), y)) for run in line.runs
        ]
    shapes.append(words((left + _RIGHT) / 2, bottom + 36, title))
    shapes += legend(bottom + 60, 110, count)
    return tuple(shapes), bottom + 74
