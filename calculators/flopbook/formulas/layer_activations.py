"""Activations that a layer keeps for the backward pass, and those that it computes again."""

from typing import Any

from flopbook.formulas.declaration import Constant, Step, part
from flopbook.formulas.layer_inputs import StateLayers
from flopbook.formulas.parameters import (
    AttentionLayers,
    DModel,
    ExpertsPerToken,
    HeadDim,
    Heads,
    KvHeads,
    KvRank,
    Layers,
    NopeDim,
    NormsPerLayer,
    OutGroups,
    OutRank,
    QRank,
    ResidualStreams,
    RopeDim,
    SharedDFf,
    SharedExperts,
    StateLayerParams,
    ValueDim,
)
from flopbook.formulas.training_memory_inputs import (
    ActivationBytes,
    Attention,
    Dropout,
    Fusion,
    Pp,
    Recompute,
    RecomputeLayers,
    SequenceParallel,
    Tp,
)
from flopbook.quantities.ops import inf, maximum, minimum, where

MASK = Constant(1.0, "byte", "an entry of a dropout mask")
ROW = Constant(1.0, "param", "a weight of a row, as many as the model is wide")
FP32_VALUE = Constant(4.0, "byte", "an activation in 32 bits")


@part
def layer_activations(
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    windowed: Step,
    in_window: Step,
    met: Step,
    blocks: Step,
    sparse: Step,
    dense_width: Step,
    expert_width: Step,
    expert_model: Step,
    matrices: Step,
    tp: Tp = 1.0,
    pp: Pp = 1.0,
    recompute: Recompute = "selective",
    recompute_layers: RecomputeLayers = inf,
    sequence_parallel: SequenceParallel = "no",
    attention: Attention = "auto",
    dropout: Dropout = "auto",
    fusion: Fusion = "fused",
    activation_bytes: ActivationBytes = 2.0,
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    norms_per_layer: NormsPerLayer = 2.0,
    experts_per_token: ExpertsPerToken = 1.0,
    shared_experts: SharedExperts = 0.0,
    shared_expert_d_ff: SharedDFf = inf,
    q_lora_rank: QRank = 0.0,
    o_lora_rank: OutRank = 0.0,
    o_groups: OutGroups = 1.0,
    residual_streams: ResidualStreams = 1.0,
    kv_lora_rank: KvRank = 0.0,
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
    attention_layers: AttentionLayers = inf,
    state_layers: StateLayers = 0.0,
    state_layer_params: StateLayerParams = 0.0,
) -> dict[str, Any]:
    """What an average layer keeps of each token for the backward pass, and what it computes
    again."""
    head = where(head_dim < inf, head_dim, d_model / heads)
    keys = minimum(kv_heads, heads) * head
    # Layers may have attention, a recurrent mixer, both, or a feed-forward block alone.
    attending = where(attention_layers < inf, attention_layers, layers - state_layers)
    attended = attending / layers
    entries = (minimum(attending + state_layers, layers) + blocks) / layers
    # A mixer keeps what goes in and out of its matrices: a value for each of their rows.
    mixed = state_layers * (state_layer_params / (ROW * d_model)) / layers
    # Queries and keys, values and the input of the output matrix.
    latent = 2 * heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim)
    projected = attended * where(kv_lora_rank > 0, latent, 2 * heads * head + 2 * keys) + mixed
    latents = q_lora_rank + o_lora_rank * o_groups
    cached_latents = where(kv_lora_rank > 0, kv_lora_rank + qk_rope_head_dim, 0)
    compressed = attended * (latents + cached_latents)
    shared_width = where(shared_expert_d_ff < inf, shared_expert_d_ff, expert_width)
    visited = experts_per_token * expert_width + shared_experts * shared_width
    # Eager mode keeps the activated gate beside its product, and queries and keys once more after
    # their rotation.
    inner_results = 2 * matrices - 2 if fusion == "eager" else matrices
    rotated = attended * (heads * head + keys) if fusion == "eager" else 0
    inner = inner_results * ((blocks - sparse) * dense_width + sparse * visited) / layers
    # Each visited expert has a copy of the token, and gives a result of its own.
    copies = sparse * experts_per_token * 2 * expert_model / layers
    uncut = norms_per_layer * d_model + compressed + copies
    # Models with gated blocks are trained without dropout and with flash attention.
    masked = {"yes": 1, "no": 0}.get(dropout, where(matrices > 2, 0, 1))
    is_flash = {"flash": 1, "scores": 0}.get(attention, where(matrices > 2, 1, 0))
    masks = masked * 2 * d_model * MASK
    # Norms and dropout work on whole rows, which only sequence parallelism divides.
    side = {"yes": tp, "gathered": tp}.get(sequence_parallel, 1)
    entry_side = side if sequence_parallel == "yes" else 1
    layer = (
        (activation_bytes * uncut + masks) / side
        + activation_bytes * entries * residual_streams * d_model / entry_side
        + activation_bytes * (projected + rotated + inner) / tp
    )
    per_score = activation_bytes + masked * (activation_bytes + MASK)
    # A row of scores is as long as its layer sees.
    seen = met + windowed * in_window
    softmax = heads * (seen / layers) * per_score / tp
    # Flash attention keeps one number a row, from which it computes the scores again.
    statistics = attended * heads * FP32_VALUE / tp
    scores = where(is_flash > 0, statistics, softmax)
    everything = layer + scores
    # Selective recomputation drops the scores, where there are any.
    dropped = where(is_flash > 0, 0 * softmax, softmax)
    boundary = activation_bytes * residual_streams * d_model / side
    # Every second matrix product keeps its output, and so does attention: queries, values, the
    # result of attention, the first inner product, the last one of three.
    latent_places = heads * (qk_nope_head_dim + qk_rope_head_dim + 2 * v_head_dim)
    places = attended * where(kv_lora_rank > 0, latent_places, 2 * heads * head + keys) + mixed
    last = where(matrices > 2, d_model * blocks / layers, 0)
    products = activation_bytes * ((places + inner / inner_results) / tp + last)
    alternate = boundary + products + scores
    # Of a stage some layers may be computed again, and the others keep everything.
    repeated = minimum(recompute_layers * pp / layers, 1)
    repeating = repeated * boundary + (1 - repeated) * everything
    return {
        "kept": {"full": repeating, "none": everything, "selective-op": alternate}.get(
            recompute, everything - dropped
        ),
        "again": {
            "full": everything,
            "selective": dropped,
            # Of a very narrow block, what is kept is more than there was.
            "selective-op": maximum(everything - alternate, 0),
        }.get(recompute, 0 * softmax),
        "side": side,
    }
