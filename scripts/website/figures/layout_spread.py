"""How the predicted steps of all layouts that fit are spread, for one run on one cluster."""

from __future__ import annotations

import functools
from typing import NamedTuple

from flopbook.planning.planner import plan
from flopbook.planning.question import question_of
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point
from scripts.website.figures.step_budget import RUN, budgets

_MOST = 10**6  # more layouts than any search here finds
_BIN, _END = 1.08, 100.0  # factor from one bin to the next, and the last step that is drawn
NEAR = 1.1


class LayoutSpread(NamedTuple):
    """The steps of all layouts that fit, in seconds, and how many were looked at."""

    seconds: tuple[float, ...]
    considered: int

    @property
    def best(self) -> float:
        """The shortest step."""
        return self.seconds[0]

    @property
    def median(self) -> float:
        """The step in the middle."""
        return self.seconds[len(self.seconds) // 2]

    @property
    def near(self) -> int:
        """How many layouts come within a tenth of the best."""
        return sum(seconds <= NEAR * self.best for seconds in self.seconds)


@functools.cache
def layout_spread() -> LayoutSpread:
    """All layouts of the run that the chapter on configurations opens with, in every option."""
    asked = {name: value for name, value in RUN.items() if name != "micro_batch"}
    found = plan(question_of(asked), _MOST)
    return LayoutSpread(tuple(sorted(one.seconds for one in found.layouts)), found.considered)


def bins(spread: LayoutSpread) -> list[Point]:
    """The outline of a histogram: where each bin begins and ends, and the layouts in it."""
    outline: list[Point] = []
    low = spread.best
    while low < _END:
        high = low * _BIN
        inside = sum(low <= seconds < high for seconds in spread.seconds)
        outline += [(low, float(inside)), (min(high, _END), float(inside))]
        low = high
    return outline


def figure() -> Figure:
    """The outline of the histogram, with the four layouts of the chapter on it."""
    spread = layout_spread()
    outline = bins(spread)
    highest = max(count for _, count in outline)
    chart = Chart(
        ChartAxis("predicted step", 7, _END, "s", ticks=(8, 10, 15, 20, 30, 50, 100)),
        ChartAxis("layouts", 0, 1.12 * highest, "", log=False),
        (84, 14, 616, 270),
    )
    shapes = [*chart.grid(), chart.line([(spread.best, 0), *outline], 0, "layouts that fit")]
    shapes.append(chart.upright(NEAR * spread.best, "a tenth above the best"))
    for number, budget in enumerate(budgets("choice"), start=1):
        count = next(inside for low, inside in reversed(outline) if low <= budget.seconds)
        taken = format_quantity(float(f"{budget.seconds:.3g}"), "s")
        tip = f"{budget.name}: {taken}"
        shapes.append(chart.dot(budget.seconds, count, tip, "fb-c1", name="the four of the table"))
        beside = ("start", (7.0, 5.0)) if number in (2, 4) else ("end", (-7.0, -5.0))
        shapes.append(chart.words((budget.seconds, count), f"{number}", *beside))
    shapes.append(chart.upright(spread.median, "the median", "fb-stroke"))
    shapes.append(chart.words((spread.median, 1.06 * highest), "the median", "start", (8, 4)))
    beyond = (NEAR * spread.best, 1.06 * highest)
    shapes.append(
        chart.words(beyond, f"\N{LEFTWARDS ARROW} {spread.near} within a tenth", "start", (6, 4))
    )
    late = sum(seconds >= _END for seconds in spread.seconds)
    *places, last = (f"{place_of(budget.seconds):,}" for budget in budgets("choice"))
    return Figure(
        f"Of {len(spread.seconds):,} layouts that fit, {spread.near} come within a tenth of the "
        f"best, and the median takes {spread.median / spread.best:.1f} times as long",
        f"Predicted steps of {len(spread.seconds):,} layouts that fit, of {spread.considered:,} "
        f"considered. The best takes {spread.best:.1f} s, the median {spread.median:.1f} s.",
        "Every division of 512 H100 for Llama 3 70B with every number of chunks, micro-batch, ZeRO "
        f"stage and recomputation that the planner knows, in bins of {percent(_BIN - 1)}. The "
        "points are the numbered lines of the table above, in places "
        f"{', '.join(places)} and {last}. {late:,} layouts lie beyond the right edge.",
        312,
        tuple(shapes),
        plots=(chart,),
    )


def place_of(seconds: float) -> int:
    """How many layouts are as fast as a step of this length or faster."""
    return sum(one <= seconds * (1 + 1e-9) for one in layout_spread().seconds)
