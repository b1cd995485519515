"""When a chip computes and when it waits for memory."""

from typing import Annotated, Any

from flopbook.formulas.conditions import kv_heads_are_shared, rule
from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, maximum, minimum, where

FLOP_PER_WEIGHT = Constant(2.0, "FLOP", "per weight and token: one multiplication, one addition")
OPERATIONS = ("dot", "gemv", "gemm", "prefill", "decode")
ATTENTION = ("prefill", "decode")
BOUNDS = ("arithmetic", "memory")

Peak = Annotated[
    float, Input("FLOP/s", r"\pi", "peak rate of the number format", chip="peak", most=1e24)
]
ComputePeak = Annotated[
    float,
    Input(
        "FLOP/s",
        r"\pi",
        "peak rate of the format that multiplies",
        chip="peak",
        dtype="compute",
        most=1e24,
    ),
]
Bandwidth = Annotated[
    float, Input("byte/s", r"\beta", "memory bandwidth", chip="memory_bandwidth", most=1e18)
]


def _side(symbol: str, meaning: str) -> Input:
    """A side of a matrix."""
    return Input("1", symbol, meaning, least=1, whole=True, most=1e12)


def _width(symbol: str, meaning: str) -> Input:
    """The bytes of one value; open, it follows another width."""
    return Input("byte", symbol, meaning, least=0.01, most=64)


@formula(
    "ridge-point",
    title="Ridge point",
    question="How many operations per byte keep a chip computing?",
    outputs={
        "flop_per_byte": Output(
            "FLOP/byte",
            "R",
            "ridge point: arithmetic intensity at which compute and memory take equally long",
        ),
    },
    sources=("williams2009roofline",),
    asks=("chip", "dtype", "sparsity"),
    examples=({"chip": "h100-sxm"}, {"chip": "h100-sxm", "bandwidth": "450GB/s"}),
)
def ridge_point(peak: Peak, bandwidth: Bandwidth) -> dict[str, Any]:
    """Arithmetic intensity at which a chip begins to be limited by arithmetic.

    Derivation:
        A program with W operations and Q bytes takes at least W over the peak rate and at least Q
        over the bandwidth. Both take as long when W/Q is peak rate over bandwidth. Below that
        intensity the memory sets the pace, above it the arithmetic. With the bandwidth of a link in
        place of the memory's the same ratio says how many operations must go with each byte on the
        network.

    Leaves out:
        - What programs reach of the printed rates. [no size: both fall short by a tenth to a third,
          so that their ratio changes by less than either]
        - Caches, each of which has a ridge point of its own. [no size: the roofline of a chip draws
          those whose bandwidth is published]
    """
    return {"flop_per_byte": peak / bandwidth}


@rule("a dot product has a length --k only, not --m {m} and --n {n}")
def dot_products_have_a_length(op: str, m: float, n: float) -> bool:
    """Two vectors give one number."""
    return (op != "dot") | ((m == 1) & (n == 1))


@rule("a matrix times a vector, and attention for one token, has --m 1, not {m}")
def one_token_has_one_row(op: str, m: float) -> bool:
    """Both have one row on the left."""
    has_rows = (op != "gemv") & (op != "decode")
    return has_rows | (m == 1)


@rule(
    "attention over a prompt needs at least as many keys --n as queries --m, "
    "not {n} for {m}: each token sees itself"
)
def prompts_have_keys_for_all_queries(op: str, m: float, n: float) -> bool:
    """Every query of a prompt has the key of its own token."""
    return (op != "prefill") | (n >= m)


@rule("only attention has heads")
def only_attention_has_heads(op: str, heads: float, kv_heads: float) -> bool:
    """A product of matrices has one head and no KV heads."""
    is_attention = (op == "prefill") | (op == "decode")
    return is_attention | ((heads == 1) & (kv_heads == inf))


@omission(
    "bytes are those of a fused kernel: one that writes scores and reads them again moves more "
    "({size})",
    of="bytes",
)
def unfused_scores(
    op: str, m: float, n: float, heads: float, bytes_per_param: float, bytes: float
) -> float:
    """A score for each pair of query and key in each head, written and read."""
    return where(op in ATTENTION, 2 * m * n * heads * bytes_per_param / bytes, 0)


@omission(
    "each sum of {k} products is counted with {k} additions, and one less is needed ({size})",
    of="flop",
)
def first_addition(k: float) -> float:
    """2k - 1 operations instead of 2k."""
    return -1 / (2 * k)


@formula(
    "arithmetic-intensity",
    title="Arithmetic intensity",
    question="Is this operation limited by arithmetic or by memory, and how fast can it run?",
    outputs={
        "flop": Output("FLOP", "W", "FLOPs of the operation"),
        "bytes": Output("byte", "Q", "memory traffic: operands read once, result written once"),
        "intensity": Output("FLOP/byte", "I", "arithmetic intensity"),
        "attainable_flop_per_s": Output(
            "FLOP/s",
            "P",
            "attainable rate under the roofline",
            needs=("peak", "bandwidth"),
        ),
        "seconds": Output(
            "s", "T", "lower bound on time under the roofline", needs=("peak", "bandwidth")
        ),
        "bound": Output(
            "1", r"\text{bound}", "bottleneck", needs=("peak", "bandwidth"), choices=BOUNDS
        ),
    },
    sources=("williams2009roofline", "dao2022flashattention", "ainslie2023gqa"),
    symbols={
        "first": "b_1",
        "written": "b_3",
        "kv_side": "K'",
        "pairs": "p",
        "product": r"W_\text{product}",
        "product_bytes": r"Q_\text{product}",
        "attention": r"W_\text{attention}",
        "attention_bytes": r"Q_\text{attention}",
    },
    omissions=(unfused_scores, first_addition),
    asks=("op", "m", "n", "k", "chip"),
    examples=(
        {"op": "gemm", "m": "512", "n": "8192", "k": "8192", "chip": "h100-sxm"},
        {
            "op": "decode",
            "n": "8192",
            "k": "128",
            "heads": "64",
            "kv-heads": "8",
            "chip": "h100-sxm",
        },
        {
            "op": "gemv",
            "n": "8192",
            "k": "8192",
            "bytes-per-param": "0.5",
            "bytes-per-activation": "2",
            "chip": "h100-sxm",
        },
    ),
    rules=(
        dot_products_have_a_length,
        one_token_has_one_row,
        prompts_have_keys_for_all_queries,
        kv_heads_are_shared,
        only_attention_has_heads,
    ),
)
def arithmetic_intensity(
    k: Annotated[
        float, _side("k", "inner length: of the sums of a product; width of a head in attention")
    ],
    op: Annotated[
        str,
        Input(
            "1",
            r"\text{op}",
            "operation: dot, gemv, gemm, or attention in prefill or decode",
            choices=OPERATIONS,
        ),
    ] = "gemm",
    m: Annotated[float, _side("m", "rows of the first matrix, or queries")] = 1.0,
    n: Annotated[float, _side("n", "columns of the second matrix, or keys")] = 1.0,
    heads: Annotated[
        float, Input("1", "H", "attention heads", least=1, whole=True, most=1e6)
    ] = 1.0,
    kv_heads: Annotated[
        float,
        Input(
            "1", "K", "KV heads (default: same as attention heads)", least=1, whole=True, most=1e6
        ),
    ] = inf,
    bytes_per_param: Annotated[
        float,
        Input(
            "byte",
            "b",
            "bytes per value of the second operand: weights, or keys and values",
            dtype="asked",
            least=0.01,
            most=64,
        ),
    ] = 2.0,
    bytes_per_activation: Annotated[
        float,
        _width(r"b_\text{in}", "bytes per value of the first operand (default: as the second)"),
    ] = inf,
    bytes_per_result: Annotated[
        float,
        _width(r"b_\text{out}", "bytes per value of the result (default: as the first operand)"),
    ] = inf,
    peak: Peak = inf,
    bandwidth: Bandwidth = inf,
) -> dict[str, Any]:
    """Operations, bytes and their ratio for the products inside a transformer, and what a chip
    makes of them.

    Derivation:
        A matrix [m, k] times a matrix [k, n] takes 2mkn operations, and at the least it reads mk
        and kn values and writes mn. A dot product is m = n = 1, a matrix times a vector m = 1. The
        rate is limited by the peak and by bandwidth times intensity, whichever is lower. Intensity
        never exceeds twice the smallest side over the width of a value, which is why tokens are
        batched.

        Attention multiplies m queries by n keys of width k and the weights by n values, in each of
        H heads: 4k operations for each pair of query and key. The m queries are the last of the n
        places, and none sees a later one: m(n - (m - 1)/2) pairs. Queries and result have H heads,
        keys and values K. In decoding m is 1, and intensity is near 2H/K over the width of a value,
        however long the context: batching does not help.

    Leaves out:
        - Scores of attention outside the chip: a fused kernel keeps them, another one writes and
          reads 2mnH values more. [unfused_scores]
        - That a sum of k products needs k - 1 additions and not k. [first_addition]
        - Tiles that do not fit the sides, and reading an operand more than once because it does not
          fit on the chip. [no size: it depends on the tiles of a kernel; tile traffic counts them]
        - The softmax, a few operations for each pair on the slower vector units. [no size: the rate
          of these units is mostly not published]
        - Several sequences at once, which multiply both operations and bytes of attention. [no
          size: their ratio stays the same]
    """
    # Open widths follow each other: result, first operand, second operand.
    first = where(bytes_per_activation < inf, bytes_per_activation, bytes_per_param)
    written = where(bytes_per_result < inf, bytes_per_result, first)
    kv_side = minimum(kv_heads, heads)
    pairs = m * (n - (m - 1) / 2)
    product = FLOP_PER_WEIGHT * m * n * k
    product_bytes = first * m * k + bytes_per_param * k * n + written * m * n
    # Scores and weighted sums are two products over the same pairs.
    attention = 2 * FLOP_PER_WEIGHT * heads * k * maximum(pairs, 1)
    attention_bytes = heads * m * k * (first + written) + 2 * kv_side * n * k * bytes_per_param
    flop = {"prefill": attention, "decode": attention}.get(op, product)
    bytes = {"prefill": attention_bytes, "decode": attention_bytes}.get(op, product_bytes)
    intensity = flop / bytes
    attainable_flop_per_s = minimum(peak, bandwidth * intensity)
    return {
        "flop": flop,
        "bytes": bytes,
        "intensity": intensity,
        "attainable_flop_per_s": attainable_flop_per_s,
        "seconds": flop / attainable_flop_per_s,
        "bound": where(bandwidth * intensity < peak, "memory", "arithmetic"),
    }


@formula(
    "min-batch",
    title="Minimum batch",
    question="How many tokens must share one read of the weights to keep the chip computing?",
    outputs={
        "tokens": Output(
            "token", r"B_\text{min}", "critical batch size, for matrices much wider than the batch"
        ),
        "tokens_exact": Output(
            "token",
            r"B_\text{exact}",
            "critical batch size with activations of width D and F counted",
            needs=("d_model", "d_ff"),
            absent="no batch keeps this chip computing: the matrix is too small",
        ),
        "flop_per_byte": Output("FLOP/byte", "R", "ridge point of the chip"),
    },
    sources=("williams2009roofline", "austin2025scaling"),
    symbols={"slack": "s", "wide": "B_a"},
    asks=("chip", "dtype", "sparsity"),
    examples=(
        {"chip": "h100-sxm"},
        {"chip": "tpu-v5p", "d-model": "8192", "d-ff": "28672"},
        {
            "chip": "h100-sxm",
            "d-model": "8192",
            "d-ff": "28672",
            "bytes-per-param": "0.5",
            "bytes-per-activation": "2",
        },
    ),
)
def min_batch(
    peak: ComputePeak,
    bandwidth: Bandwidth,
    bytes_per_param: Annotated[
        float,
        Input("byte/param", "b", "bytes per weight in memory", dtype="weight", least=0.01, most=64),
    ] = 2.0,
    d_model: Annotated[
        float,
        Input("1", "D", "model dimension, the inner dimension", least=1, whole=True, most=1e9),
    ] = inf,
    d_ff: Annotated[
        float,
        Input(
            "1", "F", "feed-forward dimension, the outer dimension", least=1, whole=True, most=1e9
        ),
    ] = inf,
    bytes_per_activation: Annotated[
        float, _width("a", "bytes per activation (default: as a weight)")
    ] = inf,
) -> dict[str, Any]:
    """Tokens per batch above which a matrix product is limited by arithmetic, not by memory.

    Derivation:
        The product of activations [B, D] and weights [D, F] takes 2BDF operations. It reads the
        weights and the activations and writes the result: bDF + a(BD + BF) bytes. Time for
        arithmetic is operations over peak rate; time for memory is bytes over bandwidth. The chip
        is busy when the first is at least the second.

        When B is small beside D and F, the weights are nearly all of the traffic, D and F cancel,
        and what is left is B = bR/2, with the ridge point R = peak rate over bandwidth. With finite
        D and F the activations add traffic and the batch must be larger, by the factor 1/s. When s
        is not above zero, no batch is large enough.

        Weights may be narrower than activations. The peak is that of the format in which the
        products are computed: weights of 4 bits that are widened on the chip to multiply in bf16
        need the bf16 peak, b = 0.5 and a = 2.

    Leaves out:
        - The key-value cache of attention, which grows with the batch and so cannot be amortised.
          [no size: it depends on the shape of the model; decode counts it]
        - Reuse in caches across products. [no size: weights of a layer are larger than caches, so
          none is left for the next step]
        - The gap between printed and reached rates. [no size: both sides of the ratio are printed
          peaks, and the ratio changes by less than either]
        - Input and result in unlike widths. [no size: give the wider one as the width of an
          activation]
    """
    flop_per_byte = peak / bandwidth
    tokens = bytes_per_param * flop_per_byte / FLOP_PER_WEIGHT
    # Tokens at the width of an activation: what their traffic adds to that of the weights.
    wide = where(
        bytes_per_activation < inf, tokens / bytes_per_param * bytes_per_activation, tokens
    )
    slack = 1 - wide * (1 / d_model + 1 / d_ff)
    # The inner guard keeps a batch that no size reaches from dividing by zero.
    tokens_exact = where(slack > 0, tokens / where(slack > 0, slack, 1), inf)
    return {"tokens": tokens, "tokens_exact": tokens_exact, "flop_per_byte": flop_per_byte}
