"""Peak against memory bandwidth of all server chips, with lines of equal ridge point."""

from __future__ import annotations

from collections.abc import Sequence

from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.narrow import charts_sheet
from scripts.website.figures.plotted import ChartAxis
from scripts.website.figures.scatter import WORKED_EXAMPLE, Spot, diagonal, legend, marks
from scripts.website.pages.explorer import items
from scripts.website.pages.families import SERVERS, chips, peak16
from scripts.website.pages.landscape import bandwidth

RIDGES = (1, 10, 100, 1000)
_STRIPE = (100, 1000)  # the lines of a narrow sheet: names have no room between all of them
_NAMED = (
    *WORKED_EXAMPLE,
    "groq/groqchip-1",
    "cerebras/wse-3",
    "amd/mi455x",
    "google/tpu-v2",
    "nvidia/rubin",
)


def spots() -> list[Spot]:
    """Server chips with 16-bit peak and bandwidth; hollow where a source does not say dense."""
    placed = []
    for chip in chips(items(), SERVERS):
        peak, rate = peak16(chip.cells), bandwidth(chip)
        if peak is not None and rate is not None:
            tip = (
                f"{chip.entry.name}: {format_quantity(peak.value, 'FLOP/s')}, "
                f"{format_quantity(rate, 'byte/s')}, {peak.value / rate:,.0f} FLOP for a byte"
            )
            placed.append(Spot(chip, rate, peak.value, tip, peak.claim.sparsity != "dense"))
    return placed


def _drawn(chips_shown: Sequence[Spot], ridges: Sequence[int]) -> tuple[Chart, list[str]]:
    """The chart with these diagonals, and its shapes."""
    chart = Chart(
        ChartAxis("memory bandwidth", 3e10, 5e16, "byte/s"),
        ChartAxis("peak, bf16 or fp16", 4e12, 3e17, "FLOP/s"),
        (104, 14, 616, 370),
    )
    shapes = chart.grid()
    upwards = f"{', '.join(f'{ridge:,}' for ridge in ridges)} FLOP/byte, upwards"
    for ridge in ridges:
        shapes += diagonal(chart, ridge, f"{ridge:,} FLOP/byte", 0.7, upwards)
    shapes += marks(chart, chips_shown, _NAMED)
    chart.hollow = "a source gives the peak and does not say whether it is dense"
    return chart, shapes


def figure() -> Figure:
    """A mark for each chip; the diagonals are ridge points."""
    chips_shown = spots()
    chart, shapes = _drawn(chips_shown, RIDGES)
    slim, _ = _drawn(chips_shown, _STRIPE)
    shapes += legend(424, hollow=f"hollow: {chart.hollow}")
    ratios = sorted((spot.y / spot.x, spot.item.entry.name) for spot in chips_shown)
    inside = sum(100 <= ratio <= 1000 for ratio, _ in ratios)
    return Figure(
        f"{inside} of {len(chips_shown)} server chips need between 100 and 1,000 FLOP for a byte",
        f"{len(chips_shown)} chips on logarithmic axes with diagonals of equal ridge point. The "
        f"ridge points go from {ratios[0][0]:,.1f} ({ratios[0][1]}) to {ratios[-1][0]:,.0f} "
        f"({ratios[-1][1]}) FLOP for a byte; {inside} of them lie between 100 and 1,000. Chips "
        "whose memory is SRAM lie far to the right and low.",
        f"{len(chips_shown)} server chips. Along a dashed line the ridge point is the same; a chip "
        "further up and left needs a larger batch. Chips with a name are drawn larger.",
        456,
        tuple(shapes),
        plots=(chart,),
        narrow=charts_sheet([slim]),
    )
