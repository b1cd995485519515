"""Expected loss over the size of the model, each line at one compute budget."""

from __future__ import annotations

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart, spaced
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point
from scripts.website.figures.power_laws import floor, slope

# The budget of the worked example, 1,024 chips for 30 days, a tenth of it and ten times as much.
BUDGETS = {"a tenth of it": 1.05e23, "1,024 chips, a month": 1.05e24, "ten times it": 1.05e25}
BUDGET = BUDGETS["1,024 chips, a month"]  # FLOP
_REACH = 10.0  # how far a line goes from its lowest point, in sizes


def best(budget: float) -> Point:
    """The size with the lowest loss, and that loss."""
    fit = calculate("scaling-law", flop=budget)
    return float(fit["params"]), float(fit["loss"])


def loss(budget: float, factor: float) -> float:
    """Loss of a model of `factor` times the best size, with what the budget leaves of tokens.

    The exponents of the law follow from how the best size and its loss grow with compute. At the
    best split the penalties share what is above the floor as the exponents with which size and
    tokens grow; away from it each goes with its own power.
    """
    least = floor()
    (size, low), (more_size, more_low) = best(budget), best(10 * budget)
    above, more_above = low - least, more_low - least
    grows = slope([(budget, size), (10 * budget, more_size)])
    falls = -slope([(budget, above), (10 * budget, more_above)])
    alpha, beta = falls / grows, falls / (1 - grows)
    few_params: float = grows * factor**-alpha
    few_tokens: float = (1 - grows) * factor**beta
    return least + above * (few_params + few_tokens)


def valley(budget: float) -> list[Point]:
    """Loss by size, from far too small to far too large."""
    size, _ = best(budget)
    return [(size * factor, loss(budget, factor)) for factor in spaced(1 / _REACH, _REACH, 41)]


def extra(factor: float) -> float:
    """Nats above the lowest loss at the budget of the worked example."""
    return loss(BUDGET, factor) - loss(BUDGET, 1)


def figure() -> Figure:
    """Three valleys with their lowest points."""
    chart = Chart(
        ChartAxis("parameters", 2e9, 4e12, ""),
        ChartAxis("expected loss, nats", 1.88, 2.14, "", log=False),
        (84, 14, 500, 270),
    )
    shapes, facts = chart.grid(), []
    shapes += chart.lines([(name, valley(budget)) for name, budget in BUDGETS.items()])
    for name, budget in BUDGETS.items():
        size, low = best(budget)
        fact = f"{name}: {format_quantity(size, 'param')}, {low:.3f} nats"
        shapes.append(chart.dot(size, low, fact, "fb-c1", name="best size"))
        facts.append(fact)
    half, eighth = extra(0.5), extra(1 / 8)
    return Figure(
        f"Half or twice the best size costs {half:.3f} nats, an eighth of it {eighth:.2f}",
        "Three valleys over a logarithmic axis of sizes, flat at their lowest points. These are: "
        f"{'; '.join(facts)}.",
        "The law as fitted again, along three budgets: a larger model reads fewer tokens. Left of "
        "a dot it is short of parameters, right of it of text. Costs are of the middle line.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
