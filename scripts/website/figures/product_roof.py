"""Matrix products of several shapes as measured on one GPU, under its printed roof."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.prediction.reached import Reached
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, key
from scripts.website.figures.plotted import ChartAxis
from scripts.website.pages.reached import shown_runs

CHIP, DTYPE = "nvidia/h100-sxm", "bf16"
TILE = 128, 256  # rows and columns of the result that an SM works on
_LOW, _HIGH = 80.0, 8000.0  # operations for each byte


class MeasuredProduct(NamedTuple):
    """A product of [m, k] and [k, n] and the operations per second that it reached."""

    m: int
    n: int
    k: int
    rate: float

    @property
    def is_square(self) -> bool:
        """Whether all three sides are the same."""
        return self.m == self.n == self.k

    @property
    def intensity(self) -> float:
        """Operations for each byte, every matrix counted once."""
        found = calculate("arithmetic-intensity", m=self.m, n=self.n, k=self.k, chip=CHIP)
        return float(found["intensity"])

    @property
    def shape(self) -> str:
        """Its sides as words."""
        return f"{self.m:,} × {self.n:,} × {self.k:,}"


def products() -> list[MeasuredProduct]:
    """The undoubted measured products of the chip in the format, by intensity."""
    found = [
        _product(run)
        for run in shown_runs()
        if run.row.kind == "matmul_peak"
        and (run.chip, run.format) == (CHIP, DTYPE)
        and not run.row.flags
    ]
    return sorted(found, key=lambda one: (one.intensity, one.rate))


def _product(run: Reached) -> MeasuredProduct:
    m, n, k = (int(side) for side in str(run.row.run["matmul_shape_mxnxk"]).split("x"))
    return MeasuredProduct(m, n, k, run.rate.value or 0.0)


def roof(intensity: float) -> float:
    """The printed limit at so many operations for each byte."""
    device = chip(CHIP)
    return min(intensity * device.memory_bandwidth(), device.peak(DTYPE))


def tiles(product: MeasuredProduct) -> float:
    """Tiles of the usual size that its result is cut into."""
    return ceil(product.m / TILE[0]) * ceil(product.n / TILE[1])


def figure() -> Figure:
    """The roof, and a point for each product."""
    device, measured = chip(CHIP), products()
    small, next_larger = sorted({one.m: one for one in measured if one.is_square}.items())[:2]
    thin = measured[0]
    chart = Chart(
        ChartAxis("operations for each byte", _LOW, _HIGH),
        ChartAxis("rate in bf16", 0, 1.1e15, "FLOP/s", log=False),
        (108, 14, 616, 280),
    )
    ridge = device.peak(DTYPE) / device.memory_bandwidth()
    slope = [_LOW * (ridge / _LOW) ** (number / 16) for number in range(17)]
    line = [(at, roof(at)) for at in (*slope, _HIGH)]
    shapes = [*chart.grid(), chart.line(line, 0, f"printed roof of {device.name}")]
    for one in measured:
        tip = f"{one.shape}: {format_quantity(one.rate, 'FLOP/s')}, {_share(one)} of the roof"
        style, name = ("fb-c0", "square") if one.is_square else ("fb-c6", "other shapes")
        shapes.append(chart.dot(one.intensity, one.rate, tip, style, 4.5, name))
    named = (
        (thin, f"{thin.m:,} rows", (10, 12)),
        (small[1], f"square of {small[0]:,}", (10, 4)),
        (next_larger[1], f"{next_larger[0]:,}", (8, 14)),
    )
    for one, text, shift in named:
        shapes.append(chart.words((one.intensity, one.rate), text, shift=shift))
    shapes += [*key(330, 256, "square", "fb-c0"), *key(430, 256, "other shapes", "fb-c6")]
    facts = "; ".join(
        f"{one.shape} {format_quantity(one.rate, 'FLOP/s')}, {_share(one)}" for one in measured
    )
    return Figure(
        f"Beyond the ridge a square product of {small[0]:,} reaches {_share(small[1])} of the "
        f"roof, one of {next_larger[0]:,} {_share(next_larger[1])}",
        f"Operations for each byte on a logarithmic axis; shares are of the roof. {facts}.",
        f"{len(measured)} products in bf16 on {device.name}, each timed by its publisher, under "
        f"the printed roof with its ridge at {ridge:.0f}. The rows share weights of "
        f"{thin.n:,} × {thin.k:,}. Cut into tiles of {TILE[0]} × {TILE[1]} results, the smallest "
        f"square has {tiles(small[1]):g} for {_sms():g} SMs, and most of the chip is idle; the "
        f"next has {tiles(next_larger[1]):g}.",
        326,
        tuple(shapes),
        plots=(chart,),
    )


def _share(product: MeasuredProduct) -> str:
    return percent(product.rate / roof(product.intensity))


def _sms() -> float:
    claims = load_entry(CHIP).claims
    return next(float(c.si_value or 0) for c in claims if c.name == "streaming multiprocessors")
