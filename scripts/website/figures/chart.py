"""A frame for figures that plot values: two scales, a grid with labels, lines, points and bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flopbook.drawing.scales import LETTER, Scale
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import dot, path, words


@dataclass(frozen=True, slots=True)
class Axis:
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
        plain = (
            f"{value:,g}" if self.log else f"{value:g}"
        )  # years, on a linear axis, go without a comma
        return plain.replace("e+0", "e").replace("e+", "e")


MOST_TICKS = 7
EDGE = 12.0  # the least place of the words that stand upright beside an axis: a line of text


class Chart:
    """A plot inside a picture. `frame` is left, top, right and bottom of the plotted area."""

    def __init__(
        self, across: Axis, up: Axis, frame: tuple[float, float, float, float] = (84, 14, 616, 290)
    ) -> None:
        left, top, right, bottom = frame
        self.frame, self._axes = frame, (across, up)
        self.x = Scale(across.low, across.high, left, right, across.log)
        self.y = Scale(up.low, up.high, bottom, top, up.log)

    def grid(self) -> list[str]:
        """Lines and labels at round values, and what the axes are."""
        left, top, right, bottom = self.frame
        across, up = self._axes
        parts = []
        for value in _few(self.x.round_ticks()):
            at = self.x.at(value)
            parts += [
                path([(at, top), (at, bottom)], "fb-grid"),
                words(at, bottom + 16, across.tick(value)),
            ]
        room = 58.0
        for value in _few(self.y.round_ticks()):
            at, label = self.y.at(value), up.tick(value)
            room = max(room, LETTER * len(label) + 14)
            parts += [
                path([(left, at), (right, at)], "fb-grid"),
                words(left - 6, at + 4, label, "end"),
            ]
        parts.append(words((left + right) / 2, bottom + 36, across.label))
        middle, at = (
            (top + bottom) / 2,
            max(left - room, EDGE),
        )  # else it is cut at the edge of the picture
        return [
            *parts,
            f'<g transform="translate({at:g} {middle:g}) rotate(-90)">{words(0, 0, up.label)}</g>',
        ]

    def line(self, points: Sequence[tuple[float, float]], number: int = 0) -> str:
        """A line in one of four colours, each with its own dashes."""
        return path([(self.x.at(x), self.y.at(y)) for x, y in points], f"fb-line{number}")

    def dot(self, x: float, y: float, tip: str, kind: str = "fb-c0", radius: float = 4) -> str:
        """A point with what a pointer shows; `radius` is in pixels."""
        return dot(self.x.at(x), self.y.at(y), kind, tip, radius)

    def words(
        self,
        place: tuple[float, float],
        text: str,
        anchor: str = "start",
        shift: tuple[float, float] = (8, 4),
    ) -> str:
        """Text beside a point of the plot; `shift` is in pixels."""
        return words(self.x.at(place[0]) + shift[0], self.y.at(place[1]) + shift[1], text, anchor)

    def names(self, lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> list[str]:
        """The name of each line right of its last point, moved down where two would touch."""
        ends = sorted(
            (self.y.at(points[-1][1]) + 4, self.x.at(points[-1][0]) + 6, name)
            for name, points in lines
        )
        parts, least = [], 0.0
        for y, x, name in ends:
            least = max(y, least + 14)
            parts.append(words(x, least, name, "start"))
        return parts


def _few(ticks: list[float]) -> list[float]:
    """Every second or third tick where all of them would touch."""
    return ticks[:: -(-len(ticks) // MOST_TICKS)]
