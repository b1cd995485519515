"""Work, bytes and rates of kernels, from the definition of the roofline.

Williams, Waterman and Patterson 2009: attainable rate = min(peak, bandwidth x intensity). Hong and
Kung 1981 for products in tiles; Dao et al. 2022 for fused attention.
"""

from __future__ import annotations

import math
from collections.abc import Mapping


def under_roofs(flop: float, moved: float, peak: float, bandwidth: float) -> dict[str, object]:
    """Intensity, rate, time and limit of a kernel under one peak and one bandwidth."""
    seconds = max(flop / peak, moved / bandwidth)
    return {
        "intensity": flop / moved,
        "attainable_flop_per_s": flop / seconds,
        "seconds": seconds,
        "bound": "memory" if moved / bandwidth > flop / peak else "arithmetic",
    }


def product(m: float, n: float, k: float, widths: tuple[float, float, float]) -> dict[str, float]:
    """[m, k] x [k, n], the widths those of left, right and result: 2mnk; each matrix moves once."""
    left, right, result = widths
    return {"flop": 2 * m * n * k, "bytes": left * m * k + right * k * n + result * m * n}


def attention(
    queries: float, keys: float, head_dim: float, heads: float, kv_heads: float, width: float
) -> dict[str, float]:
    """Scores and weighted values, 2 operations each, of the last `queries` of `keys` tokens.

    Causal: the last query sees all keys, the one before it one less.
    """
    pairs = queries * keys - queries * (queries - 1) / 2
    flop = 4 * pairs * head_dim * heads
    rows = 2 * queries * heads + 2 * keys * kv_heads  # Q and the result; K and V
    return {"flop": flop, "bytes": width * head_dim * rows}


def batch_that_saturates(
    peak: float, bandwidth: float, weight: float, sides: tuple[float, float], width: float
) -> float | None:
    """Rows B at which 2BDF / peak equals the time to move weights and activations.

    None where no B does.
    """
    inner, outer = sides
    arithmetic_for_row = 2 * inner * outer / peak
    bytes_for_row = width * (inner + outer) / bandwidth
    if arithmetic_for_row <= bytes_for_row:
        return None
    return weight * inner * outer / bandwidth / (arithmetic_for_row - bytes_for_row)


def tiled(
    sides: tuple[int, int, int], tile: int, width: float, depth: int = 64
) -> Mapping[str, float]:
    """A product walked tile by tile: each row of tiles reads all of B, each column all of A."""
    m, n, k = sides
    across, down = math.ceil(n / tile), math.ceil(m / tile)
    read = across * m * k + down * k * n
    return {
        "bytes": width * (read + m * n),
        "intensity": 2 * tile * tile * k / (width * 2 * tile * k),
        "tile_bytes": tile_bytes(tile, width, depth),
    }


def tile_bytes(side: int, width: float, depth: int) -> float:
    """Sums in fp32, and two slices of both factors: one is multiplied while the next is loaded."""
    return 4 * side * side + 2 * 2 * width * side * depth


def largest_tile(near: float, width: float, depth: int = 64) -> int:
    """Count up: the last side whose sums and slices fit."""
    side = 0
    while tile_bytes(side + 1, width, depth) <= near:
        side += 1
    return side


def fused_attention(
    seq: int, heads: int, kv_heads: int, head_dim: int, block: int = 0, width: float = 2
) -> dict[str, float]:
    """Queries in blocks, each of which reads all keys and values; scores stay on the chip.

    A block belongs to one query head, as in FlashAttention: heads of a group do not share a read.
    Unfused, in the same blocks, scores and weights are each written once and read once.
    """
    queries = 2 * seq * heads * head_dim
    passes, readers = (math.ceil(seq / block), heads) if block else (1, kv_heads)
    keys = 2 * seq * readers * head_dim * passes
    scores = width * 4 * heads * seq * seq
    return {
        "bytes": width * (queries + keys),
        "score_bytes": scores,
        "unfused_bytes": width * (queries + keys) + scores,
    }


def waves(m: int, n: int, tile: tuple[int, int], processors: int) -> dict[str, float]:
    """Tiles dealt out to processors, one each, until none is left."""
    tiles = math.ceil(m / tile[0]) * math.ceil(n / tile[1])
    rounds = math.ceil(tiles / processors)
    return {
        "tiles": tiles,
        "waves": rounds,
        "tile_share": m * n / (tiles * tile[0] * tile[1]),
        "wave_share": tiles / (rounds * processors),
        "useful_share": m * n / (rounds * processors * tile[0] * tile[1]),
    }
