"""Power against peak of server chips, with lines of equal work for a joule."""

from __future__ import annotations

from flopbook.hardware.picked import Picked
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.figures.scatter import Spot, diagonal, legend, marks
from scripts.website.pages.explorer import items
from scripts.website.pages.families import SERVERS, chips, peak16

EFFICIENCIES = (1e11, 3e11, 1e12, 3e12)
# Those of the chapter's worked example first.
_NAMED = (
    "nvidia/h100-sxm",
    "nvidia/h20",
    "nvidia/b200",
    "amd/mi355x",
    "google/tpu-v6e",
    "google/tpu-v2",
    "nvidia/l4",
    "meta/mtia-500",
    "intel/gaudi-3",
    "untether/speedai240",  # far above the others
)


def spots() -> list[Spot]:
    """Server chips with 16-bit peak and power; hollow where the power is not its maker's."""
    placed = []
    for chip in chips(items(), SERVERS):
        peak, power = peak16(chip.cells), chip.cells.get("power")
        if peak is not None and isinstance(power, Picked):
            work = format_quantity(peak.value / power.value, "FLOP/J")
            tip = (
                f"{chip.entry.name}: {format_quantity(peak.value, 'FLOP/s')}, {power.value:,.0f} "
                f"W, {work}"
            )
            placed.append(
                Spot(
                    chip,
                    power.value,
                    peak.value,
                    tip,
                    bool({"estimated", "reported"} & {*power.notes}),
                )
            )
    return placed


def figure() -> Figure:
    """A mark for each chip; the diagonals are operations for a joule."""
    chips_shown = spots()
    chart = Chart(
        ChartAxis("power", 6, 3000, "W"),
        ChartAxis("peak, bf16 or fp16", 4e12, 1e16, "FLOP/s"),
        (104, 14, 616, 330),
    )
    shapes = chart.grid()
    works = [format_quantity(ratio, "FLOP/J") for ratio in EFFICIENCIES]
    for ratio, text in zip(EFFICIENCIES, works, strict=True):
        shapes += diagonal(chart, ratio, text, together=", ".join(works))
    shapes += marks(chart, chips_shown, _NAMED)
    chart.hollow = "the power is an estimate, or reported by others"
    shapes += legend(384, hollow=f"hollow: {chart.hollow}")
    ratios = sorted((spot.y / spot.x, spot.item.entry.name) for spot in chips_shown)
    hollow = sum(spot.hollow for spot in chips_shown)
    return Figure(
        "But for one chip, the peak that a joule buys differs "
        f"{ratios[-2][0] / ratios[0][0]:,.0f}-fold among server chips",
        f"{len(chips_shown)} chips on logarithmic axes with diagonals of equal work for a joule, "
        f"from {format_quantity(ratios[0][0], 'FLOP/J')} ({ratios[0][1]}) to "
        f"{format_quantity(ratios[-1][0], 'FLOP/J')} ({ratios[-1][1]}). For {hollow} of them the "
        "power is not the maker's own.",
        f"{len(chips_shown)} server chips, 16-bit peak over power. Along a dashed line a joule "
        "buys the same work. All are peaks over limits; a busy chip reaches neither.",
        416,
        tuple(shapes),
        plots=(chart,),
    )
