"""What a pair of numbers costs three loops, by where their lists lie, as measured."""

from __future__ import annotations

from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point
from scripts.website.measured.loop_timings import NANO, recorded

# Names of the record, and what its loops do.
LOOPS = (
    ("fractions", "fractions, one sum"),
    ("whole", "whole numbers, one sum"),
    ("eight", "fractions, 64 sums"),
)


# Bytes of the caches of the core that was timed, and their names.
CACHES = ((48 * 2.0**10, "first cache"), (2.0**20, "second"), (32 * 2.0**20, "third"))


def times(loop: str) -> list[Point]:
    """Bytes of both lists, and seconds of a pair, from the smallest lists on."""
    rows = recorded()["ns"]
    return [(float(size), NANO * float(time)) for name, size, time in rows if name == loop]


def gain(place: int) -> float:
    """How many times as fast 64 sums are as one sum, in the cache of this number."""
    return times("fractions")[place][1] / times("eight")[place][1]


def figure() -> Figure:
    """A line for each loop over the size of its lists."""
    chart = Chart(
        ChartAxis("size of both lists together", 4e3, 1e9, "byte"),
        ChartAxis("time of a pair", 2e-11, 1e-9, "s"),
        (92, 26, 450, 280),
    )
    named = [(words, times(name)) for name, words in LOOPS]
    shapes = [*chart.grid(), *chart.lines(named)]
    for number, (words, points) in enumerate(named):
        for size, time in points:
            told = f"{words}: {format_quantity(time, 's')} at {format_quantity(size, 'byte')}"
            shapes.append(chart.dot(size, time, told, f"fb-c{number}"))
    for size, name in CACHES:
        shapes.append(chart.upright(size, name))
        shapes.append(chart.words((size, 1e-9), name, "middle", (0, -8)))
    facts = "; ".join(
        f"{words}: " + ", ".join(format_quantity(time, "s") for _, time in points)
        for words, points in named
    )
    return Figure(
        f"Close by, the fast loop is {gain(0):.0f} times as fast as the slow one; from main memory "
        f"{gain(-1):.1f} times",
        f"Time of a pair, lists in the first, second and third cache and in main memory. {facts}.",
        "Dashed: the size of each cache; the points right of all three lie in main memory. Two of "
        "the loops wait for their own arithmetic and do not notice where the lists are. The third "
        "is fast enough to wait for the memory instead, so it loses most of its lead there.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
