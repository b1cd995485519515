"""How many chips one fast network joins, over the years."""

from __future__ import annotations

from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis
from scripts.website.figures.scatter import Spot, dated, legend, mark_of, marks
from scripts.website.pages.explorer import items
from scripts.website.pages.families import SERVERS, chips
from scripts.website.pages.quantities import value_of

_NAMED = (
    "nvidia/dgx-gh200",
    "google/tpu-v2",
    "google/tpu-v3",
    "google/tpu-v4",
    "google/tpu-v5p",
    "nvidia/gb200-gpu",
    "google/tpu-8t",
    "huawei/ascend-950dt",
    "microsoft/maia-200",
)
# Domains that there are, small and large: marks stand at them, and few at powers of ten.
_SIZES = (2, 4, 8, 16, 72, 256, 1024, 9216)
# A system whose chip has no domain of its own: the same GPU is sold in other boards as well.
_SYSTEMS = ("nvidia/dgx-gh200",)


def spots() -> list[Spot]:
    """Dated server chips with a domain, and systems that have one where their chips have none."""
    placed = []
    systems = [entry_row for entry_row in items() if entry_row.entry.id in _SYSTEMS]
    for entry_row, year in dated([*chips(items(), SERVERS), *systems]):
        size = value_of(entry_row.cells, "scaleup_domain")
        if size is not None:
            placed.append(
                Spot(
                    entry_row, year, size, f"{entry_row.entry.name}: {size:,.0f} chips, {int(year)}"
                )
            )
    return placed


def figure() -> Figure:
    """A mark for each chip at its year, one above the other where they would hide each other."""
    chips_shown = spots()
    chart = Chart(
        ChartAxis("year of the announcement, or of the launch", 2017, 2027, "", log=False),
        ChartAxis("chips in one scale-up domain", 1.5, 2e4, "", ticks=_SIZES),
        (84, 14, 616, 350),
    )
    chart.is_apart = True
    shapes = [
        *chart.grid(),
        *marks(chart, chips_shown, _NAMED),
        *legend(406),
    ]
    small = [spot for spot in chips_shown if spot.y <= 16]
    largest = max(chips_shown, key=lambda spot: spot.y)
    first = int(
        min(spot.x for spot in chips_shown if spot.y > 16 and mark_of(spot.item.entry.id) == 0)
    )
    newest = sum(spot.x >= 2024 and spot.y > 16 for spot in chips_shown)
    return Figure(
        f"GPUs got domains of more than 16 chips in {first}; TPUs had them from the start",
        f"{len(chips_shown)} chips from {min(s.x for s in chips_shown):.0f} to "
        f"{max(s.x for s in chips_shown):.0f} on a logarithmic axis of domain sizes. {len(small)} "
        f"have a domain of 16 chips or fewer. The largest joins {largest.y:,.0f} "
        f"({largest.item.entry.name}). Since 2024, {newest} chips have more than 16.",
        f"{len(chips_shown)} chips by the size of the network that joins them at full rate. TPUs "
        f"have had hundreds from the start; the first GPUs with more than 16 came in {first:.0f}. "
        "Where marks would hide each other they stand one above the other.",
        420,
        tuple(shapes),
        plots=(chart,),
    )
