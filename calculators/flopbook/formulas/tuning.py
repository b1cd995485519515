"""What fine-tuning takes: trained parameters, memory by part and arithmetic of a token."""

from typing import Any

from flopbook.formulas.conditions import (
    dense_layers_exist,
    feed_forward_has_a_width,
    kv_heads_are_shared,
    latent_attention_has_widths,
    visited_experts_exist,
)
from flopbook.formulas.declaration import Constant, Output, Step, formula
from flopbook.formulas.inference_inputs import ComputeParams
from flopbook.formulas.layer_inputs import Window, WindowLayers
from flopbook.formulas.omissions import omission
from flopbook.formulas.optimizer_states import optimizer_states
from flopbook.formulas.parameters import DModel, Layers, Vocab
from flopbook.formulas.training_buffers import CUDA_CONTEXT, RESERVED
from flopbook.formulas.training_compute import head_is_a_part
from flopbook.formulas.training_memory_inputs import (
    ContextBytes,
    LogitBytes,
    LossChunks,
    Memory,
    MicroBatch,
    Params,
    ReserveShare,
    Seq,
)
from flopbook.formulas.training_omissions import master_beside_8_bits, master_of_tuned_weights
from flopbook.formulas.tuning_inputs import Method, Recompute
from flopbook.formulas.tuning_parts import (
    adapters_are_narrow,
    frozen_models_train_layers,
    recurrent_layers_exist,
    trained_layers_exist,
    trained_parameters,
    tuned_attention,
    tuned_blocks,
    tuning_activations,
    tuning_states,
)
from flopbook.formulas.weights import dense_blocks_exist
from flopbook.quantities.ops import inf, maximum, minimum, where

SCORES = Constant(6.0, "FLOP/token", "operations of scores: two products, half masked, three times")
FORWARD = Constant(2.0, "FLOP", "a multiplication and an addition with each weight")


@omission(
    "flop_per_token has no attention scores, which a causal mask leaves at this length ({size})",
    of="flop_per_token",
)
def attention_scores(
    layers: float,
    heads: float,
    head_dim: float,
    d_model: float,
    kv_lora_rank: float,
    qk_nope_head_dim: float,
    qk_rope_head_dim: float,
    v_head_dim: float,
    seq: float,
    window: float,
    window_layers: float,
    state_layers: float,
    attention_layers: float,
    flop_per_token: float,
) -> float:
    """Two products of each pair, half of the pairs, forward and twice as much backward."""
    head = where(head_dim < inf, head_dim, d_model / heads)
    both = head + where(v_head_dim > 0, v_head_dim, head)
    latent = qk_nope_head_dim + qk_rope_head_dim + v_head_dim
    queries = heads * where(kv_lora_rank > 0, latent, both) / 2
    attending = where(attention_layers < inf, attention_layers, layers - state_layers)
    windowed = where(window < inf, minimum(window_layers, attending), 0)
    # A window is seen whole but while it fills, where all tokens are seen by half on average.
    in_window = minimum(window, seq)
    filling = in_window * (2 - (in_window - 1) / seq)
    pairs = (attending - windowed) * (seq + 1) + windowed * filling
    return SCORES * pairs * queries / flop_per_token


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
        "step": Output("byte", "T_s", "what the optimizer step needs beyond the passes before it"),
        "reserved": Output("byte", "T_v", "what the allocator reserves beyond the tensors"),
        "context": Output("byte", "T_k", "CUDA context and kernels"),
        "free": Output("byte", "T_f", "memory left free", needs=("memory",)),
        "flop_per_token": Output("FLOP/token", "c", "FLOPs of a token, recomputation included"),
    },
    sources=("hu2021lora", "dettmers2023qlora", "pytorch2026torchtune", "lightning2023resources"),
    parts=(
        optimizer_states,
        tuned_blocks,
        tuned_attention,
        trained_parameters,
        tuning_states,
        tuning_activations,
    ),
    symbols={
        "state": r"\omega",
        "embedding_state": r"\omega_\text{emb}",
        "cast": r"\omega_c",
        "narrow": r"\omega_n",
        "master": r"\omega_0",
        "moments": r"\omega_1",
        "matrices": r"\mu",
        "blocks": r"\ell_F",
        "sparse": r"L_e",
        "dense": r"\ell_d",
        "dense_width": r"f_d",
        "expert_width": r"f_e",
        "expert_model": r"d_e",
        "shared_each": r"f_1",
        "shared_width": r"f_s",
        "shared_sides": r"a_s",
        "expert_sides": r"a_e",
        "outside": r"a_d",
        "block_sides": "a_3",
        "met_sides": "a_4",
        "block_width": r"y_b",
        "block_share": r"\beta_F",
        "copies": r"y_c",
        "head": "h",
        "value": "h_v",
        "keys": r"\kappa",
        "latent_head": "h_l",
        "through": "q_0",
        "entry": "q_2",
        "latent_pair": "a_l",
        "plain_pair": "a_0",
        "per_pair": "a_1",
        "keys_side": "a_k",
        "output_side": "a_o",
        "per_attention": "a_2",
        "attending": r"\ell_a",
        "rows": "z_r",
        "per_mixer": "a_z",
        "latents": r"y_r",
        "latent_kept": r"y_l",
        "plain_kept": r"y_p",
        "attention_sides": "a_A",
        "attended": r"\alpha_a",
        "entered": r"\alpha_e",
        "attention_kept": r"y_A",
        "rotated": r"y_\text{rot}",
        "in_blocks": "e_2",
        "adapters": "N_a",
        "adapters_met": "N_m",
        "added_met": "N_0",
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
        "cast_gradients": r"\Gamma_c",
        "passing": r"G_p",
        "beyond": r"G_s",
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
        "head_params": "N_h",
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
    rules=(
        head_is_a_part,
        kv_heads_are_shared,
        visited_experts_exist,
        dense_layers_exist,
        dense_blocks_exist,
        feed_forward_has_a_width,
        latent_attention_has_widths,
        recurrent_layers_exist,
        trained_layers_exist,
        frozen_models_train_layers,
        adapters_are_narrow,
    ),
    omissions=(attention_scores, master_of_tuned_weights, master_beside_8_bits),
)
def fine_tuning(
    params: Params,
    compute_params: ComputeParams,
    layers: Layers,
    d_model: DModel,
    vocab: Vocab,
    seq: Seq,
    added_met: Step,
    trained: Step,
    reached: Step,
    weights_held: Step,
    gradients_held: Step,
    optimizer_held: Step,
    cast_gradients: Step,
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
    window: Window = inf,
    window_layers: WindowLayers = inf,
) -> dict[str, Any]:
    """Trained parameters, memory of each device and arithmetic of a token in fine-tuning.

    Derivation:
        LoRA sets a matrix [in, r] and a matrix [r, out] beside each adapted matrix [in, out], which
        stays as it is: r(in + out) parameters are trained. Every expert of a mixture
        has adapters of its own, of which a token meets those of the experts that it visits; latent
        attention has them beside both matrices of queries and of keys and values, and a recurrent
        mixer beside its matrix in and its matrix out. QLoRA stores the frozen matrices of the
        layers in NF4, 4.127 bits each with the scales of scales; tables of the vocabulary keep
        their width. A frozen model trains its last layers. Gradients and optimizer are those of
        what is trained: 14 bytes for each parameter with Adam and master weights, 6 in pure bf16
        (--optimizer-kind adam-pure). Beside master weights the step casts gradients to fp32, 4
        bytes for each, when the activations are gone. FSDP divides weights among the devices and
        holds two layers and the tables of the vocabulary gathered.

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
        - Weights that are updated in bf16 alone. [master_of_tuned_weights, master_beside_8_bits]
        - Routers, which stay frozen and have no adapters. [no size: below 0.1 percent]
        - Masks of dropout in the adapters. [no size: below a hundredth of the activations]
        - Unpacking NF4 to the width in which products run. [no size: one matrix at a
          time, 0.5 GB of the 46 of a 70B model]
        - Buffers of communication: some 0.2 GB with several devices. [no size: an
          eighth of the context, which the total has]
    """
    tokens = micro_batch * seq
    activations = tokens * kept
    logits = tokens * vocab * logit_bytes / loss_chunks
    working = tokens * again
    states = weights_held + gradients_held + optimizer_held
    passing = gathered_weights + activations + logits + working
    # The step comes after the passes: it counts as far as it needs more than they did.
    beyond = maximum(cast_gradients - passing, 0 * passing)
    tensors = states + passing + beyond
    reserved = reserve * tensors
    total = tensors + reserved + context_bytes
    head_params = vocab * d_model
    in_layer_flop = maximum(compute_params - head_params, 0)
    share_reached = reached / layers
    backward = share_reached * in_layer_flop + head_params
    trained_weights = {"full": compute_params, "frozen": share_reached * in_layer_flop}.get(
        method, 0 * head_params
    )
    repeated = share_reached * in_layer_flop + added_met if recompute == "full" else 0 * head_params
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
        "step": beyond,
        "reserved": reserved,
        "context": context_bytes,
        "free": memory - total,
        "flop_per_token": FORWARD * (compute_params + backward + trained_weights + repeated)
        + 3 * FORWARD * added_met,
    }
