"""Tiled kernels: the bytes they move, what fits on chip, and the processors they keep busy.

Bytes are those between the far memory (HBM) and the near one (shared memory, LDS, VMEM).
"""

from typing import Annotated, Any

from flopbook.formulas.conditions import kv_heads_are_shared
from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT
from flopbook.quantities.ops import ceil, floor, inf, maximum, minimum, sqrt, where

SUM = Constant(4.0, "byte", "bytes of a sum, kept in fp32 until it is written")
FP32 = Constant(4.0, "byte", "bytes of a value in fp32")
# A slice of rows and one of columns, each twice: the next pair arrives while one is multiplied.
SLICES = Constant(4.0, "1", "slices in near memory")


def _side(symbol: str, meaning: str) -> Input:
    """A side of a matrix, in elements."""
    return Input("1", symbol, meaning, least=1, whole=True, most=1e12)


def _tile_side(symbol: str, meaning: str) -> Input:
    """A side of a tile, whole or not: all tiles of a chip together act as one of their area."""
    return Input("1", symbol, meaning, least=1, most=1e12)


Rows = Annotated[float, _side("m", "rows of the result")]
Columns = Annotated[float, _side("n", "columns of the result")]
Heads = Annotated[float, Input("1", "H", "attention heads", least=1, whole=True, most=1e6)]
KvHeads = Annotated[
    float,
    Input("1", "K", "KV heads (default: same as attention heads)", least=1, whole=True, most=1e6),
]


@omission(
    "the result is written as wide as the inputs: in fp32 the traffic is larger ({size})",
    of="bytes",
)
def wide_result(m: float, n: float, bytes_per_param: float, bytes: float) -> float:
    """Four bytes instead of those of an input for each value of the result."""
    return maximum(FP32 - bytes_per_param, 0) * m * n / bytes


@omission(
    "scores of all pairs are counted: a causal mask needs fewer ({size})",
    of="score_bytes",
)
def causal_mask(seq: float) -> float:
    """Pairs of a token and one not after it: s(s + 1)/2 of s^2."""
    return (seq + 1) / (2 * seq) - 1


@formula(
    "tile-traffic",
    title="Traffic of a tiled product",
    question="How many bytes does a matrix product move tile by tile, and how large a tile fits?",
    outputs={
        "bytes": Output("byte", "Q", "traffic between main memory and on-chip memory"),
        "intensity": Output("FLOP/byte", "I", "arithmetic intensity of a full tile"),
        "tile_bytes": Output("byte", "M_t", "on-chip memory of a tile: accumulators and slices"),
        "largest_tile": Output(
            "1", r"t_\text{max}", "largest tile side that fits", needs=("near_memory",)
        ),
    },
    sources=("goto2008anatomy", "nvidia2023matrix"),
    symbols={"rows": "n_m", "columns": "n_n", "per_side": "s"},
    omissions=(wide_result,),
    asks=("m", "n", "k", "tile", "near_memory"),
    examples=(
        {"m": "8192", "n": "8192", "k": "8192", "tile": "128", "near-memory": "228kB"},
        {"m": "4096", "n": "28672", "k": "8192", "tile": "256", "dtype": "fp8"},
    ),
)
def tile_traffic(
    m: Rows,
    n: Columns,
    k: Annotated[float, _side("k", "inner length, over which products are added up")],
    tile: Annotated[float, _tile_side("t", "side of a square tile of the result")],
    bytes_per_param: Annotated[
        float,
        Input("byte", "b", "bytes per value of the matrices", dtype="asked", least=0.01, most=64),
    ] = 2.0,
    depth: Annotated[
        float, Input("1", "d", "inner dimension of a slice (BLOCK_K)", least=1, most=1e9)
    ] = 64.0,
    near_memory: Annotated[
        float, Input("byte", "M", "on-chip memory of an SM or core for one tile", most=1e18)
    ] = inf,
) -> dict[str, Any]:
    """Bytes of a product [m, k] x [k, n] whose result is made in square tiles, one after the other.

    Derivation:
        Each tile of the result reads a strip of t rows of the first matrix and one of t columns of
        the second, all of length k. So the first matrix is read once for every column of tiles and
        the second once for every row of them, and the result is written once. A full tile does 2
        operations for each of t times t sums and reads 2t values for them, so its intensity is t
        over the width of a value: twice the side halves the reading.

        Near the arithmetic a tile keeps its sums, 4 bytes each, and slices of both strips, d deep.
        The next two slices arrive while these are multiplied: four slices in all. What a memory
        holds bounds the side; the largest is the root of a quadratic equation, rounded down.

    Leaves out:
        - Caches between the two memories. Processors that work on neighbouring tiles share strips
          through one, so they move as many bytes as one tile of their whole area. [no size: give
          the side of that area as tile]
        - Tiles that are not square, and sides that are multiples of 16 or powers of two, below the
          largest printed here. [no size: each kernel chooses its own]
        - Sums in registers, which leave more room for slices. [no size: give the on-chip memory
          with the registers]
        - A result wider than the inputs. [wide_result]
    """
    rows = ceil(m / tile)
    columns = ceil(n / tile)
    per_side = SLICES * depth * bytes_per_param
    return {
        "bytes": bytes_per_param * (columns * m * k + rows * k * n + m * n),
        "intensity": FLOP_PER_WEIGHT * tile / (2 * bytes_per_param),
        "tile_bytes": SUM * tile * tile + per_side * tile,
        "largest_tile": floor(
            (sqrt(per_side * per_side + 4 * SUM * near_memory) - per_side) / (2 * SUM)
        ),
    }


@formula(
    "attention-traffic",
    title="Traffic of attention",
    question="How many bytes does attention move, fused into one kernel and in three?",
    outputs={
        "bytes": Output("byte", "Q", "memory traffic of the fused kernel"),
        "score_bytes": Output(
            "byte", r"Q_\text{scores}", "traffic of scores and attention weights, unfused"
        ),
        "unfused_bytes": Output(
            "byte", r"Q_\text{three}", "memory traffic of three separate kernels"
        ),
    },
    sources=("dao2022flashattention", "rabe2021self"),
    symbols={"reads": "r"},
    omissions=(causal_mask,),
    asks=("seq", "heads", "kv_heads", "head_dim"),
    examples=(
        {"seq": "8192", "heads": "64", "kv-heads": "8", "head-dim": "128"},
        {"seq": "8192", "heads": "64", "kv-heads": "8", "head-dim": "128", "block": "128"},
    ),
    rules=(kv_heads_are_shared,),
)
def attention_traffic(
    seq: Annotated[
        float, Input("1", "s", "sequence length in tokens", least=1, whole=True, most=1e9)
    ],
    heads: Heads,
    head_dim: Annotated[float, Input("1", "d_h", "head dimension", least=1, whole=True, most=1e6)],
    kv_heads: KvHeads = inf,
    block: Annotated[
        float,
        Input(
            "1",
            "t",
            "queries of a block, which reads all keys and values again (default: read once)",
            least=1,
            whole=True,
            most=1e9,
        ),
    ] = inf,
    bytes_per_activation: Annotated[
        float, Input("byte", "a", "bytes per value", least=0.01, most=64)
    ] = 2.0,
) -> dict[str, Any]:
    """Bytes that one layer of attention over a sequence moves, fused and unfused, without a mask.

    Derivation:
        A fused kernel reads the queries of each head and writes its result, once each. Scores stay
        on chip. If a cache or a large near memory keeps keys and values, each is read once. If not,
        every block of queries of every head reads those of its head again.

        In three kernels the scores of all pairs of tokens are written and read by the softmax, and
        its weights are written and read by the second product: four passes over the square of the
        sequence in each head.

    Leaves out:
        - The causal mask, which halves the scores. [causal_mask]
        - One number a row that the backward pass needs: below 1 percent of the values. [no size: it
          is a 128th of a row of the usual head dimension]
        - What caches catch, which puts a real kernel between both cases. [no size: it depends on
          the order of the blocks]
    """
    reads = where(block < inf, heads * ceil(seq / block), minimum(kv_heads, heads))
    bytes = bytes_per_activation * (2 * heads * seq * head_dim + 2 * reads * seq * head_dim)
    score_bytes = 4 * bytes_per_activation * heads * seq * seq
    return {"bytes": bytes, "score_bytes": score_bytes, "unfused_bytes": bytes + score_bytes}


@omission(
    "tiles are taken whole: kernels that cut them along the inner dimension (stream-K) fill the "
    "last wave ({size})",
    of="useful_share",
)
def last_wave_filled(wave_share: float) -> float:
    """All waves are then full."""
    return 1 / wave_share - 1


@formula(
    "wave-quantisation",
    title="Waves of tiles",
    question="What share of a chip's time is useful work when tiles run in waves?",
    outputs={
        "tiles": Output("1", r"n_t", "tiles of the output"),
        "waves": Output("1", "W", "waves: rounds in which each SM takes a tile"),
        "tile_share": Output(
            "1", r"\eta_t", "tile efficiency: share of the tiles inside the matrix"
        ),
        "wave_share": Output(
            "1", r"\eta_W", "wave efficiency: SMs with a tile, averaged over waves"
        ),
        "useful_share": Output("1", r"\eta", "efficiency: both together"),
    },
    sources=("nvidia2023matrix", "osama2023stream"),
    asks=("m", "n", "tile_m", "tile_n", "processors"),
    omissions=(last_wave_filled,),
    examples=(
        {"m": "4096", "n": "28672", "tile-m": "256", "tile-n": "128", "processors": "132"},
        {"m": "1000", "n": "1", "tile-m": "16", "tile-n": "1", "processors": "1"},
    ),
)
def wave_quantisation(
    m: Rows,
    n: Columns,
    tile_m: Annotated[float, _tile_side("t_m", "rows of a tile")],
    tile_n: Annotated[float, _tile_side("t_n", "columns of a tile")],
    processors: Annotated[
        float,
        Input("1", "P", "streaming multiprocessors (SMs) or cores", least=1, whole=True, most=1e9),
    ],
) -> dict[str, Any]:
    """Share of the time of many processors that makes wanted results, one tile on each at a time.

    Derivation:
        Tiles at the edge stick out where the sides are no multiples of the tile, and compute on
        nothing: tile quantisation. Processors take the tiles in waves, one each. The last wave is
        partly empty where the number of tiles is no multiple of the processors, and all wait for
        it: wave quantisation. Wanted results over all that the waves could have made is the useful
        share.

        A loop on vector lanes is the same with one processor: of 1,000 rounds on 16 lanes, the last
        instruction has 8 lanes masked.

    Leaves out:
        - Several tiles on a processor at once, which act like as many processors more. [no size:
          give the processors times the tiles on each]
        - Tiles that are dealt out unevenly, or cut along the inner dimension so that every
          processor has the same work: they fill the last wave. [last_wave_filled]
        - Tiles at the edge that cost less than full ones. [no size: most kernels compute them in
          full]
    """
    tiles = ceil(m / tile_m) * ceil(n / tile_n)
    waves = ceil(tiles / processors)
    return {
        "tiles": tiles,
        "waves": waves,
        "tile_share": m * n / (tiles * tile_m * tile_n),
        "wave_share": tiles / (waves * processors),
        "useful_share": m * n / (waves * processors * tile_m * tile_n),
    }
