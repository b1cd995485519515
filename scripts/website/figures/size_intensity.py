"""Arithmetic intensity of products by their size: dot product, matrix-vector, skinny, square."""

from __future__ import annotations

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, words
from scripts.website.figures.plotted import ChartAxis

CHIP = "nvidia/h100-sxm"
ROWS = 64  # of the skinny matrix
_SIZES = tuple(2.0**power for power in range(1, 15))


def lines() -> list[tuple[str, list[tuple[float, float]]]]:
    """Intensity in bf16 by the side n, from the calculator."""
    return [
        ("square", [(n, _intensity(n, n, n)) for n in _SIZES]),
        (f"{ROWS} rows", [(n, _intensity(float(ROWS), n, n)) for n in _SIZES]),
        ("vector", [(n, _intensity(1.0, n, n)) for n in _SIZES]),
        ("dot product", [(n, _intensity(1.0, n, 1.0)) for n in _SIZES]),
    ]


def _intensity(m: float, k: float, n: float) -> float:
    return float(calculate("arithmetic-intensity", m=m, k=k, n=n, chip=CHIP)["intensity"])


def figure() -> Figure:
    """Four lines and the ridge point of a chip; above it matrices are large enough."""
    device, by_kind = chip(CHIP), lines()
    ridge = device.peak("bf16") / device.memory_bandwidth()
    chart = Chart(
        ChartAxis("side n of the matrix", _SIZES[0], _SIZES[-1], ""),
        ChartAxis("FLOP for each byte", 0.2, 1e4, ""),
        (84, 14, 520, 290),
    )
    label = f"ridge point of {device.name}: {ridge:,.0f}"
    shapes = [*chart.grid(), *chart.lines(by_kind), chart.level(ridge, name=label)]
    shapes.append(words(90, chart.y.at(ridge) - 6, label, "start"))
    shapes.append(chart.dot(3 * ridge, ridge, f"square matrices from n = {3 * ridge:,.0f}"))
    facts = "; ".join(f"{name} reaches {points[-1][1]:,.3g}" for name, points in by_kind)
    return Figure(
        f"Square products of bf16 pass the ridge at a side of {3 * ridge:,.0f}",
        f"Both axes logarithmic, sides up to {_SIZES[-1]:,.0f}. {facts}. Square matrices cross the "
        f"ridge at n = {3 * ridge:,.0f}.",
        "Products in bf16 with an n × n matrix. Square: n / 3, without end. With 64 rows the line "
        "bends and stops at 64; a vector stops at 1, a dot product at one half. Only a product "
        "whose smallest side grows gets over the ridge.",
        334,
        tuple(shapes),
        plots=(chart,),
    )
