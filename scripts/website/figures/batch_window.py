"""Time of a run to its loss against the batch: the chips set its lower end, the noise its upper."""

from __future__ import annotations

from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

# Batches in units of the minimum of the fewest chips; the critical batch is 64 of these.
CRITICAL = 64.0
GROWTH = 8
FLEETS = (1, GROWTH, GROWTH**2)
_BATCHES = tuple(2.0 ** (power / 4) for power in range(-8, 41))
_LONGEST = 300.0


def run_time(batch: float, chips: float, critical: float = CRITICAL) -> float:
    """Time to a given loss, over the least that any number of chips needs.

    Batch and critical batch in minimum batches of one unit of chips; `chips` in these units.
    """
    steps = 1 + critical / batch
    return steps * max(1.0, batch / chips)


def figure() -> Figure:
    """A line for each number of chips, with its minimum batch marked, and the critical batch."""
    chart = Chart(
        ChartAxis("batch over the minimum of the fewest chips", _BATCHES[0], _BATCHES[-1]),
        ChartAxis("time of the run over the least", 1, _LONGEST),
        (72, 14, 500, 270),
    )
    shapes = chart.grid()
    named = [
        (
            f"{chips} n chips" if chips > 1 else "n chips",
            [
                (batch, run_time(batch, chips))
                for batch in _BATCHES
                if run_time(batch, chips) <= _LONGEST
            ],
        )
        for chips in FLEETS
    ]
    shapes += chart.lines(named)
    shapes.append(chart.upright(CRITICAL, "critical batch"))
    shapes.append(chart.words((CRITICAL, 1), "critical batch", "start", (6, -8)))
    shapes += [
        chart.dot(
            chips,
            run_time(chips, chips),
            f"minimum batch of {name}: {run_time(chips, chips):.3g} times the least",
            "fb-c1",
            name="minimum batch of the chips",
        )
        for chips, (name, _) in zip(FLEETS, named, strict=True)
    ]
    first, second, third = (run_time(chips, chips) for chips in FLEETS)
    return Figure(
        f"{GROWTH} times the chips make a run {first / second:.1f} times as fast, and "
        f"{GROWTH} times as many again {second / third:.1f} times",
        "Both axes logarithmic. Each line falls to the minimum batch of its chips, a dot, is "
        "nearly level up to an eighth of the critical batch, has doubled at that batch, a dashed "
        "line, and rises on. Lines of more chips lie lower and their level parts are shorter: "
        f"{first:.3g}, {second:.3g} and {third:.3g} times the least at the dots.",
        "Left of its dot a line falls because larger batches fill chips that wait for their "
        "weights; towards the dashed line and beyond it rises because more tokens save ever fewer "
        "steps.",
        314,
        tuple(shapes),
        plots=(chart,),
    )
