"""Where the time of a decoding step goes as its batch grows, and where memory ends it."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

_POINTS = 21


def parts(model: str, chip: str, tp: int, seq: int, batch: float) -> dict[str, float]:
    """Seconds of a step by what takes them: weights, arithmetic, caches, and the step itself."""
    answer = calculate("decode", model=model, chip=chip, tp=tp, seq=seq, batch=batch)
    names = ("weight_seconds", "compute_seconds", "kv_seconds", "seconds")
    return {name: float(answer[name]) for name in names}


def fitting(model: str, chip: str, tp: int, seq: int) -> float:
    """How many sequences have room beside the weights."""
    return float(calculate("serving", model=model, chip=chip, tp=tp, seq=seq)["batch_fits"])


def figure(
    model: str = "llama-3-70b", chip: str = "nvidia/h100-sxm", tp: int = 8, seq: int = 8192
) -> Figure:
    """Four lines over the batch: reading weights, reading caches, arithmetic, and the step."""
    one = parts(model, chip, tp, seq, 1)
    equal = one["weight_seconds"] / one["kv_seconds"]
    busy = one["weight_seconds"] / one["compute_seconds"]
    room = fitting(model, chip, tp, seq)
    last = float(round(1.15 * max(busy, room)))
    chart = Chart(
        ChartAxis("sequences in a step", 0, last, "", log=False),
        ChartAxis("time", 0, 1.05 * _step(model, chip, tp, seq, last), "s", log=False),
        (84, 20, 556, 290),
    )
    lines = {name: _line(model, chip, tp, seq, name, last) for name in one}
    full = chart.upright(room, f"{room:,.0f} fit")
    shapes = [*chart.grid(), full]
    named = [
        ("arithmetic", lines["compute_seconds"]),
        ("caches", lines["kv_seconds"]),
        ("step", lines["seconds"]),
        ("weights", lines["weight_seconds"]),
    ]
    shapes += chart.lines(named)
    shapes.append(chart.words((room, chart.up.high), f"{room:,.0f} fit", "end", (-6, 14)))
    name = shape(model).model.name
    return Figure(
        f"Up to {equal:,.0f} sequences a step reads mostly weights, beyond that mostly caches",
        f"Time of a decoding step of {name} over the batch, at {seq:,} tokens each. Weights take "
        f"{format_quantity(one['weight_seconds'], 's')} whatever the batch, the cache of a "
        f"sequence {format_quantity(one['kv_seconds'], 's')}, and arithmetic as long as the "
        f"weights at {busy:,.0f} sequences; {room:,.0f} have room.",
        f"{name} in bf16 on {tp} chips of {find_chip(chip).name}. Weights are read once for "
        "everybody, so their line is flat. Each cache is read for its own sequence, so theirs "
        "rises, and that of arithmetic as well. The step is the higher of weights and arithmetic, "
        "and the caches on top. Memory is full long before arithmetic matters.",
        334,
        tuple(shapes),
        plots=(chart,),
    )


def _step(model: str, chip: str, tp: int, seq: int, batch: float) -> float:
    return parts(model, chip, tp, seq, batch)["seconds"]


def _line(model: str, chip: str, tp: int, seq: int, name: str, last: float) -> list[Point]:
    """One part of a step at evenly spaced batches."""
    batches = [float(round(1 + (last - 1) * n / (_POINTS - 1))) for n in range(_POINTS)]
    return [(batch, parts(model, chip, tp, seq, batch)[name]) for batch in batches]
