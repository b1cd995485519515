"""Time of a token for one user over the TP degree, for three times of a small all-reduce."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.data.library import model as find_model
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.ledger.rows import ledger_row
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

MODEL, CHIP = "llama-3-405b", "nvidia/gb200-gpu"
DEGREES = (8, 16, 32, 64)  # that divide the heads of the model
LABELS = {"NCCL, this chip": "NCCL", "NCCL, H100": "NCCL on H100"}
KERNEL = "sglang-all-reduce"  # the row of the ledger with the time of an engine's own all-reduce


def vector() -> float:
    """Bytes of an all-reduce: what one sequence has between two blocks, in bf16."""
    return float(2 * shape(MODEL).d_model)


def reduced(chip: str, chips: int = 8) -> float:
    """Seconds of an all-reduce of the vector, by the sweep of NCCL for this chip."""
    return float(
        calculate("collective", chip=chip, chips=chips, bytes=vector(), op="all-reduce")["seconds"]
    )


def token(degree: int, each: float) -> float:
    """Seconds of a token: weights read over all chips, and two all-reduces in each layer."""
    config = shape(MODEL)
    read = 2 * config.params / (degree * find_chip(CHIP).memory_bandwidth())
    return float(read + 2 * config.layers * each)


def at_degree(name: str, each: float, degree: int) -> float:
    """Seconds of an all-reduce on so many chips, from its time on eight.

    A kernel of one shot reads a vector from every other rank. NCCL on a rack adds in the switch,
    and its sweep is of latency alone.
    """
    if name != "SGLang":
        return each
    return each + (degree - DEGREES[0]) * vector() / float(find_chip(CHIP).scaleup_bandwidth())


def sums() -> dict[str, float]:
    """Seconds of an all-reduce by who measured it. Raises FlopbookError where a row has none."""
    kernel = ledger_row(KERNEL).stated.si_value
    if kernel is None:
        raise FlopbookError(f"{KERNEL} states no time")
    return {"NCCL, this chip": reduced(CHIP), "NCCL, H100": reduced("h100-sxm"), "SGLang": kernel}


def figure() -> Figure:
    """A line for each all-reduce, and one without any."""
    times = {**sums(), "reading alone": 0.0}
    ends = token(DEGREES[-1], 0) * 0.8, token(DEGREES[0], max(times.values())) * 1.2
    chart = Chart(
        ChartAxis("TP degree", DEGREES[0], DEGREES[-1], ticks=DEGREES),
        ChartAxis("time of a token", *ends, "s"),
        (84, 14, 500, 270),
    )
    drawn = [
        (
            f"{LABELS.get(name, name)}, {format_quantity(each, 's', digits=2)}" if each else name,
            [(degree, token(degree, at_degree(name, each, degree))) for degree in DEGREES],
        )
        for name, each in times.items()
    ]
    gains = [points[0][1] / points[1][1] for _, points in drawn]
    facts = "; ".join(
        f"{name}: {', '.join(format_quantity(seconds, 's', digits=2) for _, seconds in points)}"
        for name, points in drawn
    )
    return Figure(
        f"From 8 chips to 16 a token comes {gains[0]:.1f} times as fast with slow all-reduces, "
        f"{gains[2]:.1f} times with fast ones",
        f"Time of a token over TP {', '.join(map(str, DEGREES))}, both axes logarithmic. {facts}.",
        f"{find_model(MODEL).name} in bf16 for one user on {find_chip(CHIP).name}, "
        f"{2 * shape(MODEL).layers:g} all-reduces in a token. A line is named by whose all-reduce "
        "it has, and by its time on eight chips: NCCL's as swept on this chip and on H100, and "
        "SGLang's own, to which each further chip adds a read. The lines flatten where all-reduces "
        "outlast the reading; "
        f"beyond {shape(MODEL).kv_heads:g} chips ranks copy KV heads.",
        312,
        (*chart.grid(), *chart.lines(drawn)),
        plots=(chart,),
    )
