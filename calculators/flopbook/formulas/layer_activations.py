"""Activations that a layer keeps for the backward pass, and those that it computes again."""

from typing import Any

from flopbook.formulas.declaration import Constant, Step, part
from flopbook.formulas.parameters import (
    DModel,
    ExpertsPerToken,
    HeadDim,
    Heads,
    KvHeads,
    KvRank,
    Layers,
    NopeDim,
    NormsPerLayer,
    QRank,
    RopeDim,
    SharedDFf,
    SharedExperts,
    ValueDim,
)
from flopbook.formulas.training_memory_inputs import (
    ActivationBytes,
    Attention,
    Dropout,
    Recompute,
    Seq,
    SequenceParallel,
    Tp,
)
from flopbook.quantities.ops import inf, minimum, where

MASK = Constant(1.0, "byte", "an entry of a dropout mask")
FP32_VALUE = Constant(4.0, "byte", "an activation in 32 bits")


@part
def layer_activations(
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    seq: Seq,
    sparse: Step,
    dense_width: Step,
    expert_width: Step,
    matrices: Step,
    tp: Tp = 1.0,
    recompute: Recompute = "selective",
    sequence_parallel: SequenceParallel = "no",
    attention: Attention = "scores",
    dropout: Dropout = "yes",
    activation_bytes: ActivationBytes = 2.0,
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    norms_per_layer: NormsPerLayer = 2.0,
    experts_per_token: ExpertsPerToken = 1.0,
    shared_experts: SharedExperts = 0.0,
    shared_expert_d_ff: SharedDFf = inf,
    q_lora_rank: QRank = 0.0,
    kv_lora_rank: KvRank = 0.0,
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
) -> dict[str, Any]:
    """What an average layer keeps of each token for the backward pass, and what it computes
    again."""
    head = where(head_dim < inf, head_dim, d_model / heads)
    keys = minimum(kv_heads, heads) * head
    # Queries and keys, values and the input of the output matrix.
    latent = 2 * heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim)
    projected = where(kv_lora_rank > 0, latent, 2 * heads * head + 2 * keys)
    compressed = where(kv_lora_rank > 0, q_lora_rank + kv_lora_rank + qk_rope_head_dim, 0)
    shared_width = where(shared_expert_d_ff < inf, shared_expert_d_ff, expert_width)
    visited = experts_per_token * expert_width + shared_experts * shared_width
    inner = matrices * ((layers - sparse) * dense_width + sparse * visited) / layers
    # Each visited expert has a copy of the token, and gives a result of its own.
    copies = sparse * experts_per_token * 2 * d_model / layers
    uncut = (norms_per_layer + 2) * d_model + compressed + copies
    masks = 2 * d_model * MASK if dropout == "yes" else 0 * MASK
    # Norms and dropout work on whole rows, which only sequence parallelism divides.
    side = tp if sequence_parallel == "yes" else 1
    layer = (activation_bytes * uncut + masks) / side + activation_bytes * (projected + inner) / tp
    per_score = 2 * activation_bytes + MASK if dropout == "yes" else activation_bytes
    softmax = heads * seq * per_score / tp
    # Flash attention keeps one number a row, from which it computes the scores again.
    statistics = heads * FP32_VALUE / tp
    scores = statistics if attention == "flash" else softmax
    full = layer + scores
    # Selective recomputation drops the scores, where there are any.
    dropped = 0 * softmax if attention == "flash" else softmax
    boundary = activation_bytes * d_model / side
    return {
        "kept": {"full": boundary, "none": full}.get(recompute, full - dropped),
        "again": {"full": full, "selective": dropped}.get(recompute, 0 * softmax),
        "side": side,
    }
