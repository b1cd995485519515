"""Memory against its bandwidth for all chips, with lines of equal time to read it once."""

from __future__ import annotations

from flopbook.hardware.picked import Picked
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.figures.scatter import WORKED_EXAMPLE, Spot, diagonal, legend, marks
from scripts.website.pages.explorer import items
from scripts.website.pages.families import chips
from scripts.website.pages.landscape import bandwidth

# Times, and where along the line their words begin.
SWEEPS = ((1e-5, 0.4), (1e-3, 0.1), (0.1, 0.0))
_NAMED = (
    *WORKED_EXAMPLE,
    "groq/groqchip-1",
    "cerebras/wse-3",
    "nvidia/groq-3-lpu",
    "nvidia/rtx-5090",
    "apple/m3-ultra",
    "nvidia/rubin",
    "meta/mtia-500",
)


def spots() -> list[Spot]:
    """Chips with size and bandwidth of one memory."""
    placed = []
    for chip in chips(items()):
        cell, rate = chip.cells.get("memory"), bandwidth(chip)
        if isinstance(cell, Picked) and rate is not None:
            size = cell.value
            tip = f"{chip.entry.name}: {cell.words} at {format_quantity(rate, 'byte/s')}"
            placed.append(
                Spot(chip, size, rate, f"{tip}, read once in {format_quantity(size / rate, 's')}")
            )
    return placed


def figure() -> Figure:
    """A mark for each chip; the diagonals are times."""
    chips_shown = spots()
    chart = Chart(
        ChartAxis("memory", 1e8, 2e12, "byte"),
        ChartAxis("memory bandwidth", 1e10, 6e16, "byte/s"),
        (104, 14, 616, 330),
    )
    shapes = chart.grid()
    times = [format_quantity(seconds, "s") for seconds, _ in SWEEPS]
    downwards = f"read once in {', '.join(times)}, downwards"
    for number, (seconds, share) in enumerate(SWEEPS):
        text = times[number] if number else f"read once in {times[number]}"
        shapes += diagonal(chart, 1 / seconds, text, share, downwards)
    shapes += marks(chart, chips_shown, _NAMED)
    shapes += legend(386)
    sweeps = sorted((spot.x / spot.y, spot.item.entry.name) for spot in chips_shown)
    return Figure(
        "Chips with DRAM form one cloud; those with SRAM only read their memory far faster",
        f"{len(chips_shown)} chips on logarithmic axes with diagonals of equal time to read the "
        f"memory once, from {format_quantity(sweeps[0][0], 's')} ({sweeps[0][1]}) to "
        f"{format_quantity(sweeps[-1][0], 's')} ({sweeps[-1][1]}). Chips with DRAM form one cloud; "
        "SRAM-only chips sit above and to the left of it.",
        f"{len(chips_shown)} chips. Along a dashed line, reading the whole memory takes the same "
        "time. That time bounds the pace of a model that fills it: one token for each read.",
        400,
        tuple(shapes),
        plots=(chart,),
    )
