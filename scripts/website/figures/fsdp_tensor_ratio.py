"""Arithmetic over traffic by the batch per chip: FSDP, tensor parallelism, and the best split."""

from __future__ import annotations

from typing import Any

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart, spaced
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

LOW, HIGH, POINTS = 30.0, 6000.0, 50


def figure(
    chip: str = "tpu-v5p", d_ff: float = 30000, chips: int = 64, axes: int = 3, **network: Any
) -> Figure:
    """Ratios against tokens per chip; `network`: tensor_axes, ffn_kind and link_bandwidth."""
    ring = {"chip": chip, "axes": axes, **_chosen(network, "link_bandwidth")}
    block = {"d_ff": float(d_ff), **_chosen(network, "ffn_kind")}
    both = {"chip": chip, "axes": axes, "d_ff": float(d_ff), **network}
    alone = calculate("fsdp-limit", **ring)["tokens_per_chip"]
    ways = calculate("tp-limit", **ring, **block)["forward_degree"]
    least = calculate("mixed-limit", **both)["tokens_per_chip"]
    tokens = spaced(LOW, HIGH, POINTS)
    lines = (
        ("both, best split", [(n, _slack(both, chips, n)) for n in tokens]),
        ("FSDP alone", [(n, n / alone) for n in tokens]),
        ("tensor alone", [(n, ways / chips) for n in tokens]),
    )
    heights = [y for _, points in lines for _, y in points]
    chart = Chart(
        ChartAxis("tokens per chip", LOW, HIGH, "1"),
        ChartAxis("arithmetic over traffic", min(heights) * 0.8, max(heights) * 1.3, ""),
        (84, 14, 510, 270),
    )
    shapes = [
        *chart.grid(),
        chart.level(1, "fb-stroke", "chips are busy above"),
        *chart.lines(lines),
    ]
    for number, (batch, name) in enumerate(((least, "both"), (alone, "FSDP alone"))):
        tip = f"{name}: {format_quantity(batch, 'token')} per chip"
        shapes.append(chart.dot(batch, 1, tip, f"fb-c{number}"))
        side, shift = (("end", (-8, -8)), ("start", (8, 18)))[number]
        shapes.append(chart.words((batch, 1), f"{batch:,.0f}", side, shift))
    title = f"Arithmetic over traffic on {chips:,} chips, feed-forward width {d_ff:,.0f}"
    facts = (
        "Both axes logarithmic. At 1 traffic just hides: both together from "
        f"{format_quantity(least, 'token')} per chip, FSDP alone from "
        f"{format_quantity(alone, 'token')}; tensor parallelism alone stays at {ways / chips:.2g}."
    )
    return Figure(
        f"FSDP and TP together keep chips busy from {least:,.0f} tokens each, FSDP alone from "
        f"{alone:,.0f}",
        facts,
        f"{title}. Above 1 the chips are busy. Dots: where each crosses.",
        312,
        tuple(shapes),
        plots=(chart,),
    )


def _chosen(network: dict[str, Any], name: str) -> dict[str, Any]:
    """One option of the network, if it is given: not every calculator takes all of them."""
    return {name: network[name]} if name in network else {}


def _slack(options: dict[str, Any], chips: int, tokens: float) -> float:
    """Arithmetic over traffic at the best split of the chips, for so many tokens on each."""
    batch = {"chips": chips, "batch_tokens": tokens * chips}
    return float(calculate("mixed-limit", **options, **batch)["slack"])
