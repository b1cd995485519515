"""Bytes that one layer of attention moves, by sequence length: in three kernels, and fused."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.formulas import attention_traffic
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

MODEL, BLOCK = "llama-3-70b", 128
LENGTHS = tuple(512 * 2**n for n in range(9))


def moved(seq: float) -> tuple[float, float, float]:
    """Bytes in three kernels; fused, keys read again for each block of queries; all read once."""
    model = shape(MODEL)
    heads = {name: model.pick(name).value for name in ("heads", "kv_heads", "head_dim")}
    once = attention_traffic(seq=seq, **heads)
    again = attention_traffic(seq=seq, **heads, block=BLOCK)
    return once["unfused_bytes"], again["bytes"], once["bytes"]


def figure() -> Figure:
    """Three lines, both axes logarithmic."""
    names = ("three kernels", "fused, no cache", "fused, all read once")
    lines = [
        (name, [(float(seq), moved(seq)[n]) for seq in LENGTHS]) for n, name in enumerate(names)
    ]
    chart = Chart(
        ChartAxis("tokens of the sequence", LENGTHS[0], LENGTHS[-1]),
        ChartAxis("bytes moved", lines[2][1][0][1] / 2, lines[0][1][-1][1] * 2, "byte"),
        (84, 14, 490, 290),
    )
    shapes = chart.grid()
    shapes += chart.lines(lines)
    saved = lines[0][1][-1][1] / lines[2][1][-1][1]
    facts = "; ".join(
        f"{name}: {format_quantity(points[4][1], 'byte')} at {points[4][0]:,.0f} tokens"
        for name, points in lines
    )
    return Figure(
        f"Fused attention moves {saved:,.0f} times fewer bytes at {LENGTHS[-1]:,} tokens",
        f"One layer of {shape(MODEL).model.name} in bf16, all pairs, both axes logarithmic. "
        f"{facts}.",
        "Unfused, scores and weights go to memory and back: four times the square of the length. "
        f"Fused, they never leave the chip. The middle line reads all keys again for every {BLOCK} "
        "queries; a cache brings it towards the lowest.",
        336,
        tuple(shapes),
        plots=(chart,),
    )
