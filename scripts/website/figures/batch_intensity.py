"""Arithmetic intensity of a weight matrix against the tokens that share it, for three sizes."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, words
from scripts.website.figures.plotted import ChartAxis

_MODELS = ("llama-3-405b", "llama-3-8b", "gpt-2-small")
_CHIP = "nvidia/h100-sxm"
_TOKENS = tuple(2.0**power for power in range(15))


def figure() -> Figure:
    """A line for each matrix, and the ridge point of a chip."""
    chart = Chart(
        ChartAxis("tokens in the batch", 1, _TOKENS[-1]),
        ChartAxis("FLOP for each byte", 1, 1e4),
        (72, 14, 470, 290),
    )
    shapes, facts = chart.grid(), []
    for number, name in enumerate(_MODELS):
        sides = shape(name)
        width, wide = sides.pick("d_model").value, sides.pick("d_ff").value
        line = [
            (
                b,
                float(
                    calculate("arithmetic-intensity", m=b, k=width, n=wide, chip=_CHIP)["intensity"]
                ),
            )
            for b in _TOKENS
        ]
        shapes.append(chart.line(line, number, f"{width:,.0f} × {wide:,.0f}"))
        shapes.append(
            words(478, chart.y.at(line[-1][1]) + 4, f"{width:,.0f} × {wide:,.0f}", "start")
        )
        facts.append(f"{width:,.0f} by {wide:,.0f} ends at {line[-1][1]:,.0f}")
    device, label = chip(_CHIP), load_entry(_CHIP).family
    ridge = device.peak("bf16") / device.memory_bandwidth()
    shapes.append(chart.level(ridge, name=f"ridge point of {device.name}: {ridge:,.0f}"))
    shapes.append(words(464, chart.y.at(ridge) + 15, f"ridge point: {ridge:,.0f}", "end"))
    return Figure(
        "The intensity of a matrix is the number of tokens, until the matrix is the limit",
        "Both axes logarithmic. For a small batch the intensity equals the number of tokens. Then "
        f"each line bends: {'; '.join(facts)}. The dashed line is the ridge point of the {label} "
        f"at {ridge:,.0f} FLOP for each byte.",
        "Feed-forward matrices of three models in bf16. With few tokens the intensity is their "
        "number; with many, the matrix is the limit. The smallest matrix passes the ridge late.",
        334,
        tuple(shapes),
        plots=(chart,),
    )
