"""Time lost to saving and to failures, by the interval between checkpoints."""

from __future__ import annotations

from flopbook.formulas import reliability
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

_HOURS = (1.0, 3.0, 12.0)


def figure(save: float = 30.0, restart: float = 600.0) -> Figure:
    """One line for each time between failures; `save` and `restart` are in seconds."""
    chart = Chart(
        ChartAxis("time between checkpoints", 60, 7200, "s"),
        ChartAxis("percent of the time lost", 0, 60, "", log=False),
        (84, 14, 470, 290),
    )
    shapes, facts = chart.grid(), []
    for number, hours in enumerate(_HOURS):
        run = {"chips": 1.0, "chip_mtbf": hours * 3600, "save": save, "restart": restart}
        intervals = [60 * 120 ** (n / 60) for n in range(61)]
        curve = [(x, 100 * reliability(**run, interval=x)["lost"]) for x in intervals]
        drawn = [(x, percent) for x, percent in curve if percent <= 60]
        at_best = reliability(**run)
        best, least = at_best["best_interval"], 100 * at_best["lost"]
        label = f"failure every {hours:g} h"
        shapes += [chart.line(drawn, number), chart.words(drawn[-1], label)]
        shapes.append(
            chart.dot(
                best, least, f"{label}: best {format_quantity(best, 's')}, {least:.1f} percent lost"
            )
        )
        facts.append(
            f"{label}: best at {format_quantity(best, 's')}, where {least:.1f} percent are lost"
        )
    return Figure(
        "Around the best interval the cost of saving is flat",
        f"A checkpoint takes {format_quantity(save, 's')} and a restart "
        f"{format_quantity(restart, 's')}. {'; '.join(facts)}.",
        f"A checkpoint stops the run for {format_quantity(save, 's')}, and a restart takes "
        f"{restart / 60:g} minutes. Too far left, the run saves all the time; too far right, it "
        "repeats too much after each failure. The dot is the best interval. The curve is flat "
        "around it, so being off by half costs little.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
