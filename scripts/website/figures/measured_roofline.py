"""A roofline that somebody measured: one kernel with more and more operations for each byte."""

from __future__ import annotations

from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.measured.microbenchmarks import record, sweep


def shares() -> tuple[float, float]:
    """The best rates of the sweep over the printed ones: of memory, and of arithmetic in fp32."""
    measured = sweep("roofline")
    device = chip(measured.chip)
    bandwidth = max(row[1] for row in measured.rows) / device.memory_bandwidth()
    return bandwidth, max(row[2] for row in measured.rows) / _peak()


def _peak() -> float:
    return chip(sweep("roofline").chip).peak("fp32", engine="vector")


def figure() -> Figure:
    """The printed roof, and a point for each number of operations."""
    measured = sweep("roofline")
    device = chip(measured.chip)
    peak, bandwidth = _peak(), device.memory_bandwidth()
    chart = Chart(
        ChartAxis("operations for each byte", 0.2, 150),
        ChartAxis("rate in fp32", 5e11, 1e14, "FLOP/s"),
        (108, 14, 616, 280),
    )
    roof = [(0.2, 0.2 * bandwidth), (peak / bandwidth, peak), (150.0, peak)]
    shapes = [*chart.grid(), chart.line(roof, 0, f"printed roof of {device.name}")]
    for intensity, moved, rate, _, power in measured.rows:
        tip = (
            f"{intensity:g} FLOP for each byte: {format_quantity(rate, 'FLOP/s')}, "
            f"{format_quantity(moved, 'byte/s')}, {power:g} W"
        )
        shapes.append(chart.dot(intensity, rate, tip, "fb-c6", 4, "measured"))
    memory, arithmetic = shares()
    hottest = max(measured.rows, key=lambda row: row[4])
    sentence = (
        f"{percent(memory)} of the printed bandwidth on the slope and {percent(arithmetic)} of "
        "the printed peak on the roof"
    )
    return Figure(
        f"Measured: {sentence}",
        f"A kernel of the ordinary units of {device.name}, both axes logarithmic. It reaches "
        f"{sentence}. Most power, {hottest[4]:g} W, is drawn at {hottest[0]:g} operations for each "
        "byte, where memory and arithmetic are both busy.",
        "One kernel, to which more and more multiply-adds in fp32 are given for each number that "
        "it reads. The points follow the shape of the roof and stay below it, furthest at the "
        "ridge. Shortly before it, where memory and arithmetic are both busy, the GPU draws most "
        "power.",
        336,
        tuple(shapes),
        plots=(chart,),
        source=record()["source"],
    )
