"""What layers that see near tokens alone, of a window or of a chunk, attend to in training.

Arrays have one element per run, as in `step_time`.
"""

from __future__ import annotations

from flopbook.prediction import arrays
from flopbook.prediction.arrays import Column
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.torus import is_torus
from flopbook.prediction.transformers import Transformer

# Queries that a kernel of fused attention takes at once: it multiplies all of them with each block
# of keys that one of them sees. 128 in FlashAttention; MaxText's recipes for Gemma 3 set
# `sa_block_q` to 1,024.
TILE, TORUS_TILE = 128.0, 1024.0


def keys_unmasked(shape: Transformer) -> float:
    """Keys that a query meets in an attending layer without a causal mask, times their width."""
    whole = 1 - shape.windowed - shape.chunked
    near = shape.chunked * min(shape.tokens, shape.chunk)
    in_window = shape.windowed * min(shape.tokens, shape.window)
    return shape.score_width * (whole * shape.tokens + near) + shape.window_width * in_window


def keys_causal(shape: Transformer) -> float:
    """The same under a causal mask, which leaves the keys that come before, on average."""
    whole = 1 - shape.windowed - shape.chunked
    near = shape.chunked * min(shape.tokens, shape.chunk)
    seen = min(shape.tokens, shape.window)
    in_window = shape.windowed * seen * (1 - seen / shape.tokens / 2)
    return shape.score_width * (whole * shape.tokens + near) / 2 + shape.window_width * in_window


def keys_multiplied(runs: Layouts) -> Column:
    """Keys that a fused kernel multiplies a query with, times their width: tiles of a window.

    A window that a tile of queries sees is longer by the tile.
    """
    whole = 1 - runs["windowed"] - runs["chunked"]
    near = runs["chunked"] * arrays.minimum(runs["tokens"], runs["chunk"])
    tile = arrays.where(is_torus(runs), TORUS_TILE, TILE)
    seen = arrays.minimum(runs["tokens"], runs["window"] + tile)
    in_window = runs["windowed"] * seen * (1 - seen / runs["tokens"] / 2)
    full = runs["score_width"] * (whole * runs["tokens"] + near) / 2
    return full + runs["window_width"] * in_window
