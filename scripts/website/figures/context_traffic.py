"""What a rank receives for attention over a sequence that is cut: ring or all-to-all over heads."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

MODEL, TOKENS, WIDTH = "llama-3-405b", 131072, 2  # a sequence in bf16
RANKS = tuple(2 ** (n / 4) for n in range(4, 29))  # from 2 to 128, a fourth of a doubling apart


def ring_share(kv_heads: float, ranks: float) -> float:
    """Heads' worth of the whole sequence that a rank receives: keys and values of all others."""
    return 2 * kv_heads * (ranks - 1) / ranks


def exchange_share(heads: float, kv_heads: float, ranks: float) -> float:
    """The same for queries and outputs in shares, and keys and values in whole heads at least."""
    moved = 2 * heads * (ranks - 1) / ranks
    moved += 2 * max(kv_heads / ranks, 1) * (ranks - 1)
    return moved / ranks


def figure() -> Figure:
    """Two lines; the ring stays level, the all-to-all falls and crosses it."""
    model = shape(MODEL)
    head = WIDTH * TOKENS * model.head_dim  # bytes of one head of the whole sequence
    chart = Chart(
        ChartAxis("ranks that share the sequence", RANKS[0], RANKS[-1], "1"),
        ChartAxis("bytes received by a rank", 5e7, 8e9, "byte"),
        (84, 14, 560, 270),
    )
    shapes = chart.grid()
    ring = [(ranks, head * ring_share(model.kv_heads, ranks)) for ranks in RANKS]
    swap = [(ranks, head * exchange_share(model.heads, model.kv_heads, ranks)) for ranks in RANKS]
    shapes += chart.lines([("ring, gather", ring), ("all-to-all", swap)])
    meet = model.heads / (model.kv_heads - 1)
    level = head * ring_share(model.kv_heads, meet)
    shapes.append(chart.dot(meet, level, f"equal at {meet:.1f} ranks"))
    shapes.append(chart.words((meet, level), f"{meet:.0f} ranks", shift=(8, -10)))
    ends = [format_quantity(line[-1][1], "byte") for line in (ring, swap)]
    return Figure(
        f"A ring receives fewer bytes below {meet:.0f} ranks, the all-to-all above",
        f"Both axes logarithmic. At {RANKS[-1]:.0f} ranks the ring receives {ends[0]}, the "
        f"all-to-all {ends[1]}.",
        f"One layer of {model.model.name}, forward, {TOKENS:,} tokens in bf16, with no tensor "
        f"parallelism: {model.heads:.0f} query heads share {model.kv_heads:.0f} KV heads. The "
        "ring's line is nearly level, since each rank needs all keys and values. Queries and "
        "outputs shrink with the ranks, and the bend is where every rank has one KV head left.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
