"""Tokens a second against chips for one batch: the ideal, and what data parallelism gives."""

from __future__ import annotations

from typing import Any

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

COUNTS = tuple(2**power for power in range(3, 13))
NODE = 8


def rate(model: str, chip: str, scaleout: float, chips: int, overlap: bool) -> float:
    """Tokens a second at the peak, gradients summed during the backward pass or after it."""
    params, tokens = shape(model).params, shape(model).batch_tokens
    work = 6 * params * tokens / chips / find_chip(chip).peak("bf16")
    # Both at printed rates: a network as it is measured beside matmuls at the peak has no meaning.
    options: dict[str, Any] = {"op": "all-reduce", "chip": chip, "chips": chips}
    options |= {"startup": 0, "ramp": 0, "efficiency": 1}
    if chips > NODE:
        options |= {"topology": "two-level", "chips_per_node": NODE, "scaleout_bandwidth": scaleout}
    wait = float(calculate("collective", bytes=2 * params, **options)["seconds"])
    if overlap:
        # the sums hide behind the backward pass, two thirds of the work
        return tokens / max(work, work / 3 + wait)
    return tokens / (work + wait)


def figure(
    model: str = "gpt-3-1.3b", chip: str = "nvidia/h100-sxm", scaleout: float = 50e9
) -> Figure:
    """The ideal line and two curves of data parallelism on nodes of eight."""
    config = shape(model)
    ideal = [(n, n * find_chip(chip).peak("bf16") / (6 * config.params) / 1e6) for n in COUNTS]
    lines = [("in proportion", ideal)]
    for name, overlap in (("sums hidden", True), ("sums in turn", False)):
        lines.append((name, [(n, rate(model, chip, scaleout, n, overlap) / 1e6) for n in COUNTS]))
    up = ChartAxis("million tokens a second", ideal[0][1] * 0.6, ideal[-1][1] * 1.3)
    chart = Chart(ChartAxis("chips", COUNTS[0], COUNTS[-1]), up, (84, 14, 520, 270))
    shapes = [*chart.grid(), *chart.lines(lines)]
    share = {name: points[-1][1] / ideal[-1][1] for name, points in lines[1:]}
    facts = "; ".join(f"with {name} {percent(reached)}" for name, reached in share.items())
    return Figure(
        f"On {COUNTS[-1]:,} chips the batch of {config.model.name} gives "
        f"{percent(max(share.values()))} of the straight line",
        "Tokens a second at the peak for one batch of "
        f"{format_quantity(config.batch_tokens, 'token')}, both axes logarithmic, from {COUNTS[0]} "
        f"to {COUNTS[-1]:,} chips. At the end data parallelism has this share of the straight "
        f"line: {facts}.",
        f"{config.model.name}, its own batch of {format_quantity(config.batch_tokens, 'token')}, "
        "on "
        f"{find_chip(chip).name} in nodes of eight. The batch does not grow, so each chip has "
        "fewer tokens, until the sum of the gradients takes longer than the products behind which "
        "it hides. From there on more chips add little.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
