"""Time between failures of a run by its number of chips, for three failure rates of a chip."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.formulas import reliability
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

MODEL = "llama-3-405b"  # the run whose failures were counted
SHARED = (1024.0, 7.9 * 3600)  # a job in research clusters: chips, seconds (kokolis2025revisiting)
_YEAR = 365.25 * 86400


def figure() -> Figure:
    """Lines for a chip that fails half as often as the counted ones, as often, twice as often."""
    chart = Chart(
        ChartAxis("chips in the run", 8, 200_000, "chip"),
        ChartAxis("hours between failures", 0.1, 3e4),
        (84, 14, 500, 290),
    )
    run = shape(MODEL)
    shapes = chart.grid()
    for number, factor in enumerate((2.0, 1.0, 0.5)):
        alone = run.chip_mtbf * factor
        points = [(chips, _mtbf(alone, chips) / 3600) for chips in (8.0, 200_000.0)]
        shapes += [
            chart.line(points, number),
            chart.words(points[-1], f"a chip: {alone / _YEAR:.0f} years"),
        ]
    counted = run.observed_hours / run.interruptions
    shapes.append(chart.dot(run.chips, counted / 3600, f"counted: {format_quantity(counted, 's')}"))
    shapes.append(chart.words((run.chips, counted / 3600), "Llama 3 405B", shift=(6, -20)))
    chips, seconds = SHARED
    tip = f"research clusters: {format_quantity(seconds, 's')}"
    shapes.append(chart.dot(chips, seconds / 3600, tip, "fb-c6"))
    shapes.append(chart.words((chips, seconds / 3600), "research clusters", "end", (-8, 14)))
    return Figure(
        "Ten times the chips, a tenth of the time between failures",
        f"In one run of {run.chips:,.0f} chips {run.interruptions:.0f} unexpected interruptions "
        "were counted "
        f"in {format_quantity(run.observed_hours, 's')}, one in {format_quantity(counted, 's')}: "
        f"{run.chip_mtbf / _YEAR:.0f} years for each chip with its share of everything else. The "
        "time "
        "between failures falls as chips are added.",
        "Each line is a time between failures of one chip with its share of the rest; the middle "
        "one was counted. The orange point was counted too, in two clusters with many users: "
        f"{SHARED[0] * SHARED[1] / _YEAR:.1f} years a chip.",
        336,
        tuple(shapes),
        plots=(chart,),
    )


def _mtbf(chip_mtbf: float, chips: float) -> float:
    """Time between failures of the whole run, whatever a checkpoint takes."""
    mtbf: float = reliability(chip_mtbf=chip_mtbf, chips=chips, save=1.0)["mtbf"]
    return mtbf
