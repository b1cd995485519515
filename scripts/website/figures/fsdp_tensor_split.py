"""Traffic of FSDP and of tensor parallelism by how the chips are split between them."""

from __future__ import annotations

from typing import Any

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart, Named
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

POINTS = 60
HIGHEST_TP = 64  # beyond it activations only pile up
_ABOVE = 1.3  # the name of the best split over its dot: between the arms of the sum is no line
LEAST = 0.01  # of the arithmetic: lower traffic is not worth the height of the picture


def figure(
    chip: str = "tpu-v5p",
    d_ff: float = 30000,
    batch_tokens: float = 48000,
    chips: int = 64,
    **network: Any,
) -> Figure:
    """Times over that of the arithmetic; `network` may hold axes, tensor_axes and ffn_kind.

    Raises FlopbookError where one kind alone is best.
    """
    block = {"d_ff": float(d_ff), "batch_tokens": float(batch_tokens)}
    best = calculate("mixed-limit", chip=chip, chips=chips, **block, **network)
    x_opt, least = best["x_opt"], 1 / best["slack"]
    if not _first(chips) < x_opt < chips:
        raise FlopbookError(
            f"the best split of {chips:,} chips lies at an end, FSDP degree {x_opt:g}: nothing to "
            "draw"
        )
    lines = _lines(chips, x_opt, least)
    heights = [y for _, points in lines for _, y in points]
    chart = Chart(
        ChartAxis(
            f"FSDP degree; the other {chips:,} / X chips are the TP degree",
            _first(chips),
            chips,
            "",
        ),
        ChartAxis("traffic over arithmetic", min(heights), max(heights) * 1.2, ""),
        (84, 14, 520, 270),
    )
    shapes = [
        *chart.grid(),
        *chart.lines(lines),
        chart.dot(x_opt, least, f"best FSDP degree {x_opt:.1f}", "fb-c1"),
        chart.words((x_opt, _ABOVE * max(least, 1)), f"X = {x_opt:.0f}", "middle", (0, 0)),
    ]
    highest = 2 * x_opt / least  # the FSDP degree at which weights alone take the arithmetic's time
    if highest < chips:
        shapes += [
            chart.level(1, "fb-stroke", "the time of the arithmetic"),
            chart.dot(highest, 1, f"weights hide up to FSDP degree {highest:.0f}", "fb-c1"),
            chart.words((highest, 1), f"X = {highest:.0f}", "start", (8, 16)),
        ]
    facts = (
        "Both axes logarithmic. The time of weights rises with the FSDP degree, that of "
        f"activations falls. Their sum is least at a degree of {x_opt:.1f}, {least:.2f} of the "
        f"arithmetic, for a batch of {format_quantity(float(batch_tokens), 'token')}."
    )
    return Figure(
        f"Traffic is least at an FSDP degree of {x_opt:.0f} of {chips:,} chips, where both kinds "
        "take equally long",
        facts,
        _caption(chips, format_quantity(float(batch_tokens), "token"), is_crossed=highest < chips),
        312,
        tuple(shapes),
        plots=(chart,),
    )


def _caption(chips: int, batch: str, *, is_crossed: bool) -> str:
    """What to see; `is_crossed` where weights alone come to take as long as the arithmetic."""
    dots = ", and where weights alone take as long as the arithmetic" if is_crossed else ""
    return (
        f"Splitting {chips:,} chips between FSDP and tensor parallelism, {batch} in the batch. "
        f"Below 1 traffic hides behind the arithmetic, if it can hide at all. Dots: the least sum"
        f"{dots}."
    )


def _lines(chips: int, x_opt: float, least: float) -> list[Named]:
    """Traffic of weights, of activations and of both, over the arithmetic, by the FSDP degree.

    At the best split the two are equal; away from it one grows and one falls.
    """
    half = least / 2
    first = _first(chips)
    ways = [first * (chips / first) ** (n / (POINTS - 1)) for n in range(POINTS)]
    weights = [(x, half * x / x_opt) for x in ways]
    activations = [(x, half * x_opt / x) for x in ways]
    sums = [(x, half * x / x_opt + half * x_opt / x) for x in ways]
    low = max(min(y for _, y in (*weights, *activations)), LEAST)
    named = (("sum", sums), ("weights", weights), ("activations", activations))
    return [(name, [(x, y) for x, y in points if y >= low]) for name, points in named]


def _first(chips: int) -> float:
    """The FSDP degree at the highest TP degree that is drawn."""
    return max(1.0, chips / HIGHEST_TP)
