"""Traffic of FSDP and of tensor parallelism by how the chips are split between them."""

from __future__ import annotations

from typing import Any

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.drawing import Figure

POINTS = 60


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
    given = {
        "chip": chip,
        "d_ff": float(d_ff),
        "batch_tokens": float(batch_tokens),
        "chips": chips,
        **network,
    }
    best = calculate("mixed-limit", **given)
    x_opt, slack = best["x_opt"], best["slack"]
    if not 1 < x_opt < chips:
        raise FlopbookError(
            f"the best split of {chips:,} chips lies at an end, {x_opt:g} ways of FSDP: nothing to "
            "draw"
        )
    # At the best split the two are equal, and together 1 / slack of the arithmetic; away from it
    # one grows, one falls.
    half = 1 / (2 * slack)
    ways = [chips ** (n / (POINTS - 1)) for n in range(POINTS)]
    weights = [(x, half * x / x_opt) for x in ways]
    activations = [(x, half * x_opt / x) for x in ways]
    sums = [(x, a + b) for (x, a), (_, b) in zip(weights, activations, strict=True)]
    low = min(min(y for _, y in weights), min(y for _, y in activations))
    chart = Chart(
        Axis(f"ways of FSDP; the other {chips:,} / X ways are tensor parallelism", 1, chips, ""),
        Axis("traffic over arithmetic", max(low, 0.01), max(y for _, y in sums) * 1.2, ""),
        (84, 14, 520, 270),
    )
    shapes = chart.grid()
    lines = [
        (name, [point for point in points if point[1] >= max(low, 0.01)])
        for name, points in (("sum", sums), ("weights", weights), ("activations", activations))
    ]
    shapes += [
        chart.line(points, number) for number, (_, points) in enumerate(lines)
    ] + chart.names(lines)
    shapes.append(chart.dot(x_opt, 2 * half, f"best at {x_opt:.1f} ways of FSDP", "fb-c1"))
    shapes.append(chart.words((x_opt, 2 * half), f"X = {x_opt:.1f}", "middle", (0, -10)))
    title = f"Splitting {chips:,} chips between FSDP and tensor parallelism"
    facts = (
        "Both axes logarithmic. The time of weights rises with the ways of FSDP, that of "
        f"activations falls. Their sum is least at {x_opt:.1f} ways, {2 * half:.2f} of the "
        f"arithmetic, for a batch of {format_quantity(float(batch_tokens), 'token')}."
    )
    return Figure(
        title,
        facts,
        f"{title}. Below 1 the traffic hides behind the arithmetic.",
        312,
        tuple(shapes),
    )
