"""Time of a product and the message it needs, cut into parts that overlap, for a cost of each."""

from __future__ import annotations

from math import sqrt

from flopbook.errors import FlopbookError
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

PARTS = (1, 2, 3, 4, 6, 8, 9, 12, 16, 24, 32)
COSTS = (0.0, 10e-6, 40e-6)  # seconds that each part adds


def time(product: float, message: float, parts: float, cost: float) -> float:
    """max + min / p + p o: the longer one, the part of the shorter one that shows, and the cost.

    In one part nothing overlaps, and the two take their sum.
    """
    return max(product, message) + min(product, message) / parts + parts * cost


def best(product: float, message: float, cost: float) -> float:
    """The number of parts with the least time, where a part costs something."""
    return sqrt(min(product, message) / cost)


def figure(product: float = 1e-3, message: float = 0.8e-3) -> Figure:
    """A line for each cost of a part, a point at the best number of parts.

    Raises FlopbookError for a product or a message that takes no time.
    """
    if min(product, message) <= 0:
        raise FlopbookError("a product and a message take some time each")
    low, high = max(product, message), (product + message) * 1.08
    chart = Chart(
        ChartAxis("parts", PARTS[0], PARTS[-1]),
        ChartAxis("time of both", 0.95 * low, high, "s", log=False),
        (84, 14, 500, 270),
    )
    named = [
        (
            _name(cost),
            [(float(p), time(product, message, p, cost)) for p in PARTS if _fits(p, cost)],
        )
        for cost in COSTS
    ]
    shapes = [*chart.grid(), chart.level(low, name="the longer of the two"), *chart.lines(named)]
    facts = []
    for number, cost in enumerate(COSTS[1:], 1):
        parts = best(product, message, cost)
        least = time(product, message, parts, cost)
        tip = f"{parts:.1f} parts, {format_quantity(least, 's')}"
        shapes.append(chart.dot(parts, least, tip, f"fb-c{number}", name=f"best of {_name(cost)}"))
        facts.append(f"at {format_quantity(cost, 's')} a part, {tip}")
    return Figure(
        "Cut into parts a message hides; too many parts take back what the first ones gained",
        f"Time of a product of {format_quantity(product, 's')} and a message of "
        f"{format_quantity(message, 's')} over the number of parts. In turn they take "
        f"{format_quantity(product + message, 's')}. Least times: {'; '.join(facts)}.",
        f"A message of {format_quantity(message, 's')} and a product of "
        f"{format_quantity(product, 's')}. "
        "The first cut saves most, because half of the message then hides. With free parts the "
        "time falls towards the longer of the two, the dashed line. Each part costs something, "
        "such as a launch, a latency and a smaller tile, so the curve turns at a square root: four "
        "times the cost, half the parts. Around the point it is flat.",
        312,
        tuple(shapes),
        plots=(chart,),
    )


def _fits(parts: int, cost: float) -> bool:
    """Whether a point is drawn: beyond 16 dear parts the line would leave the picture."""
    return parts * cost <= 16 * COSTS[-1]


def _name(cost: float) -> str:
    return f"{format_quantity(cost, 's')} a part" if cost else "free parts"
