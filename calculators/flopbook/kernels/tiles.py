"""Kernels that work in tiles: the bytes they move, what fits near the arithmetic, and the units
they keep busy.

Bytes are those between the near memory and the far one. Sides are in elements, widths in bytes.
"""

from __future__ import annotations

import math

from flopbook.errors import FlopbookError

SUM = 4.0  # bytes of a sum, kept in fp32 until it is written


def product_bytes(m: float, n: float, k: float, tile: float, width: float = 2.0) -> float:
    """Bytes of a product [m, k] x [k, n] whose result is made in square tiles, one after the other.

    Each tile reads a strip of `tile` rows and one of `tile` columns; the result is written once.
    """
    rows, columns = _tiles(m, tile), _tiles(n, tile)
    return width * (columns * m * k + rows * k * n + m * n)


def tile_memory(tile: float, depth: float = 64.0, width: float = 2.0) -> float:
    """Bytes of a tile in the near memory: its sums, and twice the two slices it works on, for the
    next ones arrive.
    """
    side, deep = _positive(tile, "the side of a tile"), _positive(depth, "the depth of a slice")
    return SUM * side**2 + 2 * 2 * side * deep * width


def largest_tile(memory: float, depth: float = 64.0, width: float = 2.0) -> float:
    """The largest power of two that is the side of a tile in so many bytes.

    Raises FlopbookError where none is.
    """
    side = 1.0
    if tile_memory(side, depth, width) > memory:
        raise FlopbookError(f"no tile fits into {memory:,.0f} bytes")
    while tile_memory(2 * side, depth, width) <= memory:
        side *= 2
    return side


def wave_share(m: float, n: float, tile_m: float, tile_n: float, units: float) -> float:
    """Share of the time of `units` processors that makes wanted results, with one tile on each of
    them at a time.
    """
    waves = math.ceil(
        _tiles(m, tile_m) * _tiles(n, tile_n) / _positive(units, "the number of processors")
    )
    return m * n / (waves * units * tile_m * tile_n)


def lane_share(count: float, lanes: float) -> float:
    """Share of the lanes that have work in a loop of `count` rounds, the last instruction masked."""
    return count / (_tiles(count, lanes) * lanes)


def attention_bytes(
    seq: float, heads: float, kv_heads: float, head_dim: float, block: float = 0.0
) -> float:
    """Bytes of fused attention over a sequence, 2 for each number and no mask.

    Queries are read and results written once. Keys and values are read once, or, where a block of
    queries is given and no cache helps, again by each block of each head.
    """
    times = heads * _tiles(seq, block) if block else kv_heads
    return 2 * (2 * heads * seq * head_dim + 2 * times * seq * head_dim)


def score_bytes(seq: float, heads: float) -> float:
    """Bytes that attention in three kernels moves beside those: scores and weights, both written
    once and read once.
    """
    return 2 * 4 * heads * seq**2


def _tiles(count: float, side: float) -> int:
    return math.ceil(_positive(count, "a side of the work") / _positive(side, "the side of a tile"))


def _positive(value: float, what: str) -> float:
    if value <= 0:
        raise FlopbookError(f"{what} has to be above zero, found {value:g}")
    return value
