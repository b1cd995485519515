"""Parts of fine-tuning: blocks that have adapters, what is trained, what a device holds of it."""

from typing import Any

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Step, part
from flopbook.formulas.layer_activations import FP32_VALUE, ROW
from flopbook.formulas.layer_inputs import StateLayers
from flopbook.formulas.parameters import (
    AttentionLayers,
    DenseLayers,
    DFf,
    DModel,
    ExpertDFf,
    ExpertDModel,
    Experts,
    ExpertsPerToken,
    Ffn,
    FfnLayers,
    HeadDim,
    Heads,
    KvHeads,
    KvRank,
    Layers,
    NopeDim,
    QRank,
    RopeDim,
    SharedDFf,
    SharedExperts,
    StateLayerParams,
    Tied,
    ValueDim,
    Vocab,
)
from flopbook.formulas.training_memory_inputs import (
    ActivationBytes,
    BytesPerParam,
    Dp,
    Fusion,
    GradBytes,
    Params,
    Prefetch,
    Zero,
)
from flopbook.formulas.tuning_inputs import (
    NF4,
    Adapted,
    FrozenBytes,
    Method,
    Offload,
    Rank,
    Recompute,
    TrainedLayers,
)
from flopbook.quantities.ops import inf, maximum, minimum, where


@rule("--trained-layers {trained_layers} is more than --layers {layers}")
def trained_layers_exist(layers: float, trained_layers: float, method: str) -> bool:
    """A frozen model trains some of its layers."""
    return (method != "frozen") | (trained_layers <= layers)


@rule("--trained-layers {trained_layers} counts with --method frozen only, not {method}")
def frozen_models_train_layers(trained_layers: float, method: str) -> bool:
    """All other methods train all layers, or adapters in all of them."""
    return (method == "frozen") | (trained_layers == 1)


@rule("--rank {rank} is more than --d-model {d_model}: such an adapter is larger than its matrix")
def adapters_are_narrow(d_model: float, rank: float) -> bool:
    """An adapter has a lower rank than the matrix beside which it stands."""
    return rank <= d_model


@rule(
    "layers with attention and layers with a state are some of --layers {layers}; check "
    "--attention-layers and --state-layers"
)
def recurrent_layers_exist(layers: float, attention_layers: float, state_layers: float) -> bool:
    """A layer has attention, a recurrent mixer or both."""
    return (state_layers <= layers) & ((attention_layers <= layers) | (attention_layers == inf))


@part
def tuned_blocks(
    layers: Layers,
    d_model: DModel,
    d_ff: DFf = inf,
    ffn_kind: Ffn = "gated",
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
    expert_d_ff: ExpertDFf = inf,
    expert_d_model: ExpertDModel = inf,
    shared_experts: SharedExperts = 0.0,
    shared_expert_d_ff: SharedDFf = inf,
    dense_layers: DenseLayers = 0.0,
    ffn_layers: FfnLayers = inf,
) -> dict[str, Any]:
    """Feed-forward widths of an average layer, and the sides of its matrices, which adapters have.

    Every expert has adapters of its own, of which a token meets those of the experts it visits.
    """
    matrices = 3 if ffn_kind == "gated" else 2
    blocks = where(ffn_layers < inf, ffn_layers, layers)
    sparse = where(experts > 1, blocks - dense_layers, 0)
    dense = blocks - sparse
    dense_width = where(d_ff < inf, d_ff, 0)
    expert_width = where(expert_d_ff < inf, expert_d_ff, dense_width)
    expert_model = where(expert_d_model < inf, expert_d_model, d_model)
    # Shared experts are one block as wide as all of them.
    shared_each = where(shared_expert_d_ff < inf, shared_expert_d_ff, expert_width)
    shared_width = shared_experts * shared_each
    shared_sides = where(shared_experts > 0, d_model + shared_width, 0)
    expert_sides = expert_model + expert_width
    outside = dense * (d_model + dense_width) + sparse * shared_sides
    return {
        "matrices": matrices,
        "block_sides": matrices * (outside + sparse * experts * expert_sides),
        "met_sides": matrices * (outside + sparse * experts_per_token * expert_sides),
        "block_width": (
            dense * dense_width + sparse * (experts_per_token * expert_width + shared_width)
        )
        / layers,
        "block_share": blocks / layers,
        # Each visited expert has a copy of the token, and gives a result of its own.
        "copies": sparse * experts_per_token * expert_model / layers,
    }


@part
def tuned_attention(
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    adapted: Adapted = "all",
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    q_lora_rank: QRank = 0.0,
    kv_lora_rank: KvRank = 0.0,
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
    attention_layers: AttentionLayers = inf,
    state_layers: StateLayers = 0.0,
    state_layer_params: StateLayerParams = 0.0,
) -> dict[str, Any]:
    """Sides of the matrices of attention and of recurrent mixers, and what attention keeps."""
    head = where(head_dim < inf, head_dim, d_model / heads)
    value = where(v_head_dim > 0, v_head_dim, head)
    keys = minimum(kv_heads, heads)
    # Latent attention: queries and keys with and without their rotary part, through narrow ranks.
    latent_head = qk_nope_head_dim + qk_rope_head_dim
    through = where(q_lora_rank > 0, d_model + 2 * q_lora_rank, d_model)
    entry = d_model + kv_lora_rank + qk_rope_head_dim
    latent_pair = (
        through
        + heads * latent_head
        + entry
        + kv_lora_rank
        + heads * (qk_nope_head_dim + v_head_dim)
    )
    plain_pair = 2 * d_model + heads * head + keys * value
    per_pair = where(kv_lora_rank > 0, latent_pair, plain_pair)
    keys_side = where(kv_lora_rank > 0, 0, d_model + keys * head)
    output_side = heads * value + d_model
    per_attention = per_pair + keys_side + output_side
    attending = where(attention_layers < inf, attention_layers, layers - state_layers)
    # A mixer has one matrix in and one out, with as many rows as its weights make.
    rows = state_layer_params / (ROW * d_model)
    per_mixer = where(state_layers > 0, 2 * d_model + rows, 0)
    latents = q_lora_rank + kv_lora_rank + qk_rope_head_dim
    latent_kept = 2 * heads * (latent_head + v_head_dim) + latents
    plain_kept = heads * (head + value) + keys * (head + value)
    return {
        "attention_sides": attending * {"qv": per_pair}.get(adapted, per_attention)
        + {"all": state_layers * per_mixer}.get(adapted, 0 * per_mixer),
        "attended": attending / layers,
        "entered": minimum(attending + state_layers, layers) / layers,
        "attention_kept": (
            attending * where(kv_lora_rank > 0, latent_kept, plain_kept) + state_layers * rows
        )
        / layers,
        # Queries and keys once more after their rotation, in eager mode.
        "rotated": attending * where(kv_lora_rank > 0, 0, (heads + keys) * head) / layers,
    }


@part
def trained_parameters(
    params: Params,
    layers: Layers,
    d_model: DModel,
    vocab: Vocab,
    attention_sides: Step,
    block_sides: Step,
    met_sides: Step,
    method: Method = "lora",
    rank: Rank = 8.0,
    adapted: Adapted = "all",
    trained_layers: TrainedLayers = 1.0,
    tied_embeddings: Tied = "no",
) -> dict[str, Any]:
    """Parameters that are trained, and those of the base model that stay as they are."""
    # A matrix [in, out] has an adapter of [in, r] and [r, out].
    in_blocks = 1 if adapted == "all" else 0
    adapters = rank * (attention_sides + in_blocks * block_sides)
    adapters_met = rank * (attention_sides + in_blocks * met_sides)
    tables = vocab * d_model * (1 if tied_embeddings == "yes" else 2)
    layer_params = maximum(params - tables, 0) / layers
    top = minimum(trained_layers, layers) * layer_params
    return {
        "tables": tables,
        "layer_params": layer_params,
        "added": {"full": 0 * adapters, "frozen": 0 * adapters}.get(method, adapters),
        "added_met": {"full": 0 * adapters, "frozen": 0 * adapters}.get(method, adapters_met),
        "trained": {"full": params, "frozen": top}.get(method, adapters),
    }


@part
def tuning_states(
    params: Params,
    layers: Layers,
    tables: Step,
    layer_params: Step,
    added: Step,
    trained: Step,
    state: Step,
    cast: Step,
    method: Method = "lora",
    bytes_per_param: BytesPerParam = 2.0,
    grad_bytes: GradBytes = 2.0,
    frozen_bytes: FrozenBytes = inf,
    dp: Dp = 1.0,
    zero: Zero = 0.0,
    prefetch: Prefetch = 2.0,
) -> dict[str, Any]:
    """Weights, gradients and optimizer of a device, and what FSDP gathers."""
    quantised = NF4 if method == "qlora" else bytes_per_param
    frozen_width = where(frozen_bytes < inf, frozen_bytes, quantised)
    width = bytes_per_param if method == "full" else frozen_width
    # Tables of the vocabulary and what is trained keep the width of a weight.
    in_layers = maximum(params - tables, 0)
    kept_wide = minimum(trained - added, in_layers) if method == "frozen" else 0 * added
    stored = width * (in_layers - kept_wide) + bytes_per_param * (kept_wide + tables + added)
    divides = where(zero >= 3, where(dp > 1, 1, 0), 0)
    held = minimum(prefetch, layers) * width * layer_params + bytes_per_param * tables
    return {
        "width": width,
        "weights_held": stored / where(zero >= 3, dp, 1),
        "gradients_held": grad_bytes * trained / where(zero >= 2, dp, 1),
        "optimizer_held": state * trained / where(zero >= 1, dp, 1),
        "cast_gradients": cast * trained / where(zero >= 1, dp, 1),
        "gathered_weights": divides * held,
    }


@part
def tuning_activations(
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    matrices: Step,
    block_width: Step,
    block_share: Step,
    copies: Step,
    attended: Step,
    entered: Step,
    attention_kept: Step,
    rotated: Step,
    method: Method = "lora",
    adapted: Adapted = "all",
    trained_layers: TrainedLayers = 1.0,
    fusion: Fusion = "fused",
    recompute: Recompute = "none",
    offload: Offload = "no",
    activation_bytes: ActivationBytes = 2.0,
) -> dict[str, Any]:
    """What all layers keep of a token for the backward pass, and what one computes again."""
    # Frozen products need no input for the backward pass, unless they are quantised.
    inputs_kept = {"lora": 0}.get(method, 1)
    block_inputs = 1 if adapted == "all" else inputs_kept
    entries = d_model * entered + block_inputs * (d_model * block_share + copies + block_width)
    # Norms work in fp32, and eager mode keeps that copy.
    is_eager = 1 if fusion == "eager" else 0
    norm_width = where(is_eager > 0, FP32_VALUE, activation_bytes)
    attention = attention_kept + is_eager * rotated
    # The two products of a gated block and its activated gate, which fused kernels compute again.
    inner = (matrices - 1 + is_eager * (matrices - 2)) * block_width + copies
    layer = (
        (entered + block_share) * norm_width * d_model
        + activation_bytes * (entries + attention + inner)
        + FP32_VALUE * heads * attended
    )
    boundary = activation_bytes * d_model
    reached = minimum(trained_layers, layers) if method == "frozen" else layers
    here = 0 if offload == "yes" else 1
    return {
        "reached": reached,
        "kept": here * reached * (boundary if recompute == "full" else layer),
        "again": layer if recompute == "full" else 0 * layer,
    }
