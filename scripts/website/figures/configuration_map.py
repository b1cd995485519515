"""All ways to divide 16,384 chips between tensors, stages and copies: memory and idle time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.configuration_memory import CHIP, COMMON
from scripts.website.figures.drawing import Figure, dot, path, words

# Two places count as layers: the ends have the embedding and the head.
CHIPS, SEQUENCES, LAYERS = 16384, 2048, 128
CHOSEN = (8, 16)


class Configuration(NamedTuple):
    """A division of the chips, with bytes on a chip and the share of time that a stage is idle."""

    tp: int
    pp: int
    dp: int
    bytes: float
    idle: float


def configurations() -> Iterator[Configuration]:
    """Powers of two: tensors within a node, stages of at least three layers, the rest copies."""
    for tp in (1, 2, 4, 8):
        for pp in (1, 2, 4, 8, 16, 32):
            dp = CHIPS // (tp * pp)
            if SEQUENCES % dp == 0:
                yield _measured(tp, pp, dp)


def _measured(tp: int, pp: int, dp: int) -> Configuration:
    batches = SEQUENCES // dp
    order: dict[str, Any] = {"schedule": "1f1b"}
    if pp > 1 and batches % pp == 0:
        order = {"schedule": "interleaved", "virtual": min(8, LAYERS // pp)}
    given = COMMON | {"microbatches": batches, "tp": tp, "pp": pp, "dp": dp, "zero": 2}
    given |= order | ({"sequence_parallel": "yes"} if tp > 1 else {})
    idle = calculate("bubble", stages=pp, microbatches=batches, **order)["fraction"]
    return Configuration(tp, pp, dp, calculate("memory", **given)["total"], idle)


def figure() -> Figure:
    """One point for each division, with a line at the memory of the chip."""
    found, memory = list(configurations()), chip(CHIP).memory()
    chart = Chart(
        Axis("memory needed on a chip", 6e10, 2e11, "byte"),
        Axis("percent of time idle", 0, 100, "1", log=False),
    )
    parts = chart.grid()
    edge = chart.x.at(memory)
    parts += [
        path([(edge, 14), (edge, 290)], "fb-line0"),
        words(edge - 6, 28, "fits", "end", "fb-strong"),
    ]
    for number, tp in enumerate((1, 2, 4, 8)):
        parts += [mark for one in found if one.tp == tp for mark in _mark(chart, one, number)]
    best = next(one for one in found if (one.tp, one.pp) == CHOSEN)
    place = best.bytes, 100 * best.idle
    parts.append(chart.words(place, "as trained", "end", (-14, 4)))
    fitting = [one for one in found if one.bytes <= memory]
    return Figure(
        "Ways to divide 16,384 chips",
        f"{len(found)} divisions for Llama 3 405B with a batch of {SEQUENCES:,} sequences. "
        f"{len(fitting)} fit: {'; '.join(map(_tip, sorted(fitting, key=lambda one: one.idle)))}.",
        "Each point is one division of the chips; the number in it says the ways of tensors. "
        "Gradients and optimizer are cut over the copies. Left of the line it fits. Low is good; a "
        "pointer shows which division a point is.",
        336,
        tuple(parts),
    )


def _mark(chart: Chart, one: Configuration, number: int) -> list[str]:
    """A point with the ways of tensors in it, so that colour alone does not say them."""
    x, y = chart.x.at(one.bytes), chart.y.at(100 * one.idle)
    return [
        dot(x, y, f"fb-c{number}", _tip(one), 9),
        words(x, y + 4, str(one.tp), kind=f"fb-on{number}"),
    ]


def _tip(one: Configuration) -> str:
    held = f"{one.bytes / 1e9:,.0f} GB, {one.idle:.0%} of the time idle"
    return f"tensors {one.tp}, stages {one.pp}, copies {one.dp}: {held}"
