"""Activations over a step, with everything kept and with the forward pass of each layer again."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

MODEL, TOKENS = "llama-3-8b", 8192


def figure() -> Figure:
    """Two hills over one time: a high one, and a low one with a spike and teeth."""
    kept, full = hill(again=False), hill(again=True)
    end, top = full[-1][0], max(size for _, size in kept)
    chart = Chart(
        ChartAxis("forward passes of a layer since the step began", 0, end * 1.02, "", log=False),
        ChartAxis("activations", 0, 1.1 * top, "byte", log=False),
        (84, 14, 616, 270),
    )
    shapes = [
        *chart.grid(),
        chart.line(kept, 1, "all kept"),
        chart.line(full, 0, "recomputed in full"),
    ]
    peaks = []
    for name, points in (("all kept", kept), ("recomputed in full", full)):
        size, at = max((size, time) for time, size in points)
        peaks.append(f"{name}: {format_quantity(size, 'byte')}, done after {points[-1][0]:.0f}")
        shapes.append(chart.words((at, size), name, shift=(8, 12)))
    low, longer = max(size for _, size in full), end / kept[-1][0] - 1
    return Figure(
        f"Recomputing cuts the hill from {top / 1e9:.0f} to {low / 1e9:.0f} GB, "
        "and what is left is the loss",
        f"Bytes of activations over time. {'; '.join(peaks)} forward passes of a layer.",
        f"{shape(MODEL).model.name}, one sequence of {TOKENS:,} tokens, attention without stored "
        "scores. Going forward the layers pile up what they keep. The step on top are the scores "
        "over the vocabulary, which exist only while the loss is computed. Going back the "
        "upper line frees a layer at a time; the lower one runs each layer forward again, a tooth, "
        f"and takes {percent(longer)} longer.",
        312,
        tuple(shapes),
        plots=(chart,),
    )


def hill(again: bool) -> list[Point]:
    """Bytes over time, in forward passes of a layer; `again`: with full recomputation."""
    layers = int(shape(MODEL).layers)
    whole = _memory("none")["activations"]
    stack, loss = _memory("full" if again else "none").values()
    points = [(float(layer), stack * layer / layers) for layer in range(layers + 1)]
    head = loss_length()
    now = layers + head
    points += [(float(layers), stack + loss), (now, stack + loss), (now, stack)]
    for layer in reversed(range(layers)):
        below = stack * layer / layers
        if again:
            now += 1
            points.append((now, below + whole / layers))
        now += 2
        points.append((now, below))
    return points


def loss_length() -> float:
    """The head, forward and backward, in forward passes of a layer."""
    config = shape(MODEL)
    head = config.vocab * config.d_model
    of_layer = (config.params - 2 * head) / config.layers
    return 3 * head / of_layer


def _memory(recompute: str) -> dict[str, float]:
    """Bytes of the layers' activations and of the loss."""
    memory = calculate(
        "memory", model=MODEL, seq=TOKENS, recompute=recompute, attention="flash", dropout="no"
    )
    return {name: float(memory[name]) for name in ("activations", "logits")}
