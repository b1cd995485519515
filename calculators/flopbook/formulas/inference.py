"""What it takes to run a transformer: the cache of keys and values, reading a prompt, writing
tokens.
"""

from typing import Annotated, Any

from flopbook.formulas.conditions import (
    TENSOR_RULES,
    kv_heads_are_shared,
    rule,
    visited_experts_exist,
)
from flopbook.formulas.declaration import Constant, Input, Output, formula
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


def _width(symbol: str, meaning: str) -> Input:
    """Bytes of one value, by default those of the number format."""
    return Input("byte", symbol, meaning, dtype="bytes", least=0.01, most=64)


def _count(unit: str, symbol: str, meaning: str, most: float) -> Input:
    """A whole number of at least one."""
    return Input(unit, symbol, meaning, least=1, whole=True, most=most)


Width = Annotated[
    float,
    Input(
        "1",
        "D",
        "model width; needed if that of a head is open",
        model="d_model",
        least=1,
        whole=True,
        most=1e9,
    ),
]
Seq = Annotated[float, _count("token", "T", "tokens in each sequence", 1e12)]
Batch = Annotated[float, _count("1", "B", "sequences at once", 1e12)]
KvWidth = Annotated[float, _width("b", "width of a cached value")]
Tp = Annotated[float, _count("chip", "t", "chips that share every matrix (tensor parallel)", 1e6)]


Params = Annotated[
    float, Input("param", "N", "parameters in memory", model="params", least=1, most=1e18)
]
ComputeParams = Annotated[
    float,
    Input(
        "param",
        r"N_\text{active}",
        "parameters that a token meets",
        model="compute_params",
        least=1,
        most=1e18,
    ),
]
Vocab = Annotated[
    float,
    Input(
        "1",
        "V",
        "tokens in the vocabulary",
        model="vocab",
        least=1,
        whole=True,
        most=1e9,
        none=True,
    ),
]
WeightWidth = Annotated[
    float, Input("byte/param", r"b_w", "width of a weight", dtype="bytes", least=0.01, most=64)
]


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
    window: Annotated[float, _count("token", "w", "tokens that a windowed layer sees", 1e12)] = inf,
    window_layers: Annotated[
        float, Input("1", "L_w", "layers with a window; all if open", least=1, whole=True, most=1e6)
    ] = inf,
    bytes_per_kv: KvWidth = 2.0,
    tp: Tp = 1.0,
) -> dict[str, Any]:
    """Bytes of the keys and values that decoding reads again for each token.

    Derivation:
        Each layer keeps a key and a value of width d for every token and every key and value head: 2Kd values. With
        as many heads of keys and values as of queries this is multi-head attention, with fewer grouped-query, with one
        multi-query attention. Latent attention keeps one compressed vector of width r for all heads, and beside it the
        part of the key that tells the place. A layer with a sliding window keeps no more tokens than its window.

        Chips that share the heads hold K/t of them each, but never less than one head; a latent vector belongs to all
        heads, so each chip holds all of it.

    Leaves out:
        Blocks that are not full: with pages of 16 tokens at most 15 tokens of each sequence. Scales of a quantised
        cache, which depend on its blocks. Prefixes that sequences share, which are kept once. Layers with
        another state than keys and values.
    """
    head = where(head_dim < inf, head_dim, where(d_model < inf, d_model, 0) / heads)
    grouped = KEY_AND_VALUE * minimum(kv_heads, heads) * head
    values = where(kv_lora_rank > 0, kv_lora_rank + qk_rope_head_dim, grouped)
    seen = minimum(seq, window)
    layer_tokens = layers * seq - where(
        seen < seq, minimum(window_layers, layers) * (seq - seen), 0
    )
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
        float, _count("chip", "g", "groups that share the experts (expert parallel)", 1e6)
    ] = 1.0,
) -> dict[str, Any]:
    """Shortest time of one decoding step, from the bytes that it reads and the operations that it
    does.

    Derivation:
        A step reads every weight once, whatever the batch, and does 2 operations for each weight and token: the longer
        of the two sets the pace of the matrix products. Attention comes after them, not beside them: it reads the keys
        and values of every sequence, of which no batch saves anything, and does 2 operations for each of two products
        with every cached token. The input embedding is looked up, not read.

        A token visits k of E experts. If it chooses evenly, a batch of B leaves (1 - k/E) to the power B of the routed
        weights unread. Chips under tensor parallelism hold a part of every matrix each; keys and values cannot be
        shared by more chips than there are heads of them, and a latent vector by none. Groups under expert parallelism
        divide the experts and the sequences, and each holds all other weights.

    Leaves out:
        Messages between chips, two in each layer: small ones whose latency counts. Measured steps of Llama 2 7B on A100
        take 1.5 times the time given here on one chip and 3.7 times on eight. The rest of the gap is bandwidth that no
        program reaches and the start of each kernel. Scales of block formats. Experts chosen unevenly, which make the
        fullest chip late.
    """
    lookup = (
        where(vocab > 0, where(d_model < inf, vocab * d_model, 0), 0)
        if tied_embeddings == "no"
        else 0
    )
    head = where(head_dim < inf, head_dim, where(d_model < inf, d_model, 0) / heads)
    grouped = KEY_AND_VALUE * minimum(kv_heads, heads) * head
    values = layers * where(kv_lora_rank > 0, kv_lora_rank + qk_rope_head_dim, grouped)
    share = batch / ep / where(kv_lora_rank > 0, 1, minimum(tp, minimum(kv_heads, heads)))
    unvisited = experts - experts_per_token
    routed = where(
        unvisited > 0, (params - compute_params) * experts / where(unvisited > 0, unvisited, 1), 0
    )
    untouched = (1 - experts_per_token / experts) ** batch
    chip_read = (params - routed - lookup) / tp + routed * (1 - untouched) / (tp * ep)
    weight_seconds = chip_read * bytes_per_param / bandwidth
    compute_seconds = FLOP_PER_WEIGHT * (compute_params - lookup) * batch / (tp * ep * peak)
    kv_seconds = share * seq * values * bytes_per_kv / bandwidth
    scores = layers * heads * where(kv_lora_rank > 0, 2 * kv_lora_rank + qk_rope_head_dim, 2 * head)
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


@formula(
    "prefill",
    title="Prefill",
    question="How long does a prompt take until the first token, and what limits it?",
    outputs={
        "seconds": Output("s", r"T_\text{first}", "time to the first token: all prompts read"),
        "tokens_per_s": Output("token/s", "P", "tokens of all prompts together"),
        "bound": Output(
            "1",
            r"\text{bound}",
            "what takes longest",
            choices=("weights", "attention", "arithmetic"),
        ),
        "weight_seconds": Output("s", r"T_\text{weights}", "reading the weights"),
        "compute_seconds": Output("s", r"T_\text{arithmetic}", "arithmetic of the matrix products"),
        "attention_seconds": Output("s", r"T_\text{attention}", "scores and values of attention"),
    },
    sources=("pope2023efficiently", "austin2025scaling", "chen2022transformer"),
    symbols={
        "width": "w",
        "output": "h",
        "lookup": "e",
        "head": "d",
        "pairs": "p",
        "scores": "q",
        "products": r"T_\text{products}",
        "kept": "a",
    },
    examples=(
        {"model": "llama-3-70b", "chip": "h100-sxm", "tp": "8", "seq": "8192"},
        {"model": "llama-3-8b", "chip": "h100-sxm", "seq": "131072"},
    ),
    rules=(*HEADS_RULES, *WEIGHTS_RULES),
)
def prefill(
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
    bytes_per_param: WeightWidth = 2.0,
    bytes_per_kv: KvWidth = 2.0,
    tp: Tp = 1.0,
) -> dict[str, Any]:
    """Shortest time in which a model reads its prompts, after which the first token is there.

    Derivation:
        Every token does 2 operations with each weight that it meets, and every weight is read at least once: the longer
        of the two. The input embedding is looked up, and the output matrix works on the last token of each prompt only.
        Attention is two products of width d for each pair of a token and one not after it: T(T + 1)/2 pairs, in every
        head. It comes after the products of its layer, not beside them, so both times add up.

        The token that this step writes is the first of the answer. An answer of n tokens then takes n - 1 steps of
        decoding, not n.

    Leaves out:
        Waiting for other requests, which is most of the time to the first token of a busy server. Messages between
        chips: two sums over the activations in each layer. Experts: of a mixture all weights count as read, which a
        short prompt does not need. The gap to the printed peak: with prompts of 512 to 2,048 tokens, first tokens were
        measured 1.5 to 3 times later than the time given here. The softmax, on other units.
    """
    width = where(d_model < inf, d_model, 0)
    output = vocab * width
    lookup = output if tied_embeddings == "no" else 0
    head = where(head_dim < inf, head_dim, width / heads)
    weight_seconds = (params - lookup) * bytes_per_param / (tp * bandwidth)
    compute_seconds = (
        FLOP_PER_WEIGHT * batch * (seq * (compute_params - lookup - output) + output) / (tp * peak)
    )
    pairs = seq * (seq + 1) / 2
    scores = layers * heads * (KEY_AND_VALUE * head + qk_rope_head_dim)
    kept = layers * where(
        kv_lora_rank > 0,
        kv_lora_rank + qk_rope_head_dim,
        KEY_AND_VALUE * minimum(kv_heads, heads) * head,
    )
    attention_seconds = maximum(
        FLOP_PER_WEIGHT * scores * pairs * batch / (tp * peak),
        batch * seq * kept * bytes_per_kv / (tp * bandwidth),
    )
    products = maximum(weight_seconds, compute_seconds)
    seconds = products + attention_seconds
    return {
        "seconds": seconds,
        "tokens_per_s": batch * seq / seconds,
        "bound": where(
            attention_seconds > products,
            "attention",
            where(compute_seconds > weight_seconds, "arithmetic", "weights"),
        ),
        "weight_seconds": weight_seconds,
        "compute_seconds": compute_seconds,
        "attention_seconds": attention_seconds,
    }
