"""Arithmetic over traffic by the batch per chip: FSDP, tensor parallelism, and the best split."""

from __future__ import annotations

from typing import Any

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.drawing import Figure, path

LOW, HIGH, POINTS = 30.0, 6000.0, 50


def figure(
    chip: str = "tpu-v5p", d_ff: float = 30000, chips: int = 64, axes: int = 3, **network: Any
) -> Figure:
    """Ratios against tokens per chip; `network`: tensor_axes, ffn_kind and link_bandwidth."""
    rate = {name: value for name, value in network.items() if name == "link_bandwidth"}
    block = {name: value for name, value in network.items() if name == "ffn_kind"}
    alone = calculate("fsdp-limit", chip=chip, axes=axes, **rate)["tokens_per_chip"]
    ways = calculate("tp-limit", chip=chip, axes=axes, d_ff=float(d_ff), **rate, **block)[
        "forward_ways"
    ]
    tokens = [LOW * (HIGH / LOW) ** (n / (POINTS - 1)) for n in range(POINTS)]
    mixed = [_slack(chip, d_ff, chips, axes, n, network) for n in tokens]
    lines = (
        ("both, best split", list(zip(tokens, mixed, strict=True))),
        ("FSDP alone", [(n, n / alone) for n in tokens]),
        ("tensor alone", [(n, ways / chips) for n in tokens]),
    )
    least = calculate("mixed-limit", chip=chip, d_ff=float(d_ff), axes=axes, **network)[
        "tokens_per_chip"
    ]
    heights = [y for _, points in lines for _, y in points]
    chart = Chart(
        Axis("tokens per chip", LOW, HIGH, "1"),
        Axis("arithmetic over traffic", min(heights) * 0.8, max(heights) * 1.3, ""),
        (84, 14, 510, 270),
    )
    shapes = [*chart.grid(), path([(84, chart.y.at(1)), (510, chart.y.at(1))], "fb-stroke")]
    shapes += [
        chart.line(points, number) for number, (_, points) in enumerate(lines)
    ] + chart.names(lines)
    for number, (at, name) in enumerate(((least, "both"), (alone, "FSDP alone"))):
        shapes.append(
            chart.dot(at, 1, f"{name}: {format_quantity(at, 'token')} per chip", f"fb-c{number}")
        )
    title = f"Arithmetic over traffic on {chips:,} chips, feed-forward width {d_ff:,.0f}"
    facts = (
        "Both axes logarithmic. At 1 traffic just hides: both together from "
        f"{format_quantity(least, 'token')} per chip, FSDP alone from "
        f"{format_quantity(alone, 'token')}; tensor parallelism alone stays at {ways / chips:.2g}."
    )
    return Figure(
        title,
        facts,
        f"{title}. Above 1 the chips are busy. Dots: where each crosses.",
        312,
        tuple(shapes),
    )


def _slack(
    chip: str, d_ff: float, chips: int, axes: int, tokens: float, network: dict[str, Any]
) -> float:
    """Arithmetic over traffic at the best split of the chips, for so many tokens on each."""
    given = {
        "d_ff": float(d_ff),
        "chips": chips,
        "axes": axes,
        "batch_tokens": tokens * chips,
        **network,
    }
    return float(calculate("mixed-limit", chip=chip, **given)["slack"])
