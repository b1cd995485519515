"""How much of the experts' weights a decoding step reads, by the batch."""

from __future__ import annotations

import math

from flopbook.architectures.shape import shape
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, path, words
from scripts.website.figures.plotted import ChartAxis

_MODELS = ("mixtral-8x7b", "qwen-3-235b-a22b", "deepseek-v3")


def share_read(experts: float, visited: float, batch: float) -> float:
    """Share of the experts that a batch visits, if all tokens choose evenly and independently."""
    return 1.0 - math.pow(1 - visited / experts, batch)


def half_read(experts: float, visited: float) -> float:
    """The batch that reads half of the experts, not rounded; needs more experts than visits."""
    return math.log(0.5) / math.log(1 - visited / experts)


def figure() -> Figure:
    """One line for each model."""
    chart = Chart(
        ChartAxis("tokens in the batch", 1, 1024, "1"),
        ChartAxis("percent of the experts read", 0, 100, "1", log=False),
        (84, 14, 470, 290),
    )
    shapes, facts = chart.grid(), []
    for number, name in enumerate(_MODELS):
        model = shape(name)
        sizes = model.experts, model.experts_per_token
        points = [(2 ** (n / 4), 100 * share_read(*sizes, 2 ** (n / 4))) for n in range(41)]
        shapes.append(chart.line(points, number, model.model.name))
        half = half_read(*sizes)
        shapes.append(
            chart.dot(half, 50, f"{model.model.name}: half of the experts at {half:.1f} tokens")
        )
        row = 150 + 22 * number
        shapes += [
            path([(480, row), (504, row)], f"fb-line{number}"),
            words(510, row + 4, model.model.name, "start"),
        ]
        facts.append(
            f"{model.model.name} reads half of its experts from {math.ceil(half)} tokens on"
        )
    return Figure(
        "A lone token reads few experts, a batch soon reads them all",
        f"If tokens choose their experts evenly and independently: {'; '.join(facts)}.",
        "A dot marks where half are read. From some hundred tokens on a mixture reads all of its "
        "weights and still computes with a fraction.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
