"""What a compute budget buys when it is split best: model size, tokens, and expected loss."""

from __future__ import annotations

import math

from flopbook.evaluation.calculator import calculate
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.drawing import Figure, path, words

_BUDGETS = tuple(10.0 ** (18 + step / 2) for step in range(17))  # FLOP
_FITS = {"besiroglu2024": "Chinchilla, fitted again", "kaplan2020": "Kaplan"}


def figure() -> Figure:
    """Two panels over the budget: tokens for each parameter, and loss."""
    compute = ("compute budget, FLOP", _BUDGETS[0], _BUDGETS[-1], "")
    left = Chart(
        Axis(*compute), Axis("tokens for each parameter", 0.01, 1000, ""), (72, 30, 310, 240)
    )
    right = Chart(
        Axis(*compute), Axis("expected loss, nats", 1.8, 3.6, "", log=False), (388, 30, 616, 240)
    )
    shapes = [*left.grid(), *right.grid(), words(188, 18, "How to split it", kind="fb-strong")]
    shapes.append(words(509, 18, "What it buys", kind="fb-strong"))
    for number, (fit, name) in enumerate(_FITS.items()):
        found = [(c, calculate("scaling-law", flop=c, fit=fit)) for c in _BUDGETS]
        shapes.append(left.line([(c, float(one["tokens_per_param"])) for c, one in found], number))
        if math.isfinite(float(found[0][1]["loss"])):  # one fit gives sizes only
            shapes.append(right.line([(c, float(one["loss"])) for c, one in found], number))
        shapes += [path([(72 + 190 * number, 290), (96 + 190 * number, 290)], f"fb-line{number}")]
        shapes.append(words(102 + 190 * number, 294, name, "start"))
    ends = [calculate("scaling-law", flop=c) for c in (_BUDGETS[0], _BUDGETS[-1])]
    return Figure(
        "The best use of a compute budget",
        "Two curves over compute on a logarithmic axis. Left, tokens for each parameter: nearly "
        "level for the Chinchilla fit, falling steeply for Kaplan's. Right, the expected loss of "
        f"the Chinchilla fit, which falls from {ends[0]['loss']:.2f} to {ends[1]['loss']:.2f} nats "
        "and flattens.",
        "Left: two published fits disagree on how to split a budget, and the later one won. Right: "
        "the loss falls smoothly with compute, ever more slowly.",
        306,
        tuple(shapes),
    )
