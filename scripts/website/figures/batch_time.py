"""Time of one layer by its batch: arithmetic, FSDP, tensor parallelism and both together."""

from __future__ import annotations

from typing import Any

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart, spaced
from scripts.website.figures.drawing import Figure, words
from scripts.website.figures.plotted import ChartAxis, Point

LOW, HIGH, POINTS = 30.0, 6000.0, 40
D_MODEL = 8192.0
WIDTH = 43008.0  # of a plain block with the weights of one of Llama 3 70B


def lines(
    chip: str, d_ff: float, chips: int, axes: int, tensor_axes: int
) -> list[tuple[str, list[Point]]]:
    """Seconds of a plain block's forward pass by its batch: arithmetic and traffic of each scheme.

    The calculators say at which batch, at how many ways or with what slack traffic takes as long as
    arithmetic.
    """
    network: dict[str, Any] = {"chip": chip, "axes": axes}
    split = {"d_ff": float(d_ff), "chips": chips, "tensor_axes": tensor_axes, **network}
    alone = float(calculate("fsdp-limit", **network)["tokens_per_chip"])
    ways = float(calculate("tp-limit", d_ff=float(d_ff), **network)["forward_degree"])
    times: dict[str, list[Point]] = {"arithmetic": [], "FSDP": [], "tensor": [], "both": []}
    for tokens in spaced(LOW, HIGH, POINTS):
        batch = tokens * chips
        work = 4 * tokens * D_MODEL * d_ff / find_chip(chip).peak("bf16")
        slack = float(calculate("mixed-limit", batch_tokens=batch, **split)["slack"])
        times["arithmetic"].append((batch, work))
        times["FSDP"].append((batch, work * alone / tokens))
        times["tensor"].append((batch, work * chips / ways))
        times["both"].append((batch, work / slack))
    return list(times.items())


def figure(
    chip: str = "tpu-v5p",
    d_ff: float = WIDTH,
    chips: int = 1024,
    axes: int = 3,
    tensor_axes: int = 1,
) -> Figure:
    """Four lines; where traffic crosses arithmetic, its scheme begins to keep the chips busy."""
    named = [
        (name, [(batch / chips, seconds) for batch, seconds in points])
        for name, points in lines(chip, float(d_ff), chips, axes, tensor_axes)
    ]
    network: dict[str, Any] = {"chip": chip, "axes": axes}
    mixed = calculate("mixed-limit", d_ff=float(d_ff), tensor_axes=tensor_axes, **network)
    alone = calculate("fsdp-limit", **network)
    least = {
        "both": float(mixed["tokens_per_chip"]),
        "FSDP": float(alone["tokens_per_chip"]),
    }
    heights = [y for _, points in named for _, y in points]
    across = ChartAxis("tokens per chip", LOW, HIGH, "1")
    chart = Chart(across, ChartAxis("time", min(heights), max(heights), "s"), (84, 20, 540, 280))
    shapes = [*chart.grid(), *chart.lines(named)]
    facts = []
    for name, tokens in least.items():
        x = chart.x.at(tokens)
        shapes.append(chart.upright(tokens, f"{name}: busy from {tokens:,.0f} tokens per chip"))
        shapes.append(words(x, 14, f"{name}: {tokens:,.0f}", kind="fb-small"))
        facts.append(f"{name} from {format_quantity(tokens, 'token')} per chip")
    return Figure(
        f"{chips:,} chips are busy from {least['both']:,.0f} tokens each with both kinds, from "
        f"{least['FSDP']:,.0f} with FSDP alone",
        "Both axes logarithmic. The time of the arithmetic rises with the batch; that of FSDP's "
        "traffic does not change; that of tensor parallelism rises alike and stays above; that of "
        f"both rises with the square root. Busy: {', '.join(facts)}.",
        f"Forward pass of a plain block of {D_MODEL:,.0f} by {d_ff:,.0f} on {chips:,} "
        f"{find_chip(chip).name} in a torus of {axes} axes. A scheme keeps the chips busy where "
        "its line lies below that of the arithmetic, so right of its dashed threshold.",
        322,
        tuple(shapes),
        plots=(chart,),
    )
