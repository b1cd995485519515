"""Throughput against time per token as the batch of a server grows."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, words
from scripts.website.figures.plotted import ChartAxis

MODEL, CHIP, CHIPS = "llama-3-70b", "nvidia/h100-sxm", 8
_LENGTHS = (2048, 8192, 32768)
_NAMED = (1.0, 16.0, 64.0, 256.0)  # batches whose points on the first line have a number


def figure() -> Figure:
    """One line for each length of context, one point for each doubling of the batch."""
    chart = Chart(
        ChartAxis("time for one token of a sequence", 4e-3, 4e-2, "s"),
        ChartAxis("tokens a second for each chip", 20, 4e3),
    )
    shapes, facts = chart.grid(), []
    for number, length in enumerate(_LENGTHS):
        points = _points(length)
        places = [(seconds, rate) for _, seconds, rate in points]
        shapes.append(chart.line(places, number, f"{length:,} tokens"))
        shapes += [chart.dot(x, y, _tip(batch, x, y), f"fb-c{number}") for batch, x, y in points]
        if not number:
            shapes += _batches(chart, points)
        batch, seconds, rate = points[-1]
        shapes.append(chart.words((seconds, rate), f"{batch:,.0f} fit", "end", (4, 20)))
        x, y = chart.place((seconds, rate))
        shapes.append(words(x + 9, y + 4, f"{length:,} tokens", "start"))
        facts.append(
            f"at {length:,} tokens up to {batch:,.0f} sequences fit, {_tip(batch, seconds, rate)}"
        )
    return Figure(
        "A larger batch is nearly free until the caches take over",
        f"{MODEL} in bf16 on {CHIPS} chips of {CHIP}. Each line begins with a batch of one and "
        f"ends with as many sequences as fit into memory: {'; '.join(facts)}.",
        "Each point has twice the batch of the one before. At first that costs hardly any time: "
        "the points rise straight up. Then reading the caches takes over, and they move to the "
        "right. The longer the sequences, the sooner that happens and the lower the maximum.",
        336,
        tuple(shapes),
        plots=(chart,),
    )


def _batches(chart: Chart, points: list[tuple[float, float, float]]) -> Iterator[str]:
    """The batch of some points, to their left."""
    for batch, seconds, rate in points:
        if batch in _NAMED:
            name = f"batch {batch:,.0f}" if batch == 1 else f"{batch:,.0f}"
            yield chart.words((seconds, rate), name, "end", (-9, -4))


def _points(length: int) -> list[tuple[float, float, float]]:
    """Batch, seconds for a token, and tokens a second for each chip, up to the batch that fits."""
    points, batch, fits = [], 1.0, 1.0
    while batch <= fits:
        answer = calculate("serving", model=MODEL, chip=CHIP, tp=CHIPS, seq=length, batch=batch)
        fits = answer["batch_fits"]
        points.append((batch, answer["seconds"], answer["tokens_per_s"] / CHIPS))
        batch = fits if batch < fits < 2 * batch else 2 * batch
    return points


def _tip(batch: float, seconds: float, rate: float) -> str:
    return (
        f"batch {batch:,.0f}: {format_quantity(seconds, 's')} a token, {rate:,.0f} tokens a second "
        "and chip"
    )
