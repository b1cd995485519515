"""How much attention adds to the rule of six, by the length of the sequence."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

MODELS = ("llama-3-8b", "llama-3-70b", "llama-3-405b")
LENGTHS = tuple(1024 * 2 ** (n / 2) for n in range(19))  # to half a million tokens


def even_length(name: str) -> float:
    """Tokens at which full attention is as much work as the rule of six: N / (2 L H d)."""
    model = shape(name)
    return model.params / (2 * model.layers * model.heads * model.head_dim)


def figure() -> Figure:
    """A line for each model: causal attention over 6N."""
    chart = Chart(
        ChartAxis("tokens of a sequence", LENGTHS[0], LENGTHS[-1], "1"),
        ChartAxis("causal attention, percent of 6N", 0.3, 1000, "1"),
        (84, 14, 500, 270),
    )
    shapes, facts, named = chart.grid(), [], []
    shapes.append(chart.level(100, name="as much as all weights"))
    for name in MODELS:
        even = even_length(name)
        label = shape(name).model.name
        named.append((label, [(length, 50 * length / even) for length in LENGTHS]))
        facts.append(f"{label}: {2 * even:,.0f} tokens")
    shapes += chart.lines(named)
    shapes += [
        chart.dot(2 * even_length(name), 100, fact, "fb-c0")
        for name, fact in zip(MODELS, facts, strict=True)
    ]
    first, last = (2 * even_length(name) / 1000 for name in (MODELS[0], MODELS[-1]))
    return Figure(
        f"Causal attention catches up with the weights at {first:.0f}k tokens in an 8B model, "
        f"at {last:.0f}k in a 405B one",
        f"Both axes logarithmic. Equal work at: {'; '.join(facts)}.",
        "Work of causal attention over six operations for each parameter. The wider the model, "
        "the later its lines cross: parameters grow with the square of the width, attention in "
        "proportion to it. Full attention is twice as much and crosses at half the length.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
