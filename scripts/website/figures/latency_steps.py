"""How long one read takes, by the size of what is read at random: the steps of the memories."""

from __future__ import annotations

from flopbook.hardware.chip import chip
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.measured.microbenchmarks import level_latency, record, sweep

# How the figure calls the levels, and where the words stand: sizes in bytes, their side, and
# pixels below the line. The first step is short, so its name stands beyond the rise.
NAMES = (
    ("near", "beside the SM", 4e5, "start", 4),
    ("cache", "second-level cache", 3e6, "middle", -12),
    ("memory", "main memory", 3e8, "middle", -12),
)


def figure() -> Figure:
    """One rising line with a name at each of its three steps."""
    measured = sweep("latency")
    chart = Chart(
        ChartAxis("bytes that are read at random", 4e3, 2e9, "byte"),
        ChartAxis("cycles for one read", 0, 800, log=False),
    )
    points = [pair for pair in measured.pairs() if pair[0] <= 2e9]
    shapes = [*chart.grid(), chart.line(points, 0, "cycles")]
    facts = []
    for level, name, size, side, below in NAMES:
        seconds = level_latency(level)
        cycles = seconds * measured.clock
        shapes.append(chart.words((size, cycles), f"{name}: {cycles:.0f}", side, (0, below)))
        facts.append(f"{name} {cycles:.0f} cycles, {1e9 * seconds:.0f} ns")
    ratio = level_latency("memory") / level_latency("near")
    return Figure(
        f"A read from main memory takes {ratio:.0f} times as long as one beside the SM",
        f"{chip(measured.chip).name}: cycles for one read against the size of what is read, "
        f"logarithmic to the right. {'; '.join(facts)}.",
        "One warp follows a chain of addresses through more and more data. As long as they fit "
        "beside the SM a read takes some tens of cycles. The step within the cache is its far "
        "half.",
        336,
        tuple(shapes),
        plots=(chart,),
        source=record()["source"],
    )
