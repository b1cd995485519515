"""Power against peak of server chips, with lines of equal work for a joule."""

from __future__ import annotations

from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.scatter import Spot, diagonal, legend, marks, names
from scripts.website.pages.explorer import items
from scripts.website.pages.families import SERVERS, chips, peak16
from scripts.website.pages.quantities import Cell

EFFICIENCIES = (1e11, 3e11, 1e12, 3e12)
_NAMED = (
    "nvidia/h100-sxm",
    "google/tpu-v6e",
    "nvidia/gb300-gpu",
    "amd/mi355x",
    "nvidia/v100-sxm2",
    "google/tpu-v2",
    "nvidia/l4",
    "meta/mtia-500",
    "nvidia/h20",
    "intel/gaudi-3",
)


def spots() -> list[Spot]:
    """Server chips with 16-bit matrix peak and power; hollow where the power is no figure of its maker."""
    found = []
    for item in chips(items(), SERVERS):
        peak, power = peak16(item.cells), item.cells.get("power")
        if peak is not None and isinstance(power, Cell):
            work = format_quantity(peak.value / power.value, "FLOP/J")
            tip = (
                f"{item.entry.name}: {format_quantity(peak.value, 'FLOP/s')}, {power.value:,.0f} "
                f"W, {work}"
            )
            found.append(
                Spot(
                    item,
                    power.value,
                    peak.value,
                    tip,
                    bool({"estimated", "reported"} & {*power.marks}),
                )
            )
    return found


def figure() -> Figure:
    """A mark for each chip; the diagonals are operations for a joule."""
    found = spots()
    chart = Chart(
        Axis("power", 6, 3000, "W"),
        Axis("peak, bf16 or fp16", 4e12, 1e16, "FLOP/s"),
        (104, 14, 616, 330),
    )
    parts = chart.grid()
    for value in EFFICIENCIES:
        parts += diagonal(chart, value, format_quantity(value, "FLOP/J"))
    parts += [*marks(chart, found), *names(chart, found, _NAMED)]
    parts += legend(384, hollow="hollow: the power is an estimate, or reported by others")
    ratios = sorted((spot.y / spot.x, spot.item.entry.name) for spot in found)
    hollow = sum(spot.hollow for spot in found)
    return Figure(
        "Power and peak of server chips",
        f"{len(found)} chips on logarithmic axes with diagonals of equal work for a joule, from "
        f"{format_quantity(ratios[0][0], 'FLOP/J')} ({ratios[0][1]}) to "
        f"{format_quantity(ratios[-1][0], 'FLOP/J')} ({ratios[-1][1]}). For {hollow} of them the "
        "power is not the maker's own.",
        f"{len(found)} server chips, 16-bit peak over power. Along a dashed line a joule buys the "
        "same work. All are peaks over limits; a busy chip reaches neither.",
        416,
        tuple(parts),
    )
