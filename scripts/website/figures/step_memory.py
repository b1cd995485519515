"""What lies in memory during one training step: weights, optimizer, activations, gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, Sheet, key, path, words
from scripts.website.figures.plotted import ChartAxis, FigureValue
from scripts.website.figures.shapes import SHEET

_MODEL = "llama-3-8b"
_TIMES = (0.0, 1.0, 3.0, 3.4)  # start, end of forward, end of backward, end of the update
_PASSES = ("forward", "backward", "update")
# What is there at each time, as a share of the most that there ever is.
_LIFE = {
    "weights": (1, 1, 1, 1),
    "optimizer": (1, 1, 1, 1),
    "gradients": (0, 0, 1, 1),
    "activations": (0, 1, 0, 0),
}
_KINDS = (("weights", "c0"), ("optimizer", "c5"), ("gradients", "c3"), ("activations", "c1"))


def figure() -> Figure:
    """Stacked areas over one step of the model with one sequence."""
    size = _sizes()
    wide = [*_areas(size, (84, 34, 616, 270)), *_legend(84, 8, _KINDS)]
    phone = [*_areas(size, (62, 64, SHEET - 8, 270), named_above=True)]
    phone += [*_legend(2, 4, _KINDS[:2]), *_legend(2, 24, _KINDS[2:])]
    sizes = ", ".join(f"{name} {format_quantity(size[name], 'byte')}" for name, _ in _KINDS)
    return Figure(
        "Memory is fullest where the forward pass ends",
        "Stacked areas over time. Always there: weights and optimizer state. Activations grow in "
        "the forward pass and shrink in the backward pass, while gradients grow; the update uses "
        f"all but the activations. At most: {sizes}.",
        "Llama 3 8B, one sequence of 8,192 tokens, everything kept but the attention scores; the "
        "loss, drawn in the figure after the next table, is left out. Activations pile up going "
        "forward and are freed going back. Times are drawn as if the backward pass took twice as "
        "long as the forward pass.",
        298,
        tuple(wide),
        narrow=Sheet(SHEET, 298, tuple(phone)),
        readings=tuple(
            FigureValue(f"at time {time:g}", name, size[name] * _LIFE[name][place], "byte")
            for place, time in enumerate(_TIMES)
            for name, _ in _KINDS
        ),
    )


def _sizes() -> dict[str, float]:
    """Bytes of each kind where it is fullest; of activations those of the layers."""
    memory = calculate(
        "memory", model=_MODEL, seq=8192, recompute="none", attention="flash", dropout="no"
    )
    return {name: float(memory[name]) for name, _ in _KINDS}


def _areas(
    size: dict[str, float], room: tuple[float, float, float, float], *, named_above: bool = False
) -> Iterator[str]:
    """The areas upon each other with the scale of the memory; `room` as that of a chart.

    `named_above`: what the scale is stands above it, not beside it.
    """
    over_time = [[size[name] * share for share in _LIFE[name]] for name, _ in _KINDS]
    top = max(map(sum, zip(*over_time, strict=True)))
    chart = Chart(
        ChartAxis("", 0, _TIMES[-1], "", log=False),
        ChartAxis("memory", 0, 1.08 * top, "byte", log=False),
        room,
    )
    # of the grid only the labels of the memory: the times have no scale
    yield from (shape for shape in chart.grid() if "GB<" in shape)
    yield words(2, room[1] - 8, "memory", "start") if named_above else chart.grid()[-1]
    below = [0.0] * len(_TIMES)
    for quantities, (_, kind) in zip(over_time, _KINDS, strict=True):
        above = [lower + quantity for lower, quantity in zip(below, quantities, strict=True)]
        yield _area(chart, below, above, kind)
        below = above
    yield from _passes(chart)


def _area(chart: Chart, below: list[float], above: list[float], kind: str) -> str:
    """The area between two lines over time: along the lower one and back along the upper."""
    lower_edge = list(zip(_TIMES, below, strict=True))
    back = list(zip(_TIMES, above, strict=True))[::-1]
    places = map(chart.place, (*lower_edge, *back))
    points = " ".join(f"{x},{y}" for x, y in places)
    return f'<polygon class="fb-{kind}" points="{points}"/>'


def _passes(chart: Chart) -> Iterator[str]:
    """Where each pass ends, and its name below it."""
    for (start, stop), name in zip(pairwise(_TIMES), _PASSES, strict=True):
        x0, x1 = chart.x.at(start), chart.x.at(stop)
        _, top, _, bottom = chart.area
        yield path([(x1, top), (x1, bottom)], "fb-dashed")
        yield words((x0 + x1) / 2, bottom + 18, name)


def _legend(x: float, top: float, kinds: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What the fills are, in one line."""
    for name, kind in kinds:
        yield from key(x, top, name, f"fb-{kind}")
        x += 46 + 6.4 * len(name)
