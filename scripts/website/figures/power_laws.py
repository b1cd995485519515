"""Expected loss against compute, parameters and tokens: three power laws of one fit."""

from __future__ import annotations

from math import log, log10

from flopbook.evaluation.calculator import calculate
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import WIDTH, Figure, words
from scripts.website.figures.plotted import ChartAxis

_BUDGETS = tuple(10.0 ** (16 + step / 2) for step in range(25))  # FLOP
_PANELS = (  # five decades each, so that a steeper line is drawn steeper
    ("compute", "FLOP", 1e21, 1e26),
    ("parameters", "parameters", 1e7, 1e12),
    ("tokens", "tokens", 1e8, 1e13),
)


def floor() -> float:
    """The loss that no model gets below: three losses in equal steps of a power law give it."""
    first, second, third = (
        float(calculate("scaling-law", flop=c)["loss"]) for c in (1e20, 1e24, 1e28)
    )
    return third - (third - second) ** 2 / ((third - second) - (second - first))


def curve(panel: str) -> list[tuple[float, float]]:
    """Loss above the floor: of the best split by compute, or for lack of parameters or tokens.

    At the best split another FLOP is worth the same in both places. So the two prices share what is
    above the floor as the exponents with which the best parameters and the best tokens grow with
    compute.
    """
    fits = [calculate("scaling-law", flop=budget) for budget in _BUDGETS]
    least = floor()
    above = [float(fit["loss"]) - least for fit in fits]
    if panel == "compute":
        return list(zip(_BUDGETS, above, strict=True))
    name = {"parameters": "params", "tokens": "tokens"}[panel]
    sides = [float(fit[name]) for fit in fits]
    share = slope(list(zip(_BUDGETS, sides, strict=True)))
    return [(side, loss * share) for side, loss in zip(sides, above, strict=True)]


def slope(points: list[tuple[float, float]]) -> float:
    """The exponent of a line on two logarithmic axes, from its ends."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    return log(y1 / y0) / log(x1 / x0)


def _ticks(low: float, high: float) -> tuple[float, ...]:
    """Every second power of ten, since all of them touch in a third of the width."""
    first, last = round(log10(low)), round(log10(high))
    return tuple(10.0**power for power in range(first, last + 1, 2))


def figure() -> Figure:
    """Three panels beside each other."""
    shapes, facts, charts = [], [], list[Chart]()
    for number, (name, label, low, high) in enumerate(_PANELS):
        left = 66 + number * (WIDTH - 50) / 3
        chart = Chart(
            ChartAxis(label, low, high, "", ticks=_ticks(low, high)),
            ChartAxis("loss above the floor" if not number else "", 0.005, 5, ""),
            (left, 30, left + 150, 230),
        )
        points = [(x, y) for x, y in curve(name) if low <= x <= high]
        shapes += [
            *chart.grid(),
            chart.line(points, number),
            words(left + 75, 18, f"by {name}", kind="fb-strong"),
        ]
        shapes.append(words(left + 146, 46, f"exponent {slope(points):.2f}", "end", "fb-small"))
        chart.title = f"by {name}, exponent {slope(points):.2f}"
        charts.append(chart)
        facts.append(f"by {name} with exponent {slope(points):.2f}")
    return Figure(
        "Loss falls as a power of compute, parameters and tokens, and none is steep",
        f"Straight lines on logarithmic axes: {'; '.join(facts)}. What is shown is the loss above "
        f"{floor():.2f} nats.",
        f"The Chinchilla law as fitted again, less its floor of {floor():.2f} nats. By compute "
        "model and data both grow, at the best split; by parameters there is data without end, "
        "by tokens a model without end. A straight line here is a power law, and none of the "
        "three is steep.",
        282,
        tuple(shapes),
        plots=tuple(charts),
    )
