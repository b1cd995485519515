"""An all-to-all by the number of chips, on two kinds of switches and on a torus."""

from __future__ import annotations

from typing import Any

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

TORUS, NODE, RACK = "google/tpu-v5p", "nvidia/h100-sxm", "nvidia/gb200-gpu"
SENT = 16e6  # bytes that each chip sends to all others together
SIDES = (4, 8, 12, 16, 20)  # of whole cubes
NODES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
RACKS = (8, 18, 36, 72, 144, 288, 576, 1152, 2304, 4608, 8064)
# At the printed rates: what is compared are networks, not libraries.
_PRINTED = {"startup": 0, "ramp": 0, "efficiency": 1}
_LOW, _HIGH = 1e-5, 1e-3


def exchange(name: str, chips: int, **shape: int) -> float:
    """Seconds of an all-to-all in which each of the chips sends SENT bytes."""
    options: dict[str, Any] = {"op": "all-to-all", "bytes": SENT * chips, **shape, **_PRINTED}
    return float(calculate("collective", chip=name, chips=chips, **options)["seconds"])


def on_torus() -> list[Point]:
    """Chips and seconds, for cubes of growing side."""
    return [(side**3, exchange(TORUS, side**3, side_x=side, side_y=side)) for side in SIDES]


def at_switch(name: str, counts: tuple[int, ...]) -> list[Point]:
    """Chips and seconds, within a domain and over several."""
    return [(count, exchange(name, count)) for count in counts]


def figure() -> Figure:
    """Three lines; each switch jumps where its ports end, the torus rises with its side."""
    torus = on_torus()
    lines = [
        (chip(TORUS).name.removeprefix("Google Cloud "), torus),
        ("nodes of 8, H100", at_switch(NODE, NODES)),
        ("racks of 72, GB200", at_switch(RACK, RACKS)),
    ]
    chart = Chart(
        ChartAxis("chips that take part", 8, 1e4, "1"),
        ChartAxis("time of an all-to-all", _LOW, _HIGH, "s"),
        (84, 14, 490, 280),
    )
    shapes = [*chart.grid(), *chart.lines(lines)]
    rack = [seconds for _, seconds in lines[2][1]]
    full = rack[RACKS.index(72)]
    twice, many = rack[RACKS.index(144)] / full, rack[-1] / full
    facts = "; ".join(
        f"{name}: {format_quantity(points[0][1], 's')} on {points[0][0]:,} chips, "
        f"{format_quantity(points[-1][1], 's')} on {points[-1][0]:,}"
        for name, points in lines
    )
    return Figure(
        f"Past a switch an all-to-all takes {twice:.0f} times as long, then {many:.0f}; a torus "
        "slows with its side",
        f"Both axes logarithmic. {facts}.",
        f"Each chip sends {format_quantity(SENT, 'byte')} in all, at printed rates. At a switch "
        "the time hardly changes until its ports end, and jumps there to the rate of the network "
        "cards. On a torus, here cubes of growing side, every doubling of the side doubles it.",
        322,
        tuple(shapes),
        plots=(chart,),
    )
