"""What training a transformer keeps in the memory of each device."""

from typing import Any

from flopbook.formulas.conditions import (
    TENSOR_RULES,
    dense_layers_exist,
    feed_forward_has_a_width,
    kv_heads_are_shared,
    latent_attention_has_widths,
    rule,
    visited_experts_exist,
)
from flopbook.formulas.declaration import Constant, Output, Step, formula
from flopbook.formulas.layer_activations import FP32_VALUE, layer_activations
from flopbook.formulas.model_states import model_states
from flopbook.formulas.parameters import (
    DModel,
    Layers,
    Vocab,
)
from flopbook.formulas.pipeline import SHAPES, in_flight
from flopbook.formulas.training_memory_inputs import (
    ActivationBytes,
    Cp,
    Memory,
    MicroBatch,
    MicroBatches,
    Params,
    Pp,
    Schedule,
    Seq,
    Tp,
    Virtual,
)
from flopbook.quantities.ops import inf, maximum, minimum, where

# A published total may be rounded below what its shape counts: 1T for 1.026 trillion.
ROUNDED = Constant(1.05, "1", "slack of a rounded total")


@rule("--pp {pp} is larger than --layers {layers}: a stage would have no layer")
def stages_have_layers(layers: float, pp: float) -> bool:
    """A layer is the smallest piece of a pipeline."""
    return layers >= pp


@rule("--ep {ep} does not divide --experts {experts}; use {ep:divisor of experts}")
def ep_divides_experts(experts: float, ep: float) -> bool:
    """Every rank of expert parallelism holds equally many experts."""
    return experts % ep == 0


@rule(
    "--ep {ep} does not divide --dp {dp} x --cp {cp}: "
    "experts are spread over devices that otherwise hold the same weights"
)
def ep_divides_the_replicas(dp: float, cp: float, ep: float) -> bool:
    """Expert parallelism takes its ranks from data and context parallelism."""
    return (dp * cp) % ep == 0


@rule("--cp {cp} does not divide --seq {seq}; use {cp:divisor of seq}")
def cp_divides_the_sequence(seq: float, cp: float) -> bool:
    """Every rank of context parallelism holds equally many tokens."""
    return seq % cp == 0


@rule("gpipe keeps every micro-batch until the end; give --microbatches")
def gpipe_has_an_end(schedule: str, microbatches: float) -> bool:
    """Its first stage holds the activations of all of them at once."""
    return (schedule != "gpipe") | (microbatches < inf)


@rule(
    "--params is smaller than the embeddings and experts of this shape; flopbook params counts them"
)
def parameters_hold_the_shape(
    params: float,
    layers: float,
    d_model: float,
    vocab: float,
    d_ff: float,
    ffn_kind: str,
    tied_embeddings: str,
    experts: float,
    expert_d_ff: float,
    dense_layers: float,
) -> bool:
    """Embeddings and experts are the least that a model of this shape has."""
    dense_width = where(d_ff < inf, d_ff, 0)
    width = where(expert_d_ff < inf, expert_d_ff, dense_width)
    expert_layers = where(experts > 1, layers - dense_layers, 0)
    matrices = 3 if ffn_kind == "gated" else 2
    expert_weights = expert_layers * experts * matrices * d_model * width
    embeddings = 1 if tied_embeddings == "yes" else 2
    embedding_weights = vocab * d_model * embeddings
    return ROUNDED * params >= embedding_weights + expert_weights


@formula(
    "memory",
    title="Training memory",
    question="What does training keep in the memory of each device?",
    outputs={
        "total": Output(
            "byte", r"T", "all of it, on the fuller of the first and the last pipeline stage"
        ),
        "weights": Output("byte", r"T_w", "weights, of an average stage"),
        "gradients": Output("byte", r"T_g", "gradients, of an average stage"),
        "optimizer": Output(
            "byte", r"T_o", "state of the optimizer with master weights, of an average stage"
        ),
        "stage_extra": Output(
            "byte", r"T_x", "the same three for the embedding that only an end stage holds"
        ),
        "activations": Output("byte", r"T_a", "activations of the layers, on the first stage"),
        "logits": Output("byte", r"T_l", "activations of the head, on the last stage"),
        "working": Output(
            "byte", r"T_r", "what lives a moment: a layer gathered by ZeRO-3 or computed again"
        ),
        "inflight": Output(
            "1", r"i", "micro-batches whose activations the first stage holds at once"
        ),
        "free": Output("byte", r"T_f", "what is left of the memory", needs=("memory",)),
    },
    sources=(
        "korthikanti2023reducing",
        "rajbhandari2020zero",
        "narayanan2021efficient",
        "qi2024zero",
        "qi2024pipeline",
        "deepseek2025dualpipe",
        "shazeer2018adafactor",
        "nvidia2026muon",
    ),
    parts=(model_states, layer_activations, in_flight),
    symbols={
        "embedding": r"N_\text{in}",
        "embeddings": r"N_\text{emb}",
        "sparse": r"L_e",
        "dense_width": r"f_d",
        "expert_width": r"f_e",
        "shared_width": r"f_s",
        "matrices": r"\mu",
        "expert": r"N_e",
        "rest": r"N_r",
        "rest_part": r"n_r",
        "embedding_part": r"n_\text{emb}",
        "expert_part": r"n_e",
        "extra": r"n_x",
        "shared": r"n_s",
        "shard": r"\sigma",
        "weight_shards": r"\sigma_w",
        "gradient_shards": r"\sigma_g",
        "state_shards": r"\sigma_o",
        "weight_cut": r"\epsilon_w",
        "gradient_cut": r"\epsilon_g",
        "state_cut": r"\epsilon_o",
        "master": r"\omega_0",
        "moments": r"\omega_1",
        "state": r"\omega",
        "embedding_state": r"\omega_\text{emb}",
        "extra_bytes": r"\omega_x",
        "optimizer_state": "O",
        "common_state": r"\Omega",
        "layer_weights": r"G_\ell",
        "gathered": "G",
        "head": r"\eta",
        "keys": r"\kappa",
        "latent": r"y_\text{MLA}",
        "projected": r"y_a",
        "compressed": r"y_r",
        "visited": r"f_v",
        "inner": r"y_f",
        "copies": r"y_c",
        "uncut": r"y",
        "masks": r"\beta",
        "side": r"\tau",
        "layer": r"A_\ell",
        "per_score": r"S_b",
        "softmax": r"S_0",
        "statistics": r"S_1",
        "scores": r"S_2",
        "full": r"A_1",
        "dropped": r"S_3",
        "boundary": r"A_0",
        "kept": "A",
        "again": "R",
        "tokens": r"\theta",
        "chunks": "u",
        "warm": r"n_1",
        "peak_microbatches": r"m_0",
        "least": r"m_p",
        "end": r"n_p",
        "stages": r"\pi",
        "replicas": r"\rho",
        "end_stage": r"N_p",
        "ends": r"N_1",
        "held": r"m_1",
        "stage_kept": r"A_s",
        "peak": r"P",
    },
    examples=(
        {
            "model": "llama-3-70b",
            "chip": "h100-sxm",
            "seq": "8192",
            "zero": "3",
            "dp": "64",
            "tp": "8",
            "sequence-parallel": "yes",
            "attention": "flash",
            "dropout": "no",
        },
        {
            "model": "megatron-530b",
            "seq": "2048",
            "tp": "8",
            "pp": "35",
            "schedule": "interleaved",
            "virtual": "3",
            "recompute": "none",
            "grad-bytes": "4",
        },
    ),
    rules=(
        kv_heads_are_shared,
        *TENSOR_RULES,
        visited_experts_exist,
        dense_layers_exist,
        stages_have_layers,
        feed_forward_has_a_width,
        latent_attention_has_widths,
        ep_divides_experts,
        ep_divides_the_replicas,
        cp_divides_the_sequence,
        *(shape.renamed(stages="pp") for shape in SHAPES),
        gpipe_has_an_end,
        parameters_hold_the_shape,
    ),
)
def memory(
    params: Params,
    layers: Layers,
    d_model: DModel,
    vocab: Vocab,
    seq: Seq,
    weights: Step,
    gradients: Step,
    optimizer_state: Step,
    stage_extra: Step,
    gathered: Step,
    kept: Step,
    again: Step,
    side: Step,
    chunks: Step,
    peak_microbatches: Step,
    micro_batch: MicroBatch = 1.0,
    microbatches: MicroBatches = inf,
    tp: Tp = 1.0,
    pp: Pp = 1.0,
    cp: Cp = 1.0,
    schedule: Schedule = "1f1b",
    virtual: Virtual = 1.0,
    activation_bytes: ActivationBytes = 2.0,
    memory: Memory = inf,
) -> dict[str, Any]:
    """Memory of each device in training: states of the model, activations, and what lives a moment.

    Derivation:
        Tensor and pipeline parallelism divide all parameters, expert parallelism those of the
        experts. What is left is held once on each of the d x c devices that differ in data or
        context, unless ZeRO divides it among them: stage 1 the optimizer, stage 2 the gradients
        too, stage 3 the weights too. Experts are divided among d x c / e. Adam keeps two moments,
        and a master copy in fp32 where weights are narrower: 12 bytes, with weights and gradients
        16; adam-bf16 keeps moments in 16 bits, adam-8bit in 8, adam-pure in the width of the
        weights with no master copy. Muon keeps one momentum for matrices and Adam for embeddings,
        Adafactor a row and a column.

        A layer keeps for its backward pass, for each token and in values: the inputs of norms,
        attention and feed-forward, which stay whole on all t devices unless sequence parallelism
        cuts them; queries, keys, values and the input of the output matrix; the inner feed-forward
        values (two of a plain block, three of a gated one); one byte for each entry of a dropout
        mask. Attention scores take, for each head and pair of tokens, a value after softmax, and
        with dropout a mask and a value more: 5 bytes. Neither flash attention nor selective
        recomputation keeps them. Full recomputation keeps only the input of the layer. For the GPT
        shape this is sbh(10 + 24/t + 5as/(ht)) bytes, and sbh(34 + 5as/h)/t with sequence
        parallelism.

        The first stage holds as many micro-batches as stages (1F1B), a share (p - 1)/(p v) more
        when interleaved, all of them in GPipe; the last stage holds one, but has the logits in
        fp32. Where weights wait for their gradient every stage holds equally many: p in ZB-H1 and
        ZB-V, 2p - 1 in ZB-H2, p + 1 in DualPipe, p + 1/2 in DualPipe-V. ZB-V and DualPipe-V run the
        model down the devices and up again, DualPipe runs it from both ends at once: there the
        first device has both ends of the model, with embedding, head and logits. DualPipe keeps two
        copies of the model, with gradients and optimizer.

    Leaves out:
        What framework and allocator keep for themselves: 1 to 2 GB, and some percent for fragments.
        Uneven stages, with up to one layer more. Masks and indices at the embedding: below 0.5
        percent of the activations. Uneven routing: experts are taken to be loaded alike. Buffers of
        communication other than the one layer that ZeRO-3 gathers. Vectors are counted as if tensor
        parallelism divided them: below 0.1 percent. Activations are held from the forward pass to
        the pass for the weights; what the pass for the inputs frees of them is not taken off. A
        ZeRO that divides over both copies of DualPipe halves what it divides.
    """
    tokens = micro_batch * seq / cp
    end = where(chunks > 1, ((chunks - 1) * pp + 1) / chunks, 1)
    least = minimum(end, microbatches)
    # The last stage of 1F1B goes backward at once and holds one micro-batch, more when interleaved.
    held = {"1f1b": least, "interleaved": least}.get(schedule, peak_microbatches)
    stage_kept = tokens * layers / pp * kept
    activations = peak_microbatches * stage_kept
    logits = tokens * (vocab * FP32_VALUE / tp + 2 * d_model * activation_bytes / side)
    working = gathered + tokens * again
    # One stage is first and last; else the fuller of both ends counts.
    peak = where(pp > 1, maximum(activations, held * stage_kept + logits), activations + logits)
    total = weights + gradients + optimizer_state + stage_extra + working + peak
    return {
        "total": total,
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer_state,
        "stage_extra": stage_extra,
        "activations": activations,
        "logits": logits,
        "working": working,
        "inflight": peak_microbatches,
        "free": memory - total,
    }
