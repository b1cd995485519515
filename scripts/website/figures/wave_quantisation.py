"""Share of a GPU's time that makes results, by the side of the matrices: the teeth of waves."""

from __future__ import annotations

from flopbook.data.library import load_entry
from flopbook.formulas import wave_quantisation
from flopbook.hardware.chip import chip
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, path, words
from scripts.website.figures.plotted import ChartAxis

CHIP = "nvidia/h100-sxm"
SMALLEST, LARGEST, STEP = 512, 6144, 64
TILES = ((128, 128), (256, 128))


def units() -> float:
    """Processors of the chip, each with one tile at a time."""
    return next(
        c.si_value
        for c in load_entry(CHIP).claims
        if c.name == "streaming multiprocessors" and c.si_value
    )


def figure() -> Figure:
    """One line for each shape of a tile."""
    chart = Chart(
        ChartAxis("side of the matrices", SMALLEST, LARGEST, log=False),
        ChartAxis("useful share", 0, 1, "", log=False),
        (84, 24, 550, 290),
    )
    shapes, facts, left = chart.grid(), [], 90.0
    for number, (rows, columns) in enumerate(TILES):
        name = f"{rows} by {columns}"
        points = [
            (float(n), _useful_share(n, rows, columns)) for n in range(SMALLEST, LARGEST + 1, STEP)
        ]
        shapes.append(chart.line(points, number, name))
        shapes.append(path([(left, 12), (left + 28, 12)], f"fb-line{number}"))
        shapes.append(words(left + 36, 16, name, "start"))
        left += 160
        large = [point for point in points if point[0] >= LARGEST / 2]
        worst, best = min(large, key=lambda point: point[1]), max(large, key=lambda point: point[1])
        facts.append(
            f"tiles of {name}: above {LARGEST / 2:,.0f} between {percent(worst[1])} at "
            f"{worst[0]:,.0f} and {percent(best[1])} at {best[0]:,.0f}"
        )
    return Figure(
        "One tile more than a whole wave, and all processors wait",
        f"Products of square matrices on the {units():.0f} processors of {chip(CHIP).name}. "
        f"{'; '.join(facts)}.",
        "The teeth get smaller as the number of waves grows. Larger tiles move fewer bytes and "
        "have the larger teeth.",
        336,
        tuple(shapes),
        plots=(chart,),
    )


def _useful_share(side: int, rows: int, columns: int) -> float:
    """The share of the time in which a product with a square result makes wanted numbers."""
    answer = wave_quantisation(m=side, n=side, tile_m=rows, tile_n=columns, processors=units())
    share: float = answer["useful_share"]
    return share
