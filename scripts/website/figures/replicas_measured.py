"""What a GPU keeps of its rate when a run gets more replicas and no larger batch, as measured."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.measured_runs import run_files
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

# Runs of one source that differ in their number of GPUs alone: their ids, and these numbers.
SERIES = {
    "MegaScale": ("megascale-175b-megascale-{}gpu", (256, 512, 768, 1024)),
    "Megatron-LM": ("megascale-175b-megatron-lm-{}gpu", (256, 512, 768, 1024)),
    "Nemotron 340B": ("dgxc-2505-nemotron-4-340b-gb200-bf16-{}gpu-strong", (128, 256, 512)),
}


class Kept(NamedTuple):
    """GPUs over those of the smallest run, and tokens a second and GPU over those there."""

    growth: float
    share: float


def kept(name: str) -> list[Kept]:
    """The runs of a series, relative to its smallest."""
    pattern, counts = SERIES[name]
    rows = {row.id: row for file in run_files().values() for row in file.rows}
    rates = [float(rows[pattern.format(n)].measured["tokens_per_s"]) / n for n in counts]
    return [Kept(n / counts[0], rate / rates[0]) for n, rate in zip(counts, rates, strict=True)]


def figure() -> Figure:
    """A falling line for each series."""
    chart = Chart(
        ChartAxis("replicas over those of the smallest run", 1, 4.4, "", log=False),
        ChartAxis("rate of a GPU over that there", 0.75, 1.02, "", log=False),
        (72, 14, 500, 250),
    )
    shapes = chart.grid()
    named: list[tuple[str, list[Point]]] = [
        (name, [(one.growth, one.share) for one in kept(name)]) for name in SERIES
    ]
    shapes += chart.lines(named)
    for number, (name, points) in enumerate(named):
        shapes += [
            chart.dot(
                x, y, f"{name}: {x:g} times the GPUs, {percent(y)} each", f"fb-c{number}", 3.5
            )
            for x, y in points
        ]
    ends = {name: points[-1][1] for name, points in named}
    low, high = min(ends.values()), max(ends.values())
    told = "; ".join(f"{name} {percent(share)}" for name, share in ends.items())
    return Figure(
        f"With four times the replicas and the same batch a GPU keeps {percent(low)} to "
        f"{percent(high)}",
        "Tokens a second and GPU, relative to the smallest run of each line. At four times the "
        f"GPUs: {told}.",
        "Two stacks with GPT-3 175B on A100, from 256 to 1,024 GPUs, and Nemotron 340B on GB200, "
        "from 128 to 512. Only the number of replicas grows, so each has fewer micro-batches.",
        296,
        tuple(shapes),
        plots=(chart,),
    )
