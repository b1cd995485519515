"""The frame of a plot: two axes with their round ticks, the grid, and names at the ends of lines.

Every plot of the package stands in this frame. A picture decides what its axes show, and draws its
lines and points at `Frame.at`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flopbook.drawing.markup import escape
from flopbook.drawing.scales import Scale

NAME_LINE = 14  # pixels between the names of two lines that end close to each other


class PlotAxis(NamedTuple):
    """What one side of a plot shows: a scale, its ticks as value and text, and a title."""

    scale: Scale
    ticks: Sequence[tuple[float, str]]
    title: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A plot between two axes; the distances to what is written outside of it are in pixels."""

    across: PlotAxis
    up: PlotAxis
    tick_drop: float = 16  # from the lower edge to the baseline of the ticks
    tick_gap: float = 6  # from the left edge to the end of the ticks
    title_drop: float = 38  # from the lower edge to the baseline of the title
    title_left: float = 14  # from the left edge of the picture to the upright title

    @property
    def x(self) -> Scale:
        """The scale to the right."""
        return self.across.scale

    @property
    def y(self) -> Scale:
        """The scale upwards: it starts at the bottom, where SVG counts the most pixels."""
        return self.up.scale

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point in the picture."""
        return self.x.at(x), self.y.at(y)

    def grid(self) -> list[str]:
        """A line and a text at each tick of both axes."""
        return [*self._upright_lines(), *self._level_lines()]

    def _upright_lines(self) -> Iterable[str]:
        for value, text in self.across.ticks:
            x = self.x.at(value)
            yield f'<path class="fb-grid" d="M{x} {self.y.end}V{self.y.start}"/>'
            yield (
                f'<text class="fb-tick" x="{x}" y="{self.y.start + self.tick_drop}" '
                f'text-anchor="middle">{escape(text)}</text>'
            )

    def _level_lines(self) -> Iterable[str]:
        for value, text in self.up.ticks:
            y = self.y.at(value)
            yield f'<path class="fb-grid" d="M{self.x.start} {y}H{self.x.end}"/>'
            yield (
                f'<text class="fb-tick" x="{self.x.start - self.tick_gap}" y="{y + 4}" '
                f'text-anchor="end">{escape(text)}</text>'
            )

    def titles(self) -> list[str]:
        """What the two axes are, the upper one turned to run along its axis."""
        middle_x = (self.x.start + self.x.end) / 2
        middle_y = (self.y.start + self.y.end) / 2
        return [
            f'<text class="fb-axis" x="{middle_x}" y="{self.y.start + self.title_drop}" '
            f'text-anchor="middle">{escape(self.across.title)}</text>',
            f'<text class="fb-axis" transform="translate({self.title_left} {middle_y}) '
            f'rotate(-90)" text-anchor="middle">{escape(self.up.title)}</text>',
        ]

    def roof(self, start: float, peak: float, bandwidth: float) -> str:
        """The points of a roof: the slope of a bandwidth from `start` to the ridge, then flat."""
        corners = (
            self.at(start, bandwidth * start),
            self.at(peak / bandwidth, peak),
            self.at(self.x.high, peak),
        )
        return " ".join(f"{x},{y}" for x, y in corners)


def ticks_of(values: Iterable[float], text: Callable[[float], str]) -> list[tuple[float, str]]:
    """Ticks at some values, each with its text."""
    return [(value, text(value)) for value in values]


def powers_of_ten(scale: Scale) -> list[float]:
    """The powers of ten on a logarithmic scale."""
    first, last = math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high))
    return [10.0**power for power in range(first, last + 1)]


def scale_over(values: Sequence[float], start: float, end: float, *, log: bool) -> Scale:
    """A scale that holds all values; a linear one begins at zero unless that wastes half of it."""
    low, high = min(values), max(values)
    if log and low == high:
        return Scale(low / 1.1, high * 1.1, start, end)
    if log:
        return Scale(low, high, start, end)
    if low == high:
        margin = max(1.0, abs(low)) / 2
        low, high = low - margin, high + margin
    if low < 0.5 * high:
        low = min(low, 0.0)
    return Scale(low, high, start, end, log=False)


def side_by_side(places: Sequence[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Places of marks (pixels), moved up or down by as little as keeps each in sight.

    No two are nearer than `gap`; the order of the places decides nothing but who stays.
    """
    found: dict[int, tuple[float, float]] = {}
    for number in sorted(range(len(places)), key=lambda one: places[one]):
        x, y = places[number]
        steps = (y + sign * gap * step for step in itertools.count() for sign in (-1, 1))
        free = (at for at in steps if all(math.dist((x, at), one) >= gap for one in found.values()))
        found[number] = x, round(next(free), 1)
    return [found[number] for number in range(len(places))]


def moved_apart(places: Iterable[float], line: float = NAME_LINE) -> list[float]:
    """Baselines of names at these ascending places, each at least a line below the one before."""
    baselines: list[float] = []
    lowest = -math.inf
    for place in places:
        lowest = max(place, lowest + line)
        baselines.append(lowest)
    return baselines
