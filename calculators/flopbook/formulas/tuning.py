"""What fine-tuning takes: trained parameters, memory by part and arithmetic of a token."""

from typing import Any

from flopbook.formulas.conditions import kv_heads_are_shared, rule
from flopbook.formulas.declaration import Constant, Output, Step, formula, part
from flopbook.formulas.inference_inputs import ComputeParams
from flopbook.formulas.omissions import omission
from flopbook.formulas.optimizer_states import optimizer_states
from flopbook.formulas.parameters import (
    DFf,
    DModel,
    Ffn,
    HeadDim,
    Heads,
    KvHeads,
    Layers,
    Tied,
    Vocab,
)
from flopbook.formulas.training_buffers import CUDA_CONTEXT, RESERVED
from flopbook.formulas.training_memory_inputs import (
    ActivationBytes,
    BytesPerParam,
    ContextBytes,
    Dp,
    Fusion,
    GradBytes,
    LogitBytes,
    LossChunks,
    Memory,
    MicroBatch,
    Params,
    Prefetch,
    ReserveShare,
    Seq,
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

FP32_VALUE = Constant(4.0, "byte", "an activation in 32 bits")
SCORES = Constant(6.0, "FLOP/token", "operations of scores: two products, half masked, three times")
FORWARD = Constant(2.0, "FLOP", "a multiplication and an addition with each weight")


@rule("--trained-layers {trained_layers} is more than --layers {layers}")
def trained_layers_exist(layers: float, trained_layers: float, method: str) -> bool:
    """A frozen model trains some of its layers."""
    return (method != "frozen") | (trained_layers <= layers)


@rule("--rank {rank} is more than --d-model {d_model}: such an adapter is larger than its matrix")
def adapters_are_narrow(d_model: float, rank: float) -> bool:
    """An adapter has a lower rank than the matrix beside which it stands."""
    return rank <= d_model


@part
def trained_parameters(
    params: Params,
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    vocab: Vocab,
    d_ff: DFf,
    method: Method = "lora",
    rank: Rank = 8.0,
    adapted: Adapted = "all",
    trained_layers: TrainedLayers = 1.0,
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    ffn_kind: Ffn = "gated",
    tied_embeddings: Tied = "no",
) -> dict[str, Any]:
    """Parameters that are trained, and those of the base model that stay as they are."""
    queries = heads * where(head_dim < inf, head_dim, d_model / heads)
    keys = minimum(kv_heads, heads) * queries / heads
    matrices = 3 if ffn_kind == "gated" else 2
    # A matrix [in, out] has an adapter of [in, r] and [r, out].
    per_pair = (d_model + queries) + (d_model + keys)
    per_attention = 2 * per_pair
    per_block = matrices * (d_model + d_ff)
    sides = {"qv": per_pair, "attention": per_attention}.get(adapted, per_attention + per_block)
    adapters = layers * rank * sides
    tables = vocab * d_model * (1 if tied_embeddings == "yes" else 2)
    layer_params = maximum(params - tables, 0) / layers
    top = minimum(trained_layers, layers) * layer_params
    return {
        "queries": queries,
        "keys": keys,
        "matrices": matrices,
        "tables": tables,
        "layer_params": layer_params,
        "added": {"full": 0 * adapters, "frozen": 0 * adapters}.get(method, adapters),
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
        "gathered_weights": divides * held,
    }


@part
def tuning_activations(
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    d_ff: DFf,
    queries: Step,
    keys: Step,
    matrices: Step,
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
    entries = d_model + block_inputs * (d_model + d_ff)
    # Norms work in fp32, and eager mode keeps that copy.
    is_eager = 1 if fusion == "eager" else 0
    norm_width = where(is_eager > 0, FP32_VALUE, activation_bytes)
    attention = 2 * queries + 2 * keys + is_eager * (queries + keys)
    # The two products of a gated block and its activated gate, which fused kernels compute again.
    inner = (matrices - 1 + is_eager * (matrices - 2)) * d_ff
    layer = (
        2 * norm_width * d_model
        + activation_bytes * (entries + attention + inner)
        + FP32_VALUE * heads
    )
    boundary = activation_bytes * d_model
    reached = minimum(trained_layers, layers) if method == "frozen" else layers
    here = 0 if offload == "yes" else 1
    return {
        "reached": reached,
        "kept": here * reached * (boundary if recompute == "full" else layer),
        "again": layer if recompute == "full" else 0 * layer,
    }


@omission(
    "flop_per_token has no attention scores, which a causal mask leaves at this length ({size})",
    of="flop_per_token",
)
def attention_scores(
    layers: float,
    heads: float,
    head_dim: float,
    d_model: float,
    seq: float,
    flop_per_token: float,
) -> float:
    """Two products of each pair, half of the pairs, forward and twice as much backward."""
    queries = heads * where(head_dim < inf, head_dim, d_model / heads)
    return SCORES * layers * queries * (seq + 1) / flop_per_token


@formula(
    "fine-tuning",
    title="Fine-tuning",
    question="What does it take to fine-tune a model, with all its weights or with adapters?",
    outputs={
        "trainable": Output("param", r"N_t", "parameters that are trained"),
        "share": Output("1", r"\varsigma", "trained parameters over those of the model"),
        "total": Output("byte", "T", "peak memory of a device"),
        "weights": Output("byte", "T_w", "weights, adapters included"),
        "gradients": Output("byte", "T_g", "gradients of what is trained"),
        "optimizer": Output("byte", "T_o", "optimizer state, master weights included"),
        "activations": Output("byte", "T_a", "activations kept for the backward pass"),
        "logits": Output("byte", "T_l", "logits and their copies in the loss"),
        "gathered": Output("byte", "T_z", "weights that ZeRO-3 (FSDP) holds gathered"),
        "working": Output("byte", "T_r", "activations of the layer that is recomputed"),
        "reserved": Output("byte", "T_v", "what the allocator reserves beyond the tensors"),
        "context": Output("byte", "T_k", "CUDA context and kernels"),
        "free": Output("byte", "T_f", "what is left of the memory", needs=("memory",)),
        "flop_per_token": Output("FLOP/token", "c", "FLOPs of a token, recomputation included"),
    },
    sources=("hu2021lora", "dettmers2023qlora", "pytorch2026torchtune", "lightning2023resources"),
    parts=(optimizer_states, trained_parameters, tuning_states, tuning_activations),
    symbols={
        "state": r"\omega",
        "embedding_state": r"\omega_\text{emb}",
        "cast": r"\omega_c",
        "narrow": r"\omega_n",
        "master": r"\omega_0",
        "moments": r"\omega_1",
        "queries": "d_q",
        "keys": r"\kappa",
        "matrices": r"\mu",
        "per_pair": "a_1",
        "per_attention": "a_2",
        "per_block": "a_3",
        "sides": "a_0",
        "adapters": "N_a",
        "tables": r"N_\text{emb}",
        "layer_params": r"n_\ell",
        "top": "N_1",
        "added": "N_+",
        "trained": r"\Theta",
        "quantised": "w_q",
        "frozen_width": "w_1",
        "width": "w_2",
        "in_layers": r"N_\ell",
        "kept_wide": "N_2",
        "stored": r"\Sigma",
        "divides": r"\delta",
        "held": "G",
        "weights_held": "G_w",
        "gradients_held": "G_g",
        "optimizer_held": "G_o",
        "gathered_weights": "Z_w",
        "inputs_kept": "e_0",
        "block_inputs": "e_1",
        "entries": "e",
        "is_eager": r"\epsilon",
        "norm_width": "a_n",
        "attention": "y_a",
        "inner": "y_f",
        "layer": r"A_\ell",
        "boundary": "A_0",
        "reached": "L_1",
        "here": r"\eta",
        "kept": "A",
        "again": "R",
        "tokens": r"\theta",
        "logit": "q_1",
        "tensors": r"\Pi",
        "head": "h",
        "in_layer_flop": "N_3",
        "share_reached": r"\lambda",
        "trained_weights": "N_6",
        "states": r"\Omega",
        "backward": "N_4",
        "repeated": "N_5",
    },
    asks=("model", "chip", "method", "chips", "seq"),
    divides=("dp",),
    examples=(
        {"model": "llama-3-8b", "chip": "rtx-4090", "method": "qlora", "rank": "16", "seq": "2048"},
        {
            "model": "llama-3-70b",
            "chip": "a100-sxm-80gb",
            "method": "lora",
            "rank": "16",
            "seq": "2048",
            "dp": "8",
            "zero": "3",
            "recompute": "full",
        },
    ),
    rules=(kv_heads_are_shared, trained_layers_exist, adapters_are_narrow),
    omissions=(attention_scores,),
)
def fine_tuning(
    params: Params,
    compute_params: ComputeParams,
    layers: Layers,
    d_model: DModel,
    vocab: Vocab,
    seq: Seq,
    added: Step,
    trained: Step,
    reached: Step,
    weights_held: Step,
    gradients_held: Step,
    optimizer_held: Step,
    gathered_weights: Step,
    kept: Step,
    again: Step,
    method: Method = "lora",
    micro_batch: MicroBatch = 1.0,
    recompute: Recompute = "none",
    logit_bytes: LogitBytes = 12.0,
    loss_chunks: LossChunks = 1.0,
    context_bytes: ContextBytes = CUDA_CONTEXT,
    reserve: ReserveShare = RESERVED,
    memory: Memory = inf,
) -> dict[str, Any]:
    """Trained parameters, memory of each device and arithmetic of a token in fine-tuning.

    Derivation:
        LoRA sets a matrix [in, r] and a matrix [r, out] beside each adapted matrix [in, out], which
        stays as it is: r(in + out) parameters are trained. QLoRA stores the frozen matrices of the
        layers in NF4, 4.127 bits each with the scales of scales; tables of the vocabulary keep
        their width. A frozen model trains its last layers. Gradients and optimizer are those of
        what is trained: 14 bytes for each parameter with Adam and master weights, 6 in pure bf16
        (--optimizer-kind adam-pure). FSDP divides weights among the devices and holds two layers
        and the tables of the vocabulary gathered.

        A layer keeps, for each token: the inputs of both norms, queries, keys, values and the
        result of attention, the two inner products of a gated block; the inputs of products that
        are trained or have an adapter. A frozen product needs no input for its backward pass, but
        a quantised one is computed by a kernel that keeps it. Eager mode keeps the fp32 copies of
        the norms, the activated gate, rotated queries and keys. With recomputation a layer keeps
        its input alone; offloaded, not even that. Layers below the first that is trained keep
        nothing.

        Each weight that a token meets takes 2 operations forward, 2 for the gradient of its input
        and 2 for its own gradient. Frozen weights lack the last: LoRA takes 4 operations with each
        weight of the model and 6 with each of an adapter, where full training takes 6.
        Recomputation adds 2 for the layers.

    Leaves out:
        - Attention scores, whose arithmetic grows with the sequence. [attention_scores]
        - Experts: feed-forward blocks are taken to be dense; of a mixture, give the width of all
          experts that a token visits as --d-ff. [no size: it is asked for]
        - Masks of dropout in the adapters. [no size: below a hundredth of the activations]
        - Unpacking NF4 to the width in which products run. [no size: one matrix at a time]
        - Buffers of communication: some 0.2 GB with several devices. [no size: see memory]
    """
    tokens = micro_batch * seq
    activations = tokens * kept
    logits = tokens * vocab * logit_bytes / loss_chunks
    working = tokens * again
    states = weights_held + gradients_held + optimizer_held
    tensors = states + gathered_weights + activations + logits + working
    reserved = reserve * tensors
    total = tensors + reserved + context_bytes
    head = vocab * d_model
    in_layer_flop = maximum(compute_params - head, 0)
    share_reached = reached / layers
    backward = share_reached * in_layer_flop + head
    trained_weights = {"full": compute_params, "frozen": share_reached * in_layer_flop}.get(
        method, 0 * head
    )
    repeated = share_reached * in_layer_flop + added if recompute == "full" else 0 * head
    return {
        "trainable": trained,
        "share": trained / params,
        "total": total,
        "weights": weights_held,
        "gradients": gradients_held,
        "optimizer": optimizer_held,
        "activations": activations,
        "logits": logits,
        "gathered": gathered_weights,
        "working": working,
        "reserved": reserved,
        "context": context_bytes,
        "free": memory - total,
        "flop_per_token": FORWARD * (compute_params + backward + trained_weights + repeated)
        + 3 * FORWARD * added,
    }
