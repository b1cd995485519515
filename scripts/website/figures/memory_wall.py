"""The memory wall in numbers: what grew in accelerators and in memory chips, over a first one."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.library import load_entry
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_row
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, words
from scripts.website.figures.plotted import ChartAxis
from scripts.website.pages.quantities import cells, shown_claims, value_of

CHIPS = ("nvidia/v100-sxm2", "nvidia/a100-sxm-40gb", "nvidia/h100-sxm", "nvidia/b200")
YEARS = (1999, 2006, 2010, 2018, 2021)  # of the memory chips in the ledger


class Series(NamedTuple):
    """A quantity over the years, relative to the first one."""

    name: str
    points: list[tuple[float, float]]


def accelerators() -> list[Series]:
    """Peak in 16 bits, links, bandwidth and size of the memory of the chips, over the first's."""
    chips = [chip(name) for name in CHIPS]
    years = []
    for name in CHIPS:
        entry = load_entry(name)
        years.append(float(value_of(cells(entry, shown_claims(entry)), "date") or 0))
    values = {
        "FLOP/s": [device.peak("fp16") for device in chips],
        "links": [device.scaleup_bandwidth() for device in chips],
        "bandwidth": [device.memory_bandwidth() for device in chips],
        "size": [device.memory() for device in chips],
    }
    return [
        Series(name, [(y, v / values[name][0]) for y, v in zip(years, values[name], strict=True)])
        for name in values
    ]


def memory_chips() -> list[Series]:
    """Capacity of a chip, rate of a pin, speed of access (one over latency), over the first."""

    def stated(kind: str, year: int) -> float:
        return float(ledger_row(f"dram-{kind}-{year}").stated.value or 0)

    grown = [
        Series(name, [(float(y), stated(kind, y) / stated(kind, YEARS[0])) for y in YEARS])
        for name, kind in (("capacity", "capacity"), ("rate of a pin", "rate"))
    ]
    speed = [(float(y), stated("latency", YEARS[0]) / stated("latency", y)) for y in YEARS]
    return [*grown, Series("speed of access", speed)]


def figure() -> Figure:
    """Two panels on logarithmic axes."""
    panels = (
        ("accelerators", accelerators(), (2017, 2025), (66, 30, 250, 250), 40),
        ("memory chips (DRAM)", memory_chips(), (1999, 2022), (386, 30, 540, 250), 100),
    )
    shapes, facts, charts = [], [], list[Chart]()
    for title, series, (low, high), frame, most in panels:
        chart = Chart(
            ChartAxis("year", low, high, "", log=False),
            ChartAxis("times the first", 0.8, most, ""),
            frame,
        )
        shapes += [*chart.grid(), words((frame[0] + frame[2]) / 2, 18, title, kind="fb-strong")]
        for number, quantity in enumerate(series):
            shapes.append(chart.line(quantity.points, number))
            shapes += [
                chart.dot(x, y, f"{quantity.name}: {y:.3g} times", "fb-c5")
                for x, y in quantity.points
            ]
        shapes += chart.names(series)
        chart.title = title
        charts.append(chart)
        facts.append(
            f"{title}: "
            + ", ".join(
                f"{quantity.name} {quantity.points[-1][1]:.3g} times" for quantity in series
            )
        )
    names = ", ".join(chip(name).name for name in CHIPS)
    return Figure(
        "Arithmetic outgrows bandwidth and size, and the wait hardly shrinks",
        f"Both axes of values logarithmic. {'; '.join(facts)}.",
        f"Accelerators: {names}, each relative to the first. Memory chips: of 1999 to 2021, from "
        "their data sheets. The wait for a first byte is nearly what it was.",
        298,
        tuple(shapes),
        plots=tuple(charts),
    )
