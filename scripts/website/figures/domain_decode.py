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
NODES_SENT_TO = 3.5  # others than its own, where a router picks experts on at most four nodes


class DecodingTime(NamedTuple):
    """Seconds of a decoding step: what a chip reads and computes, and its messages."""

    work: float
    within: float  # all ranks in one domain
    across: float  # in nodes of eight with one card for each chip
    weights: float  # of the work


def step(model: str, chip: str, ranks: int, each: int, seq: int, scaleout: float) -> DecodingTime:
    """One step of data-parallel attention and expert parallelism with `each` sequences a rank."""
    options = {"dtype": "fp8", "tp": 1, "dp": ranks, "ep": ranks, "batch": each * ranks}
    options |= {"model": model, "chip": chip, "seq": seq}
    near = calculate("decode", **options, chips_per_node=max(RANKS))
    far = calculate("decode", **options, chips_per_node=NODE, scaleout_bandwidth=scaleout)
    return DecodingTime(
        float(near["seconds"]),
        float(near["message_seconds"]),
        float(far["message_seconds"]),
        float(near["weight_seconds"]),
    )


def overlapped(found: DecodingTime, model: str, chip: str, scaleout: float) -> float:
    """Seconds of a step on the most ranks in nodes that send less and hide what they send.

    A copy goes to each node and not to each expert, and two halves of the batch take turns, so the
    longer of exchange and work counts, and each half reads the weights.
    """
    sent = NODES_SENT_TO / shape(model).experts_per_token / (1 - 1 / RANKS[-1])
    slower = find_chip(chip).scaleup_bandwidth() / scaleout
    return float(max(found.work + found.weights, found.within * sent * slower))


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
    lines = [
        (f"nodes of eight, {nodes[-1][1]:.2g} ms", nodes),
        (f"one domain, {rack[-1][1]:.2g} ms", rack),
    ]
    best = 1e3 * overlapped(steps[-1][1], model, chip, scaleout)
    less = f"overlapped, {best:.2g} ms"
    drawn = [
        *chart.lines(lines),
        chart.dot(RANKS[-1], best, less),
        chart.words((RANKS[-1], best), less, "start", (6, 4)),
        chart.words(rack[0], f"{rack[0][1]:.2g} ms", "start", (6, -8)),
    ]
    gap, rest = nodes[-1][1] / rack[-1][1], best / rack[-1][1]
    name, config = find_chip(chip).name, shape(model).model.name
    return Figure(
        f"On {RANKS[-1]} ranks one domain decodes {gap:.1f} times as fast as nodes of eight, "
        f"{rest:.1f} times if these overlap",
        f"Milliseconds of a decoding step of {config} with {each} sequences on each rank, "
        f"{RANKS[0]} to {RANKS[-1]} ranks, both axes logarithmic. One domain falls from "
        f"{rack[0][1]:.2g} to {rack[-1][1]:.2g}, nodes of eight go from {nodes[0][1]:.2g} to "
        f"{nodes[-1][1]:.2g}, or {best:.2g} where they send less and overlap.",
        f"{config} in fp8 on {name}, {each} sequences of {format_quantity(seq, 'token')} on each "
        "rank, a copy of a token for each expert, none hidden. More ranks mean fewer experts to "
        "read on each. Within one domain that gain is kept; over the cards of nodes of eight, at "
        f"{format_quantity(scaleout, 'byte/s')} for each chip, the all-to-alls take it back. The "
        "point: nodes that send a token to at most four nodes and hide that behind half batches.",
        312,
        (*chart.grid(), *drawn),
        plots=(chart,),
    )
