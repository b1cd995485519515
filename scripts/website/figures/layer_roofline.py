"""The parts of a layer under the roof of a chip, in training and in decoding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, key, path
from scripts.website.figures.plotted import ChartAxis

MODEL, CHIP = "llama-3-8b", "nvidia/h100-sxm"
TOKENS, SEQUENCES = 8192, 16
_BYTES = 2
_NORM_WORK = 4  # operations for each number: square, add, scale twice
_STYLES = {"training": "fb-c0", "decoding": "fb-c6"}


class LayerPart(NamedTuple):
    """A part of a layer: when it runs, its name, and its operations for each byte."""

    job: str
    name: str
    intensity: float


def parts() -> Iterator[LayerPart]:
    """Training reads one sequence; decoding writes a token for each of some sequences."""
    sizes = shape(MODEL)
    width, wide = sizes.pick("d_model").value, sizes.pick("d_ff").value
    query = sizes.pick("heads").value * sizes.pick("head_dim").value
    cached = sizes.pick("kv_heads").value * sizes.pick("head_dim").value
    for job, rows in (("training", TOKENS), ("decoding", SEQUENCES)):
        yield LayerPart(job, "feed-forward", _product(rows, width, wide))
    yield LayerPart("training", "query matrix", _product(TOKENS, width, query))
    # Half of all pairs under the mask; queries and outputs, keys and values cross the bus once.
    work = 2.0 * TOKENS**2 * query
    yield LayerPart("training", "attention", work / (_BYTES * TOKENS * 2 * (query + cached)))
    yield LayerPart("decoding", "attention", 4.0 * query / (_BYTES * 2 * cached))
    yield LayerPart("training", "norm", _NORM_WORK / (2 * _BYTES))


def _product(rows: float, inner: float, columns: float) -> float:
    result = calculate("arithmetic-intensity", m=rows, k=inner, n=columns, chip=CHIP)
    return float(result["intensity"])


def figure() -> Figure:
    """One point for each part, where it meets the roof at best."""
    device = chip(CHIP)
    peak, bandwidth = device.peak("bf16"), device.memory_bandwidth()
    chart = Chart(
        ChartAxis("operations for each byte", 0.5, 1e4),
        ChartAxis("attainable rate", 1e12, 2e15, "FLOP/s"),
        (108, 14, 616, 280),
    )
    ridge = peak / bandwidth
    roof = [(0.5, 0.5 * bandwidth), (ridge, peak), (1e4, peak)]
    shapes = [*chart.grid(), chart.line(roof, 0, f"roof of {device.name}")]
    facts = []
    for part in parts():
        rate = min(peak, part.intensity * bandwidth)
        intensity = format_quantity(float(f"{part.intensity:.3g}"), "1")
        sentence = f"{part.name} in {part.job}: {intensity} FLOP for each byte, "
        sentence += f"{rate / peak:.2g} of the peak" if rate < peak else "the whole peak"
        kind = _STYLES[part.job]
        shapes.append(chart.dot(part.intensity, rate, sentence, kind, 5, part.job))
        anchor, shift = _place(part)
        if anchor == "end":  # a thread from the point down to its name
            x, y = chart.place((part.intensity, rate))
            shapes.insert(0, path([(x, y), (x, y + shift[1])], "fb-stroke"))
        shapes.append(chart.words((part.intensity, rate), part.name, anchor, shift))
        facts.append(sentence)
    for number, (job, kind) in enumerate(_STYLES.items()):
        shapes += key(440, 236 + 20 * number, job, kind)
    return Figure(
        "In training, matmuls and attention reach the flat roof; in decoding nothing does",
        f"The parts of a layer of Llama 3 8B on {device.name}, both axes logarithmic. "
        f"{'; '.join(facts)}.",
        f"A layer of Llama 3 8B in bf16, for one sequence of {TOKENS:,} tokens and for "
        f"{SEQUENCES} sequences that each write one. Every point is on the roof, where a perfect "
        "kernel would be; real kernels stay below. Norms are memory-bound whatever you do, "
        "unless they are fused.",
        322,
        tuple(shapes),
        plots=(chart,),
    )


def _place(part: LayerPart) -> tuple[str, tuple[float, float]]:
    """Where the name of a point stands: beside it, or below where points are close."""
    below = {"query matrix": 24.0, "feed-forward": 44.0, "attention": 64.0}
    if part.job == "training" and part.name in below:
        return "end", (-4, below[part.name])
    return "start", (9, 6)
