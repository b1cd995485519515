"""What a chart keeps of itself: its axes, and the values that are drawn in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from flopbook.quantities.units import format_quantity, percent

Point = tuple[float, float]
MARK = 8.0  # pixels from one mark to the next where both can be seen


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """What an axis shows: its words, its ends, the unit of its values (empty for plain numbers)."""

    label: str
    low: float
    high: float
    unit: str = "1"
    log: bool = True
    ticks: tuple[float, ...] = ()  # where round values would miss the points

    def tick(self, value: float) -> str:
        """A value as it stands at the axis."""
        if self.unit:
            return format_quantity(value, self.unit)
        # years, on a linear axis, go without a comma
        plain = f"{value:,g}" if self.log else f"{value:g}"
        return plain.replace("e+0", "e").replace("e+", "e")


@dataclass(slots=True)
class PlotSeries:
    """Values that belong together: a line, marks of one kind, or one line across the plot.

    `kind` is line, mark, level or upright, `style` the class of the style sheet that it is drawn
    in. `tips` are what a pointer shows at marks; the points of a line are told by their values.
    """

    kind: str
    style: str
    name: str = ""
    points: list[Point] = field(default_factory=list)
    tips: list[str] = field(default_factory=list)


class FigureValue(NamedTuple):
    """A value that a shape of a diagram stands for: what it is part of, its name and its size.

    Its unit is that of `value` and `start`, or percent for a share; a bar of a timeline has a
    start.
    """

    group: str
    name: str
    value: float
    unit: str = "1"
    start: float | None = None

    @property
    def shown(self) -> str:
        """The value as a pointer shows it."""
        if self.unit == "percent":
            return percent(self.value, 1)
        return format_quantity(self.value, self.unit)


class Plotted(Protocol):
    """A chart as its file of values and its sheet for narrow screens see it."""

    across: ChartAxis
    up: ChartAxis
    series: list[PlotSeries]
    labels: list[tuple[Point, str]]
    title: str
    hollow: str  # what marks without a fill mean
    is_apart: bool  # whether marks move up and down until each is in sight
