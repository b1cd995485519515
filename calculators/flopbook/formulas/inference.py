"""What it takes to write tokens with a transformer: the steps of decoding."""

from typing import Annotated, Any

from flopbook.formulas.caches import HEADS_RULES, KEY_AND_VALUE
from flopbook.formulas.conditions import rule, visited_experts_exist
from flopbook.formulas.declaration import Output, formula
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

LIMITS = ("weights", "KV cache", "arithmetic")


@rule("--compute-params is larger than --params: a token cannot meet more weights than there are")
def met_weights_exist(params: float, compute_params: float) -> bool:
    """The active parameters are some of all parameters."""
    return compute_params <= params


@rule("two embeddings of --vocab times --d-model are more than all weights")
def embeddings_fit(compute_params: float, vocab: float, d_model: float) -> bool:
    """Both embeddings are a part of the weights; without a width they are not counted."""
    width = where(d_model < inf, d_model, 0)
    return 2 * vocab * width < compute_params


@rule("--batch {batch} is smaller than --ep {ep}: each of the --ep groups needs a sequence")
def groups_have_sequences(batch: float, ep: float) -> bool:
    """Every group of expert parallelism decodes sequences of its own."""
    return batch >= ep


WEIGHTS_RULES = (met_weights_exist, embeddings_fit)


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
