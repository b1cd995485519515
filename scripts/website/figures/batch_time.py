"""Time of one layer against the batch: arithmetic, FSDP, tensor parallelism and both together."""

from __future__ import annotations

from typing import Any

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.drawing import Figure, path, words

LOW, HIGH, POINTS = 30.0, 6000.0, 40
D_MODEL = 8192.0


def lines(
    chip: str, d_ff: float, chips: int, axes: int, tensor_axes: int
) -> list[tuple[str, list[tuple[float, float]]]]:
    """Seconds of a plain block's forward pass by its batch: arithmetic and traffic of each scheme.

    The calculators say at which batch, at how many ways or with what slack traffic takes as long as
    arithmetic.
    """
    network: dict[str, Any] = {"chip": chip, "axes": axes}
    alone = float(calculate("fsdp-limit", **network)["tokens_per_chip"])
    ways = float(calculate("tp-limit", d_ff=float(d_ff), **network)["forward_ways"])
    tokens = [LOW * (HIGH / LOW) ** (n / (POINTS - 1)) for n in range(POINTS)]
    work = [4 * n * D_MODEL * d_ff / find_chip(chip).peak("bf16") for n in tokens]
    slack = [
        float(
            calculate(
                "mixed-limit",
                d_ff=float(d_ff),
                chips=chips,
                batch_tokens=n * chips,
                tensor_axes=tensor_axes,
                **network,
            )["slack"]
        )
        for n in tokens
    ]
    batch = [n * chips for n in tokens]
    return [
        ("arithmetic", list(zip(batch, work, strict=True))),
        ("FSDP", [(b, w * alone / n) for b, w, n in zip(batch, work, tokens, strict=True)]),
        ("tensor", [(b, w * chips / ways) for b, w in zip(batch, work, strict=True)]),
        ("both", [(b, w / s) for b, w, s in zip(batch, work, slack, strict=True)]),
    ]


def figure(
    chip: str = "tpu-v5p", d_ff: float = 30000, chips: int = 64, axes: int = 3, tensor_axes: int = 1
) -> Figure:
    """Four lines; where traffic crosses arithmetic, its scheme begins to keep the chips busy."""
    named = lines(chip, float(d_ff), chips, axes, tensor_axes)
    least = {
        "both": float(
            calculate(
                "mixed-limit", chip=chip, d_ff=float(d_ff), axes=axes, tensor_axes=tensor_axes
            )["tokens_per_chip"]
        ),
        "FSDP": float(calculate("fsdp-limit", chip=chip, axes=axes)["tokens_per_chip"]),
    }
    heights = [y for _, points in named for _, y in points]
    across = Axis("tokens in the batch", LOW * chips, HIGH * chips, "1")
    chart = Chart(across, Axis("time", min(heights), max(heights), "s"), (84, 20, 540, 280))
    shapes = [
        *chart.grid(),
        *(chart.line(points, n) for n, (_, points) in enumerate(named)),
        *chart.names(named),
    ]
    for name, tokens in least.items():
        at = chart.x.at(tokens * chips)
        shapes += [
            path([(at, 20), (at, 280)], "fb-dashed"),
            words(at, 14, f"{name}: {tokens * chips:,.0f}", kind="fb-small"),
        ]
    facts = ", ".join(
        f"{name} from {format_quantity(t * chips, 'token')}" for name, t in least.items()
    )
    return Figure(
        f"Time of a layer by the batch on {chips} chips",
        "Both axes logarithmic. The time of the arithmetic rises with the batch; that of FSDP's "
        "traffic does not change; that of tensor parallelism rises alike and stays above; that of "
        f"both rises with the square root. Busy: {facts}.",
        f"Forward pass of a plain block of {D_MODEL:,.0f} by {d_ff:,.0f} on {chips} "
        f"{find_chip(chip).name} in a torus of {axes} axes. A scheme keeps the chips busy where "
        "its line lies below that of the arithmetic, so right of its dashed threshold.",
        322,
        tuple(shapes),
    )
