"""Bandwidth by the number of threads that wait for memory: measured, and by Little's law."""

from __future__ import annotations

from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.measured.microbenchmarks import level_latency, record, sweep

BYTES = 8  # each thread waits for one number of 8 bytes at a time


def by_law(threads: float) -> float:
    """Bytes per second of threads that each wait for one number for the whole latency."""
    return threads * BYTES / level_latency("memory")


def figure() -> Figure:
    """Points as measured, and two lines that bound them: the law, and what is printed."""
    measured = sweep("threads")
    device = chip(measured.chip)
    bandwidth = device.memory_bandwidth()
    most = measured.rows[-1][0]
    chart = Chart(
        ChartAxis("threads in flight", 0, 1.05 * most, log=False),
        ChartAxis("rate", 0, 1.15 * bandwidth, "byte/s", log=False),
        (96, 14, 610, 280),
    )
    full = bandwidth * level_latency("memory") / BYTES
    law = [(0.0, 0.0), (full, bandwidth)]
    shapes = [
        *chart.grid(),
        chart.line(law, name="by the law"),
        chart.level(bandwidth, name="printed"),
    ]
    shapes.append(
        chart.words((full / 4, bandwidth / 4), "threads times bytes over latency", shift=(12, 10))
    )
    shapes.append(chart.words((0.0, bandwidth), "printed", shift=(8, -7)))
    shapes.append(chart.words(measured.pairs()[-1], "measured", "end", (0, 20)))
    for threads, rate in measured.pairs():
        tip = f"{threads:,.0f} threads: {format_quantity(rate, 'byte/s')}"
        shapes.append(chart.dot(threads, rate, tip, "fb-c6", 3.5, "measured"))
    nanoseconds = 1e9 * level_latency("memory")
    half = next(threads for threads, rate in measured.pairs() if rate > bandwidth / 2)
    return Figure(
        f"Half of the bandwidth takes {half:,.0f} threads in flight, the other half more than that",
        f"Reading on {device.name}: rate against threads, each of which waits for one number of "
        f"{BYTES} bytes. The line is threads times bytes over the latency of {nanoseconds:.0f} ns. "
        f"Half of {format_quantity(bandwidth, 'byte/s')} is reached at {half:,.0f} threads.",
        f"Measured on {device.name}, with a latency of {nanoseconds:.0f} ns. Each thread asks for "
        f"one number of {BYTES} bytes and waits. At first the rate is about what the law says, "
        "bytes in flight over the latency; the points lie above it, since the line takes scattered "
        "reads and these run through memory in order. Near the printed rate requests queue, and "
        "the points fall below.",
        326,
        tuple(shapes),
        plots=(chart,),
        source=record()["source"],
    )
