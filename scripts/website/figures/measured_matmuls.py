"""Products of matrices that were timed on one chip, under its printed roof."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from flopbook.hardware.chip import chip
from flopbook.prediction.reached import reached_runs
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

CHIP, ROWS = "nvidia/h100-sxm", "H100-SXM-80GB"  # as entries and as runs call it
SQUARE, NARROW = (1024, 1024, 1024), (128, 8192, 8192)
LARGER = (2048, 4096, 16384)  # sides of further cubes that are named
_MEGA = 1e12


class TimedProduct(NamedTuple):
    """Rows, columns and inner side of a product in bf16, and the rate that it reached."""

    sides: tuple[int, ...]
    rate: float
    source: str

    @property
    def intensity(self) -> float:
        """Operations for each byte, if each matrix crosses the bus once."""
        return 1 / sum(1 / side for side in self.sides)

    @property
    def allowed(self) -> float:
        """The rate that the printed roof allows."""
        device = chip(CHIP)
        return min(self.intensity * device.memory_bandwidth(), device.peak("bf16"))

    @property
    def seconds(self) -> float:
        """How long it took."""
        return 2 * prod(self.sides) / self.rate


def products() -> list[TimedProduct]:
    """All products in bf16 whose sides are known, from the lowest intensity on."""
    found = [
        TimedProduct(
            tuple(int(side) for side in run.row.run["matmul_shape_mxnxk"].split("x")),
            _MEGA * run.row.measured["matmul_tflops_per_s"],
            run.source.source,
        )
        for run in reached_runs()
        if run.row.kind == "matmul_peak"
        and run.row.hardware["chip"] == ROWS
        and run.row.run.get("precision") == "bf16"
        and "matmul_shape_mxnxk" in run.row.run
        and not run.row.flags
    ]
    return sorted(found, key=lambda product: product.intensity)


def product(sides: tuple[int, ...]) -> TimedProduct:
    """The fastest product with these sides. Raises ValueError without any."""
    return max((one for one in products() if one.sides == sides), key=lambda one: one.rate)


def flat() -> list[float]:
    """Shares of the printed peak that all products reach but the narrow and the small one."""
    peak = chip(CHIP).peak("bf16")
    return [one.rate / peak for one in products() if one.sides not in (SQUARE, NARROW)]


def figure() -> Figure:
    """The printed roof, and a point for each product."""
    device, found = chip(CHIP), products()
    peak, bandwidth = device.peak("bf16"), device.memory_bandwidth()
    low, high = 60.0, 1e4
    chart = Chart(
        ChartAxis("operations for each byte", low, high),
        ChartAxis("rate in bf16", 1e14, 2e15, "FLOP/s"),
        (108, 14, 616, 280),
    )
    roof = [(low, low * bandwidth), (peak / bandwidth, peak), (high, peak)]
    shapes = [*chart.grid(), chart.line(roof, 0, f"printed roof of {device.name}")]
    for one in found:
        name = " by ".join(f"{side:,}" for side in one.sides)
        tip = f"{name}: {format_quantity(one.rate, 'FLOP/s')}, {percent(one.rate / one.allowed)}"
        shapes.append(chart.dot(one.intensity, one.rate, tip, "fb-c6", 4, "measured"))
    narrow, square = product(NARROW), product(SQUARE)
    for one, words in ((narrow, f"{NARROW[0]} rows"), (square, f"{SQUARE[0]:,} cubed")):
        shapes.append(chart.words((one.intensity, one.rate), words))
    for side in LARGER:
        one = product((side, side, side))
        shapes.append(chart.words((one.intensity, one.rate), f"{side:,}", "middle", (0, 18)))
    finding = (
        f"A product of {NARROW[0]} rows reaches {percent(narrow.rate / narrow.allowed)} of its "
        f"roof, {SQUARE[0]:,} cubed {percent(square.rate / square.allowed)}"
    )
    return Figure(
        finding,
        f"{len(found)} products in bf16 on {device.name}, both axes logarithmic. {finding}; all "
        f"others reach {percent(min(flat()))} to {percent(max(flat()))} of the flat part.",
        f"Products in bf16 on {device.name} under its printed roof. Intensity "
        "counts each matrix once over the bus. A number alone is the side of a cube. Right of the "
        "ridge a product may be short of work all the same, if it is small.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
