"""Time of a decoding step against the ranks that share the experts, for two kinds of domain."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

RANKS = (8, 16, 32, 64)
NODE = 8  # chips of the small domain


class DecodingTime(NamedTuple):
    """Seconds of a decoding step: what a chip reads and computes, and its messages."""

    work: float
    within: float  # all ranks in one domain
    across: float  # in nodes of eight with one card for each chip


def step(model: str, chip: str, ranks: int, each: int, seq: int, scaleout: float) -> DecodingTime:
    """One step of data-parallel attention and expert parallelism with `each` sequences a rank."""
    options = {"dtype": "fp8", "tp": 1, "dp": ranks, "ep": ranks, "batch": each * ranks}
    options |= {"model": model, "chip": chip, "seq": seq}
    near = calculate("decode", **options, chips_per_node=max(RANKS))
    far = calculate("decode", **options, chips_per_node=NODE, scaleout_bandwidth=scaleout)
    return DecodingTime(
        float(near["seconds"]), float(near["message_seconds"]), float(far["message_seconds"])
    )


def figure(
    model: str = "deepseek-v3",
    chip: str = "nvidia/gb200-gpu",
    each: int = 64,
    seq: int = 4096,
    scaleout: float = 50e9,
) -> Figure:
    """Two lines: messages in one domain, and messages over the cards of nodes of eight."""
    steps = [(ranks, step(model, chip, ranks, each, seq, scaleout)) for ranks in RANKS]
    rack = [(ranks, 1e3 * (found.work + found.within)) for ranks, found in steps]
    nodes = [(ranks, 1e3 * (found.work + found.across)) for ranks, found in steps]
    highest = max(time for _, time in rack + nodes)
    lowest = min(time for _, time in rack + nodes)
    chart = Chart(
        ChartAxis("ranks that share the experts", RANKS[0], RANKS[-1], ticks=RANKS),
        ChartAxis("milliseconds of a step", lowest * 0.7, highest * 1.3),
        (84, 14, 500, 270),
    )
    lines = [("nodes of eight", nodes), ("one domain", rack)]
    gap = nodes[-1][1] / rack[-1][1]
    name, config = find_chip(chip).name, shape(model).model.name
    return Figure(
        f"On {RANKS[-1]} ranks one domain decodes {gap:.1f} times as fast as nodes of eight",
        f"Milliseconds of a decoding step of {config} with {each} sequences on each rank, "
        f"{RANKS[0]} to {RANKS[-1]} ranks, both axes logarithmic. One domain falls from "
        f"{rack[0][1]:.2g} to {rack[-1][1]:.2g}, nodes of eight go from {nodes[0][1]:.2g} to "
        f"{nodes[-1][1]:.2g}.",
        f"{config} in fp8 on {name}, {each} sequences of {format_quantity(seq, 'token')} on each "
        "rank, a copy of a token for each expert, none hidden. More ranks mean fewer experts to "
        "read on each. Within one domain that gain is kept; over the cards of nodes of eight, at "
        f"{format_quantity(scaleout, 'byte/s')} for each chip, the all-to-alls take it back.",
        312,
        (*chart.grid(), *chart.lines(lines)),
        plots=(chart,),
    )
