"""Power of one kernel by its operations for each byte: measured, and as three parts."""

from __future__ import annotations

from flopbook.hardware.chip import chip
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.measured.energy import TERA, power_parts
from scripts.website.measured.microbenchmarks import record, sweep


def figure() -> Figure:
    """A line for what is always drawn, one with memory, one with all, and a point for each row."""
    measured, parts = sweep("roofline"), power_parts()
    chart = Chart(
        ChartAxis("operations for each byte", 0.2, 130),
        ChartAxis("power", 0, 750, "W", log=False),
        (84, 14, 516, 280),
    )
    fixed = [(row[0], parts.fixed) for row in measured.rows]
    memory = [(row[0], parts.watts(row[1], 0)) for row in measured.rows]
    all_parts = [(row[0], parts.watts(row[1], row[2])) for row in measured.rows]
    named = [("and arithmetic", all_parts), ("and memory", memory), ("always", fixed)]
    shapes = [*chart.grid(), *chart.lines(named)]
    for intensity, *_, power in measured.rows:
        tip = f"{intensity:g} FLOP for each byte: {power:g} W"
        shapes.append(chart.dot(intensity, power, tip, "fb-c6", 3, "measured"))
    worst = max(
        abs(row[4] - total) for row, (_, total) in zip(measured.rows, all_parts, strict=True)
    )
    device = chip(measured.chip).name
    byte, operation = parts.byte * TERA, parts.operation * TERA
    return Figure(
        f"A byte from main memory takes the energy of {byte / operation:.0f} operations in fp32",
        f"{device}, operations for each byte to the right, logarithmic. {parts.fixed:.0f} W are "
        f"always drawn, {byte:.0f} pJ for each byte and {operation:.1f} pJ for each operation. The "
        f"sum passes all points within {worst:.0f} W.",
        f"The kernel of the measured roofline on {device}, at one clock throughout. Points: power "
        "as its author measured it. Lines: the parts that three constants give, what is always "
        "drawn, the bytes and the operations. Their sum is highest where memory and arithmetic "
        "are both busy.",
        336,
        tuple(shapes),
        plots=(chart,),
        source=record()["source"],
    )
