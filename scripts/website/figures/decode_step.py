"""Where the time of a decoding step goes as its batch grows, and where memory ends it."""

from __future__ import annotations

import math

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, Sheet, words
from scripts.website.figures.plotted import ChartAxis, Point
from scripts.website.figures.shapes import SHEET

_POINTS = 21
_NAMED = 8  # the point at which the names of the areas stand


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
    """A step stacked over the batch: weights or arithmetic, and caches upon the higher of them."""
    one = parts(model, chip, tp, seq, 1)
    equal = math.floor(one["weight_seconds"] / one["kv_seconds"])
    busy = one["weight_seconds"] / one["compute_seconds"]
    room = fitting(model, chip, tp, seq)
    last = float(round(1.15 * max(busy, room)))
    lines = {name: _line(model, chip, tp, seq, name, last) for name in one}
    chart, shapes = _stacked(lines, room, (84, 20, 556, 290))
    _, phone = _stacked(lines, room, (52, 26, SHEET - 76, 290), named_above=True)
    name = shape(model).model.name
    return Figure(
        f"Up to {equal:,} sequences a step reads mostly weights, beyond that mostly caches",
        f"Time of a decoding step of {name} over the batch, at {seq:,} tokens each. Weights take "
        f"{format_quantity(one['weight_seconds'], 's')} whatever the batch, the cache of a "
        f"sequence {format_quantity(one['kv_seconds'], 's')}, and arithmetic as long as the "
        f"weights at {busy:,.0f} sequences; {room:,.0f} have room.",
        f"{name} in bf16 on {tp} chips of {find_chip(chip).name}. Weights are read once for "
        "the whole batch, so the lower area is flat until arithmetic takes longer. Each cache is "
        "read for its own sequence, so the area on top grows with the batch; its dotted edge is "
        "the whole step. Memory is full long before arithmetic matters.",
        334,
        tuple(shapes),
        plots=(chart,),
        narrow=Sheet(SHEET, 334, tuple(phone)),
    )


def _stacked(
    lines: dict[str, list[Point]],
    room: float,
    area: tuple[float, float, float, float],
    *,
    named_above: bool = False,
) -> tuple[Chart, list[str]]:
    """The areas upon each other with their edges; `room` is how many sequences fit.

    `named_above`: what the upright axis is stands above it, not beside it.
    """
    read, computed, step = (
        lines[name] for name in ("weight_seconds", "compute_seconds", "seconds")
    )
    chart = Chart(
        ChartAxis("sequences in a step", 0, step[-1][0], "", log=False),
        ChartAxis("time", 0, 1.05 * step[-1][1], "s", log=False),
        area,
    )
    higher = [max(pair, key=_time) for pair in zip(read, computed, strict=True)]
    weights, cached = read[_NAMED][1], lines["kv_seconds"][_NAMED][1]
    fit = f"{room:,.0f} fit"
    *grid, beside = chart.grid()
    return chart, [
        *grid,
        words(2, area[1] - 12, chart.up.label, "start") if named_above else beside,
        _area(chart, [(batch, 0) for batch, _ in higher], higher, "c1"),
        _area(chart, higher, step, "c6"),
        chart.upright(room, fit),
        chart.line(computed, 0),
        chart.line(read, 1, "weights"),
        chart.line(step, 2),
        _inside(chart, read, 0.75 * weights, "weights", "fb-on1"),
        _inside(chart, read, weights + 0.45 * cached, "caches", "fb-on6"),
        chart.words(step[-1], "step"),
        chart.words(computed[-1], "arithmetic"),
        chart.words((room, chart.up.high), fit, "end", (-6, 14)),
    ]


def _time(point: Point) -> float:
    return point[1]


def _inside(chart: Chart, along: list[Point], height: float, text: str, ink: str) -> str:
    """The name of an area, in the ink of its fill."""
    x, y = chart.place((along[_NAMED][0], height))
    return words(x, y + 4, text, kind=ink)


def _area(chart: Chart, below: list[Point], above: list[Point], fill: str) -> str:
    """What lies between two lines: along the lower one and back along the upper."""
    points = " ".join(f"{x:.5g},{y:.5g}" for x, y in map(chart.place, (*below, *above[::-1])))
    return f'<polygon class="fb-{fill}" points="{points}"/>'


def _line(model: str, chip: str, tp: int, seq: int, name: str, last: float) -> list[Point]:
    """One part of a step at evenly spaced batches."""
    batches = [float(round(1 + (last - 1) * n / (_POINTS - 1))) for n in range(_POINTS)]
    return [(batch, parts(model, chip, tp, seq, batch)[name]) for batch in batches]
