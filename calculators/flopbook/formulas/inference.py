"""What it takes to write tokens with a transformer: the cache of keys and values, and the steps."""

from typing import Annotated, Any

from flopbook.formulas.conditions import (
    TENSOR_RULES,
    kv_heads_are_shared,
    rule,
    visited_experts_exist,
)
from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.inference_inputs import (
    Batch,
    ComputeParams,
    KvWidth,
    Params,
    Seq,
    Tp,
    Vocab,
    WeightWidth,
    Width,
    count,
)
from flopbook.formulas.parameters import (
    Experts,
    ExpertsPerToken,
    HeadDim,
    Heads,
    KvHeads,
    KvRank,
    Layers,
    RopeDim,
    Tied,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT, Bandwidth, Peak
from flopbook.quantities.ops import inf, maximum, minimum, where

KEY_AND_VALUE = Constant(2.0, "1", "a key and a value for each head")
LIMITS = ("weights", "KV cache", "arithmetic")


@rule("give --head-dim, or --d-model, which heads share")
def heads_have_a_width(head_dim: float, d_model: float, kv_lora_rank: float) -> bool:
    """Latent attention caches a vector that is as wide for any number of heads."""
    return (head_dim < inf) | (d_model < inf) | (kv_lora_rank > 0)


@rule("--compute-params is larger than --params: a token cannot meet more weights than there are")
def met_weights_exist(params: float, compute_params: float) -> bool:
    """The active parameters are some of all parameters."""
    return compute_params <= params


@rule("two embeddings of --vocab times --d-model are more than all weights")
def embeddings_fit(compute_params: float, vocab: float, d_model: float) -> bool:
    """Both embeddings are a part of the weights; without a width they are not counted."""
    width = where(d_model < inf, d_model, 0)
    return 2 * vocab * width < compute_params


@rule("--window-layers {window_layers} is larger than --layers {layers}")
def windowed_layers_exist(layers: float, window_layers: float) -> bool:
    """Layers with a window are some of all layers; all of them where it is left open."""
    return (window_layers <= layers) | (window_layers == inf)


@rule("--batch {batch} is smaller than --ep {ep}: each of the --ep groups needs a sequence")
def groups_have_sequences(batch: float, ep: float) -> bool:
    """Every group of expert parallelism decodes sequences of its own."""
    return batch >= ep


HEADS_RULES = (kv_heads_are_shared, *TENSOR_RULES, heads_have_a_width)
WEIGHTS_RULES = (met_weights_exist, embeddings_fit)


@formula(
    "kv-cache",
    title="KV cache",
    question="How much memory do the keys and values of a context take?",
    outputs={
        "bytes": Output("byte", "M", "all sequences together"),
        "bytes_per_token": Output(
            "byte/token", "m", "one more token of a sequence, in layers that see all of it"
        ),
        "bytes_per_chip": Output(
            "byte", r"M_\text{chip}", "what each of the chips that share the heads holds"
        ),
    },
    sources=("shazeer2019fast", "ainslie2023gqa", "deepseek2024v2", "kwon2023efficient"),
    symbols={
        "head": "d",
        "grouped": r"a_\text{GQA}",
        "values": "a",
        "seen": "s",
        "layer_tokens": r"\ell",
        "shares": r"\sigma",
    },
    examples=(
        {"model": "llama-3-70b", "seq": "8192"},
        {"model": "deepseek-v3", "seq": "131072", "batch": "8"},
        {
            "layers": "32",
            "heads": "32",
            "kv-heads": "8",
            "head-dim": "128",
            "seq": "32768",
            "window": "4096",
        },
    ),
    rules=(*HEADS_RULES, windowed_layers_exist),
)
def kv_cache(
    layers: Layers,
    heads: Heads,
    seq: Seq,
    batch: Batch = 1.0,
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    d_model: Width = inf,
    kv_lora_rank: KvRank = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    window: Annotated[float, count("token", "w", "tokens that a windowed layer sees", 1e12)] = inf,
    window_layers: Annotated[
        float, Input("1", "L_w", "layers with a window; all if open", least=1, whole=True, most=1e6)
    ] = inf,
    bytes_per_kv: KvWidth = 2.0,
    tp: Tp = 1.0,
) -> dict[str, Any]:
    """Bytes of the keys and values that decoding reads again for each token.

    Derivation:
        Each layer keeps a key and a value of width d for every token and every key and value head:
        2Kd values. With as many heads of keys and values as of queries this is multi-head
        attention, with fewer grouped-query, with one multi-query attention. Latent attention keeps
        one compressed vector of width r for all heads, and beside it the part of the key that tells
        the place. A layer with a sliding window keeps no more tokens than its window.

        Chips that share the heads hold K/t of them each, but never less than one head; a latent
        vector belongs to all heads, so each chip holds all of it.

    Leaves out:
        Blocks that are not full: with pages of 16 tokens at most 15 tokens of each sequence. Scales
        of a quantised cache, which depend on its blocks. Prefixes that sequences share, which are
        kept once. Layers with another state than keys and values.
    """
    head = where(head_dim < inf, head_dim, where(d_model < inf, d_model, 0) / heads)
    grouped = KEY_AND_VALUE * minimum(kv_heads, heads) * head
    values = where(kv_lora_rank > 0, kv_lora_rank + qk_rope_head_dim, grouped)
    # A windowed layer keeps the last tokens only, and a short sequence fits its window.
    seen = minimum(seq, window)
    layer_tokens = layers * seq - where(
        seen < seq, minimum(window_layers, layers) * (seq - seen), 0
    )
    # Ranks beyond the KV heads hold copies of a head; a latent vector is needed by every head.
    shares = where(kv_lora_rank > 0, 1, minimum(tp, minimum(kv_heads, heads)))
    bytes = batch * layer_tokens * values * bytes_per_kv
    return {
        "bytes": bytes,
        "bytes_per_token": layers * values * bytes_per_kv,
        "bytes_per_chip": bytes / shares,
    }


@formula(
    "decode",
    title="Decoding",
    question="How fast can a model write tokens, and what limits it?",
    outputs={
        "seconds": Output(
            "s", r"T_\text{step}", "one step, which writes one token of each sequence"
        ),
        "tokens_per_s": Output("token/s", "P", "tokens of all sequences together"),
        "bound": Output("1", r"\text{bound}", "what takes longest", choices=LIMITS),
        "weight_seconds": Output("s", r"T_\text{weights}", "reading the weights"),
        "kv_seconds": Output("s", r"T_\text{cache}", "reading keys and values"),
        "compute_seconds": Output("s", r"T_\text{arithmetic}", "arithmetic of the matrix products"),
    },
    sources=("pope2023efficiently", "austin2025scaling", "chen2022transformer", "deepseek2024v2"),
    symbols={
        "table": "e_0",
        "lookup": "e",
        "head": "d",
        "grouped": r"a_\text{GQA}",
        "values": "a",
        "share": r"\sigma",
        "unvisited": r"\epsilon",
        "routed": r"N_\text{routed}",
        "untouched": "u",
        "read": r"N_\text{read}",
        "chip_read": r"N_\text{chip}",
        "scores": "q",
        "attention": r"T_\text{attention}",
        "products": r"T_\text{products}",
    },
    examples=(
        {"model": "llama-3-70b", "chip": "h100-sxm", "tp": "8", "batch": "32", "seq": "4096"},
        {"model": "llama-2-7b", "chip": "a100-sxm-80gb", "seq": "128"},
        {
            "model": "deepseek-v3",
            "chip": "h200",
            "ep": "32",
            "batch": "1024",
            "seq": "4096",
            "dtype": "fp8",
        },
    ),
    rules=(*HEADS_RULES, *WEIGHTS_RULES, visited_experts_exist, groups_have_sequences),
)
def decode(
    params: Params,
    compute_params: ComputeParams,
    layers: Layers,
    heads: Heads,
    seq: Seq,
    peak: Peak,
    bandwidth: Bandwidth,
    batch: Batch = 1.0,
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    d_model: Width = inf,
    kv_lora_rank: KvRank = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    vocab: Vocab = 0.0,
    tied_embeddings: Tied = "no",
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
    bytes_per_param: WeightWidth = 2.0,
    bytes_per_kv: KvWidth = 2.0,
    tp: Tp = 1.0,
    ep: Annotated[
        float, count("chip", "g", "groups that share the experts (expert parallel)", 1e6)
    ] = 1.0,
) -> dict[str, Any]:
    """Shortest time of one decoding step, from the bytes that it reads and the operations that it
    does.

    Derivation:
        A step reads every weight once, whatever the batch, and does 2 operations for each weight
        and token: the longer of the two sets the pace of the matrix products. Attention comes after
        them, not beside them: it reads the keys and values of every sequence, of which no batch
        saves anything, and does 2 operations for each of two products with every cached token. The
        input embedding is looked up, not read.

        A token visits k of E experts. If it chooses evenly, a batch of B leaves (1 - k/E) to the
        power B of the routed weights unread. Chips under tensor parallelism hold a part of every
        matrix each; keys and values cannot be shared by more chips than there are heads of them,
        and a latent vector by none. Groups under expert parallelism divide the experts and the
        sequences, and each holds all other weights.

    Leaves out:
        Messages between chips, two in each layer: small ones whose latency counts. Measured steps
        of Llama 2 7B on A100 take 1.5 times the time given here on one chip and 3.7 times on eight.
        The rest of the gap is bandwidth that no program reaches and the start of each kernel.
        Scales of block formats. Experts chosen unevenly, which make the fullest chip late.
    """
    # An input embedding of its own is looked up, one row a token; a tied one is read as the head.
    table = where(vocab > 0, where(d_model < inf, vocab * d_model, 0), 0)
    lookup = table if tied_embeddings == "no" else 0
    head = where(head_dim < inf, head_dim, where(d_model < inf, d_model, 0) / heads)
    grouped = KEY_AND_VALUE * minimum(kv_heads, heads) * head
    values = layers * where(kv_lora_rank > 0, kv_lora_rank + qk_rope_head_dim, grouped)
    share = batch / ep / where(kv_lora_rank > 0, 1, minimum(tp, minimum(kv_heads, heads)))
    # Total less active weights are those of the experts that a token does not visit, which gives
    # all routed weights. The inner guard keeps a dense model from dividing by zero.
    unvisited = experts - experts_per_token
    routed = where(
        unvisited > 0, (params - compute_params) * experts / where(unvisited > 0, unvisited, 1), 0
    )
    # The chance that no token of the batch chooses an expert, if each chooses evenly.
    untouched = (1 - experts_per_token / experts) ** batch
    chip_read = (params - routed - lookup) / tp + routed * (1 - untouched) / (tp * ep)
    weight_seconds = chip_read * bytes_per_param / bandwidth
    compute_seconds = FLOP_PER_WEIGHT * (compute_params - lookup) * batch / (tp * ep * peak)
    kv_seconds = share * seq * values * bytes_per_kv / bandwidth
    # Latent attention scores r + d_r wide and sums values r wide; plain attention d and d.
    scores = layers * heads * where(kv_lora_rank > 0, 2 * kv_lora_rank + qk_rope_head_dim, 2 * head)
    # Attention follows the products of its layer, so both times add; within each, reading and
    # arithmetic overlap.
    attention = maximum(kv_seconds, FLOP_PER_WEIGHT * scores * seq * batch / (tp * ep * peak))
    products = maximum(weight_seconds, compute_seconds)
    seconds = products + attention
    return {
        "seconds": seconds,
        "tokens_per_s": batch / seconds,
        "bound": where(
            attention > products,
            where(attention > kv_seconds, "arithmetic", "KV cache"),
            where(compute_seconds > weight_seconds, "arithmetic", "weights"),
        ),
        "weight_seconds": weight_seconds,
        "kv_seconds": kv_seconds,
        "compute_seconds": compute_seconds,
    }
