"""What it takes to read prompts: the time to the first token."""

from typing import Any

from flopbook.formulas.caches import HEADS_RULES, KEY_AND_VALUE
from flopbook.formulas.declaration import Output, formula
from flopbook.formulas.inference import WEIGHTS_RULES
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
)
from flopbook.formulas.parameters import (
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
        Every token does 2 operations with each weight that it meets, and every weight is read at
        least once: the longer of the two. The input embedding is looked up, and the output matrix
        works on the last token of each prompt only. Attention is two products of width d for each
        pair of a token and one not after it: T(T + 1)/2 pairs, in every head. It comes after the
        products of its layer, not beside them, so both times add up.

        The token that this step writes is the first of the answer. An answer of n tokens then takes
        n - 1 steps of decoding, not n.

    Leaves out:
        Waiting for other requests, which is most of the time to the first token of a busy server.
        Messages between chips: two sums over the activations in each layer. Experts: of a mixture
        all weights count as read, which a short prompt does not need. The gap to the printed peak:
        with prompts of 512 to 2,048 tokens, first tokens were measured 1.5 to 3 times later than
        the time given here. The softmax, on other units.
    """
    width = where(d_model < inf, d_model, 0)
    output = vocab * width
    lookup = output if tied_embeddings == "no" else 0
    head = where(head_dim < inf, head_dim, width / heads)
    weight_seconds = (params - lookup) * bytes_per_param / (tp * bandwidth)
    # The output matrix works on the last token of each prompt only.
    compute_seconds = (
        FLOP_PER_WEIGHT * batch * (seq * (compute_params - lookup - output) + output) / (tp * peak)
    )
    # Causal: each token sees itself and those before it.
    pairs = seq * (seq + 1) / 2
    # While reading, latent attention works on widened keys: head width and the part with place.
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
