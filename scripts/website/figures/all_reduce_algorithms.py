"""Time of a small and of a large all-reduce by ring, by trees and in the switches."""

from __future__ import annotations

from math import log2

from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

NODES, GPUS, CARD = 64, 8, 50e9  # nodes of so many GPUs, each with a card of so many bytes/s
# Steps inside a node and between nodes, and the launch, as NCCL's tuning counts them for messages
# with flags (LL): ring and tree. In the switches: one way up, one way down.
LAUNCH = {"ring": 6.6e-6, "trees": 6.8e-6}
INSIDE = {"ring": 1.0e-6, "trees": 0.6e-6}
OUTSIDE = {"ring": 2.7e-6, "trees": 5.0e-6}
LOW, HIGH, POINTS = 3, 10, 29  # powers of ten of the bytes, and points of a line


def latency(algorithm: str, nodes: int = NODES, gpus: int = GPUS) -> float:
    """Seconds for an array without bytes."""
    steps_out = 2.0 * (nodes - 1) if algorithm == "ring" else 2 * log2(nodes)
    steps_in = 2 * (nodes * gpus - 1) - steps_out if algorithm == "ring" else 2 * (gpus - 1)
    return LAUNCH[algorithm] + steps_in * INSIDE[algorithm] + steps_out * OUTSIDE[algorithm]


def seconds(algorithm: str, size: float) -> float:
    """Latency, then twice the array through the cards of a node."""
    return latency(algorithm) + 2 * size / (GPUS * CARD)


def figure() -> Figure:
    """A line for each algorithm, flat where its steps decide."""
    sizes = [10 ** (LOW + (HIGH - LOW) * n / (POINTS - 1)) for n in range(POINTS)]
    chart = Chart(
        ChartAxis("bytes of the whole array", 10.0**LOW, 10.0**HIGH, "byte"),
        ChartAxis("time", 2e-5, 2e-1, "s"),
        (84, 14, 616, 270),
    )
    shapes, facts = chart.grid(), []
    for number, name in enumerate(("trees", "ring")):
        shapes.append(chart.line([(size, seconds(name, size)) for size in sizes], number, name))
        floor = latency(name)
        shapes.append(chart.words((10.0**LOW, floor), name, shift=(8, -7)))
        facts.append(f"{name}: {format_quantity(floor, 's')} for a few bytes")
    ratio = latency("ring") / latency("trees")
    return Figure(
        f"On {NODES} nodes a tree sums a few bytes {ratio:.0f} times as fast as a ring",
        f"Both axes logarithmic. {'; '.join(facts)}. From about a gigabyte on both take the same.",
        f"{NODES} nodes of {GPUS} GPUs with a card of {format_quantity(CARD, 'byte/s')} each. "
        "Steps of both as NCCL counts them, bytes at the rate of the cards; on the right a real "
        "tree is somewhat slower, and the library changes over to the ring.",
        312,
        tuple(shapes),
        plots=(chart,),
        source="nvidia2026nccl",
    )
