"""What a compute budget buys when it is split best: model size, tokens, and expected loss."""

from __future__ import annotations

import math

from flopbook.evaluation.calculator import calculate
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, path, words
from scripts.website.figures.plotted import ChartAxis, Point

_BUDGETS = tuple(10.0 ** (18 + step / 2) for step in range(17))  # FLOP
_FITS = {"besiroglu2024": "Chinchilla, fitted again", "kaplan2020": "Kaplan"}


def _curve(fit: str, name: str) -> list[Point]:
    """An output of the calculator over the budget, by one published fit."""
    return [
        (budget, float(calculate("scaling-law", flop=budget, fit=fit)[name])) for budget in _BUDGETS
    ]


def figure() -> Figure:
    """Two panels over the budget: tokens for each parameter, and loss."""
    compute = ChartAxis("compute budget, FLOP", _BUDGETS[0], _BUDGETS[-1], "")
    tokens = ChartAxis("tokens for each parameter", 0.01, 1000, "")
    nats = ChartAxis("expected loss, nats", 1.8, 3.6, "", log=False)
    split = Chart(compute, tokens, (72, 30, 310, 240))
    loss = Chart(compute, nats, (388, 30, 616, 240))
    split.title, loss.title = "How to split it", "What it buys"
    shapes = [*split.grid(), *loss.grid(), words(188, 18, "How to split it", kind="fb-strong")]
    shapes.append(words(509, 18, "What it buys", kind="fb-strong"))
    for number, (fit, name) in enumerate(_FITS.items()):
        ratios, losses = _curve(fit, "tokens_per_param"), _curve(fit, "loss")
        shapes.append(split.line(ratios, number, name))
        if math.isfinite(losses[0][1]):  # one fit gives sizes only
            shapes.append(loss.line(losses, number, name))
        x = 72 + 190 * number
        shapes.append(path([(x, 290), (x + 24, 290)], f"fb-line{number}"))
        shapes.append(words(x + 30, 294, name, "start"))
    first, *_, last = (calculate("scaling-law", flop=budget)["loss"] for budget in _BUDGETS)
    return Figure(
        "Two fits disagree on how to split a budget; the loss falls ever more slowly",
        "Two curves over compute on a logarithmic axis. Left, tokens for each parameter: nearly "
        "level for the Chinchilla fit, falling steeply for Kaplan's. Right, the expected loss of "
        f"the Chinchilla fit, which falls from {first:.2f} to {last:.2f} nats and flattens.",
        "How to split it: two published fits disagree, and the later one won. What it buys: the "
        "loss falls smoothly with compute, ever more slowly.",
        306,
        tuple(shapes),
        plots=(split, loss),
    )
