"""What a GPU keeps of its rate under FSDP when only the number of GPUs grows, as measured."""

from __future__ import annotations

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

SOURCE = "llm-foundry"
# Runs that differ in their number of GPUs alone, from few GPUs to many.
SERIES = {
    "30B": ("llmfoundry-h100-large-30b-2048-128gpu", "llmfoundry-h100-large-30b-2048-512gpu"),
    "3B, stage 2": ("llmfoundry-h100-large-3b-2048-128gpu", "llmfoundry-h100-large-3b-2048-512gpu"),
    "7B": (
        "llmfoundry-h100-bf16-7b-2048-8gpu",
        "llmfoundry-h100-large-7b-2048-128gpu",
        "llmfoundry-h100-large-7b-2048-512gpu",
    ),
}


def runs(name: str) -> list[MeasuredRun]:
    """The rows of a series."""
    rows = {row.id: row for row in run_files()[SOURCE].rows}
    return [rows[each] for each in SERIES[name]]


def kept(name: str) -> list[Point]:
    """GPUs of each run, and tokens a second and GPU over those of the smallest run."""
    found = runs(name)
    rates = [float(row.measured["tokens_per_s_per_chip"]) for row in found]
    gpus = [float(row.hardware["n_chips"]) for row in found]
    return [(each, rate / rates[0]) for each, rate in zip(gpus, rates, strict=True)]


def figure() -> Figure:
    """A line for each model, with a dot for each run."""
    named = [(name, kept(name)) for name in SERIES]
    chart = Chart(
        ChartAxis("GPUs", 6, 640, "", ticks=(8, 32, 128, 512)),
        ChartAxis("rate of a GPU over that of the smallest run", 0.86, 1.02, "", log=False),
        (72, 14, 510, 250),
    )
    shapes = [*chart.grid(), *chart.lines(named)]
    for number, (name, points) in enumerate(named):
        shapes += [
            chart.dot(x, y, f"{name} on {x:g} GPUs: {percent(y, 1)}", f"fb-c{number}", 3.5)
            for x, y in points
        ]
    lost = {name: 1 - points[-1][1] for name, points in named}
    told = "; ".join(f"{name} {percent(share, 1)}" for name, share in lost.items())
    return Figure(
        f"With the same tokens on each GPU, FSDP on 512 loses {percent(min(lost.values()))} to "
        f"{percent(max(lost.values()))}",
        f"Tokens a second and GPU against GPUs, logarithmic. Lost on 512 GPUs: {told}.",
        "MPT models on H100 in nodes of eight, from 12,288 to 16,384 tokens on each GPU in one "
        "micro-batch. Bytes and arithmetic of a GPU are the same at every size, so the formula has "
        "level lines. The 3B model keeps its weights whole, stage 2 of ZeRO.",
        296,
        tuple(shapes),
        plots=(chart,),
        source="mosaicml2023foundry",
    )
