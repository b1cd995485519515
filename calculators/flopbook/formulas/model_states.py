"""Weights, gradients and optimizer state that a device holds in training."""

from typing import Any

from flopbook.formulas.declaration import Step, part
from flopbook.formulas.optimizer_states import FP32
from flopbook.formulas.parameters import (
    DenseLayers,
    DFf,
    DModel,
    ExpertDFf,
    ExpertDModel,
    Experts,
    Ffn,
    FfnLayers,
    Layers,
    Tied,
    Vocab,
)
from flopbook.formulas.training_memory_inputs import (
    Accumulation,
    BytesPerParam,
    Cp,
    Dp,
    Ep,
    GradBytes,
    Hsdp,
    Offload,
    Params,
    Pp,
    Schedule,
    Tp,
    Zero,
)
from flopbook.quantities.ops import inf, maximum, where


@part
def model_states(
    params: Params,
    layers: Layers,
    d_model: DModel,
    vocab: Vocab,
    state: Step,
    embedding_state: Step,
    cast: Step,
    bytes_per_param: BytesPerParam = 2.0,
    grad_bytes: GradBytes = 2.0,
    zero: Zero = 0.0,
    hsdp: Hsdp = 1.0,
    dp: Dp = 1.0,
    tp: Tp = 1.0,
    pp: Pp = 1.0,
    cp: Cp = 1.0,
    ep: Ep = 1.0,
    tied_embeddings: Tied = "no",
    d_ff: DFf = inf,
    ffn_kind: Ffn = "gated",
    experts: Experts = 1.0,
    expert_d_ff: ExpertDFf = inf,
    expert_d_model: ExpertDModel = inf,
    dense_layers: DenseLayers = 0.0,
    ffn_layers: FfnLayers = inf,
    schedule: Schedule = "1f1b",
    grad_accumulation: Accumulation = "auto",
) -> dict[str, Any]:
    """Weights, gradients and optimizer of a device, as divided by each kind of parallelism."""
    embedding = vocab * d_model
    embeddings = embedding * (1 if tied_embeddings == "yes" else 2)
    blocks = where(ffn_layers < inf, ffn_layers, layers)
    sparse = where(experts > 1, blocks - dense_layers, 0)
    dense_width = where(d_ff < inf, d_ff, 0)
    expert_width = where(expert_d_ff < inf, expert_d_ff, dense_width)
    matrices = 3 if ffn_kind == "gated" else 2
    expert_model = where(expert_d_model < inf, expert_d_model, d_model)
    expert = sparse * experts * matrices * expert_model * expert_width
    # What is neither embedding nor expert; a rounded total may fall below what its shape counts.
    rest = maximum(params - embeddings - expert, 0)
    # DualPipe runs the model from both ends, so each device holds two stages' weights.
    replicas = 2 if schedule == "dualpipe" else 1
    rest_part = replicas * rest / (tp * pp)
    embedding_part = replicas * embeddings / (tp * pp)
    expert_part = replicas * expert / (tp * pp * ep)
    # A pipeline keeps the input embedding on the first stage and the head on the last.
    end_stage = where(pp > 1, embedding, embeddings)
    # Schedules that run down the devices and up again have both ends of the model on the first one.
    ends = {"zb-v": embeddings, "dualpipe": embeddings, "dualpipe-v": embeddings}.get(
        schedule, end_stage
    )
    extra = (ends - replicas * embeddings / pp) / tp
    # ZeRO divides over the devices of a group with equal weights; experts differ within ep of them.
    shard = dp * cp / hsdp
    weight_shards = where(zero >= 3, shard, 1)
    weight_cut = where(zero >= 3, shard / ep, 1)
    # Pipelines reduce after the last micro-batch alone, so stages 2 and 3 add up whole gradients;
    # FSDP does so in fp32.
    adds_whole = {"sharded": 0, "none": 0, "whole": 1}.get(grad_accumulation, where(pp > 1, 1, 0))
    is_whole = where(zero >= 3, adds_whole, 0)
    gradient_width = where(is_whole > 0, maximum(grad_bytes, FP32), grad_bytes)
    divided = where(adds_whole > 0, 0, zero)
    gradient_shards = where(divided >= 2, shard, 1)
    gradient_cut = where(divided >= 2, shard / ep, 1)
    state_shards = where(zero >= 1, shard, 1)
    state_cut = where(zero >= 1, shard / ep, 1)
    shared = rest_part + embedding_part
    common_state = (state * rest_part + embedding_state * embedding_part) / state_shards
    summed = gradient_width * (shared / gradient_shards + expert_part / gradient_cut)
    layer_params = (rest / tp + expert / (tp * ep)) / layers
    return {
        "all_weights": bytes_per_param * (shared / weight_shards + expert_part / weight_cut),
        "summed": summed,
        "all_states": common_state + state * expert_part / state_cut,
        "extra_weights": extra * bytes_per_param / weight_shards,
        "extra_gradients": extra * gradient_width / gradient_shards,
        "extra_states": extra * embedding_state / state_shards,
        "layer_params": layer_params,
        "outer_params": ends / tp,
        "shard": shard,
        "is_whole": is_whole,
        "all_casts": cast * ((shared + extra) / state_shards + expert_part / state_cut),
        "blocks": blocks,
        "sparse": sparse,
        "expert_model": expert_model,
        "dense_width": dense_width,
        "expert_width": expert_width,
        "matrices": matrices,
        "stages": pp,
    }


@part
def states_here(
    all_weights: Step,
    summed: Step,
    all_states: Step,
    extra_weights: Step,
    extra_gradients: Step,
    extra_states: Step,
    all_casts: Step,
    grad_accumulation: Accumulation = "auto",
    offload: Offload = "no",
) -> dict[str, Any]:
    """What of them the device keeps itself, and not its host."""
    rung = {"optimizer": 1, "gradients": 2, "parameters": 3}.get(offload, 0)
    has_weights = where(rung >= 3, 0, 1)
    has_gradients = where(rung >= 2, 0, 1)
    has_states = where(rung >= 1, 0, 1)
    # Without buffers, gradients are made while the activations go.
    buffered = 0 if grad_accumulation == "none" else 1
    extra_here = has_weights * extra_weights + has_gradients * extra_gradients
    return {
        "weights": has_weights * all_weights,
        "gradients": buffered * has_gradients * summed,
        "optimizer_state": has_states * all_states,
        "stage_extra": extra_here + has_states * extra_states,
        "made": (1 - buffered) * has_gradients * summed,
        "cast_gradients": has_states * all_casts,
        "fetches": 1 - has_weights,
        "streams": 1 - has_gradients,
    }
