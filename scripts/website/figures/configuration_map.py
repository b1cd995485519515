"""All ways to divide 16,384 chips between tensors, stages and copies: memory and idle time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.configuration_memory import CHIP, COMMON
from scripts.website.figures.drawing import Figure, dot, words
from scripts.website.figures.plotted import ChartAxis

# Two places count as layers: the ends have the embedding and the head.
CHIPS, SEQUENCES, LAYERS = 16384, 2048, 128
_TICKS = (6e10, 8e10, 1e11, 1.5e11, 2e11)  # bytes; with the memory of a chip among them
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
    divided = {"zero": 2, "grad_accumulation": "sharded"}
    options = COMMON | {"microbatches": batches, "tp": tp, "pp": pp, "dp": dp} | divided
    options |= order | ({"sequence_parallel": "yes"} if tp > 1 else {})
    idle = calculate("bubble", stages=pp, microbatches=batches, **order)["fraction"]
    return Configuration(tp, pp, dp, calculate("memory", **options)["total"], idle)


def figure() -> Figure:
    """One point for each division, with a line at the memory of the chip."""
    divisions, memory = list(configurations()), chip(CHIP).memory()
    chart = Chart(
        ChartAxis("memory needed on a chip", 6e10, 2e11, "byte", ticks=_TICKS),
        ChartAxis("percent of time idle", 0, 100, "1", log=False),
    )
    shapes = chart.grid()
    edge = chart.x.at(memory)
    shapes += [
        chart.upright(memory, "memory of a chip: left of it fits", "fb-line0"),
        words(edge - 6, 28, "fits", "end", "fb-strong"),
    ]
    for number, tp in enumerate((1, 2, 4, 8)):
        shapes += [
            mark
            for division in divisions
            if division.tp == tp
            for mark in _mark(chart, division, number)
        ]
    best = next(division for division in divisions if (division.tp, division.pp) == CHOSEN)
    place = best.bytes, 100 * best.idle
    deeper = next(one for one in divisions if (one.tp, one.pp) == (best.tp, 2 * best.pp))
    barely = next(one for one in divisions if (one.tp, one.pp) == (best.tp // 2, 2 * best.pp))
    next_to = deeper.bytes, 100 * deeper.idle
    shapes += [
        chart.words(place, "as trained", "end", (-14, 4)),
        chart.words(next_to, "PP 32", "end", (-14, 4)),
        chart.words((barely.bytes, 100 * barely.idle), "PP 32", "start", (2, -14)),
        chart.words((1.2e11, 50), "too few micro-batches for chunks", "middle", (0, 4)),
        chart.words((1.2e11, 27), "up to eight chunks", "middle", (0, 4)),
    ]
    fitting = [division for division in divisions if division.bytes <= memory]
    return Figure(
        f"Of {len(divisions)} ways to divide 16,384 chips {len(fitting)} come out at or below "
        f"{memory / 1e9:.0f} GB, and the run took the one that idles {percent(best.idle)}",
        f"{len(divisions)} divisions for Llama 3 405B with a batch of {SEQUENCES:,} sequences. "
        f"{len(fitting)} fit: "
        f"{'; '.join(map(_tip, sorted(fitting, key=lambda division: division.idle)))}.",
        "Each point is one division of the chips; its number (on a phone its shape) is the TP "
        "degree, and each has half the stages of the one left of it in its row. "
        "Gradients and optimizer are sharded over the replicas. Layouts left of the line fit, "
        "and lower is better; only pipelines of TP 8 get enough micro-batches for chunks.",
        336,
        tuple(shapes),
        plots=(chart,),
    )


def _mark(chart: Chart, division: Configuration, number: int) -> list[str]:
    """A point with the TP degree in it, so that colour alone does not say them; else a shape."""
    place = division.bytes, 100 * division.idle
    chart.mark(place, _tip(division), f"fb-mark fb-c{number}", f"TP degree {division.tp}")
    x, y = chart.x.at(division.bytes), chart.y.at(100 * division.idle)
    return [
        dot(x, y, f"fb-c{number}", _tip(division), 9),
        words(x, y + 4, str(division.tp), kind=f"fb-on{number}"),
    ]


def _tip(division: Configuration) -> str:
    held = f"{division.bytes / 1e9:,.0f} GB, {percent(division.idle)} of the time idle"
    return f"TP {division.tp}, PP {division.pp}, DP {division.dp:,}: {held}"
