"""What training a transformer keeps in the memory of each device."""

from typing import Any

from flopbook.formulas.declaration import Output, Step, formula
from flopbook.formulas.layer_activations import layer_activations
from flopbook.formulas.layer_inputs import SEEN_RULES
from flopbook.formulas.layer_kinds import layer_counts, seen_tokens
from flopbook.formulas.model_states import model_states, states_here
from flopbook.formulas.optimizer_states import optimizer_states
from flopbook.formulas.parameters import (
    DModel,
    Layers,
    Vocab,
)
from flopbook.formulas.pipeline import in_flight
from flopbook.formulas.training_buffers import CUDA_CONTEXT, RESERVED, training_buffers
from flopbook.formulas.training_layouts import LAYOUT_RULES, counted_layers_are_recomputed
from flopbook.formulas.training_memory_inputs import (
    ActivationBytes,
    ContextBytes,
    Cp,
    LogitBytes,
    LossChunks,
    Memory,
    MicroBatch,
    MicroBatches,
    OffloadActivations,
    Params,
    Pp,
    ReserveShare,
    Schedule,
    Seq,
    Tp,
    Virtual,
    VocabParallel,
)
from flopbook.formulas.training_memory_symbols import MEMORY_SYMBOLS
from flopbook.formulas.training_omissions import (
    copies_of_dualpipe,
    gradients_in_fp32,
    master_beside_8_bits,
    rows_kept_whole,
    uneven_stages,
    waiting_outputs,
)
from flopbook.quantities.ops import inf, maximum, minimum, where


@formula(
    "memory",
    title="Training memory",
    question="How much memory does training take on each device, and for what?",
    outputs={
        "total": Output(
            "byte", r"T", "total memory, on the fuller of the first and the last pipeline stage"
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
        "gathered": Output(
            "byte", r"T_z", "weights and gradients that ZeRO-3 (FSDP) holds whole for a while"
        ),
        "working": Output("byte", r"T_r", "activations of the layer that is recomputed"),
        "step": Output("byte", r"T_s", "what the optimizer step needs beyond the passes before it"),
        "communication": Output("byte", r"T_c", "buffers of NCCL"),
        "reserved": Output("byte", r"T_v", "what the allocator reserves beyond the tensors"),
        "context": Output("byte", r"T_k", "CUDA context and kernels"),
        "inflight": Output(
            "1", r"i", "micro-batches whose activations the first stage holds at once"
        ),
        "free": Output("byte", r"T_f", "memory left free", needs=("memory",)),
    },
    sources=(
        "korthikanti2023reducing",
        "rajbhandari2020zero",
        "ren2021zero",
        "rajbhandari2021zero",
        "narayanan2021efficient",
        "qi2024zero",
        "qi2024pipeline",
        "deepseek2025dualpipe",
        "shazeer2018adafactor",
        "nvidia2026muon",
        "nvidia2026nccl",
        "bigscienceworkshop2024chronicles",
        "pytorch2024titanh100",
    ),
    parts=(
        optimizer_states,
        model_states,
        states_here,
        training_buffers,
        layer_counts,
        seen_tokens,
        layer_activations,
        in_flight,
    ),
    symbols=MEMORY_SYMBOLS,
    asks=("model", "chip", "chips", "zero", "seq"),
    divides=("dp", "tp", "pp", "cp"),
    examples=(
        {
            "model": "llama-3-70b",
            "chip": "h100-sxm",
            "chips": "64",
            "zero": "3",
            "seq": "8192",
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
    rules=(*LAYOUT_RULES, *SEEN_RULES, counted_layers_are_recomputed),
    omissions=(
        uneven_stages,
        gradients_in_fp32,
        master_beside_8_bits,
        rows_kept_whole,
        waiting_outputs,
        copies_of_dualpipe,
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
    gathered_weights: Step,
    gathered_gradients: Step,
    communication: Step,
    made: Step,
    cast_gradients: Step,
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
    logit_bytes: LogitBytes = 12.0,
    loss_chunks: LossChunks = 1.0,
    vocab_parallel: VocabParallel = "yes",
    offload_activations: OffloadActivations = "no",
    context_bytes: ContextBytes = CUDA_CONTEXT,
    reserve: ReserveShare = RESERVED,
    memory: Memory = inf,
) -> dict[str, Any]:
    """Memory of each device in training: states of the model, activations, and buffers.

    Derivation:
        Tensor and pipeline parallelism divide all parameters, expert parallelism those of the
        experts. What is left is held once on each of the d x c devices that differ in data or
        context, unless ZeRO divides it among them: stage 1 the optimizer, stage 2 the gradients
        too, stage 3 (FSDP) the weights too. Groups of replicas may each hold everything and divide
        it among their own devices only (HSDP), d x c / r. Experts are divided among d x c / e of
        them. Adam keeps two moments, and a master copy in fp32 where weights are narrower: 12
        bytes, with weights and gradients 16; adam-bf16 keeps moments in 16 bits, adam-8bit in 8,
        adam-pure in the width of the weights with no master copy. Muon keeps one momentum for
        matrices and Adam for embeddings, Adafactor a row and a column. For its step, mixed
        precision casts gradients narrower than the master weights to fp32: 4 bytes for each
        parameter that a device updates, when the activations are gone.

        FSDP holds the weights of the layers that it gathers ahead of time, usually two, and of the
        embedding and the head, which belong to no layer; and a layer's gradient until it is
        reduced, once as computed and once in fp32. With pipeline stages it keeps what it gathered
        for the next micro-batch, and adds up whole gradients in fp32 until the last one. Stage 2
        adds up whole gradients there too, in their own width: it divides them where it sums those
        of each micro-batch.

        A layer keeps for its backward pass, for each token and in values: the inputs of norms,
        attention and feed-forward, which stay whole on all t devices unless sequence parallelism
        cuts them; queries, keys, values and the input of the output matrix; the inner feed-forward
        values (two of a plain block, three of a gated one, four without fused kernels); one byte
        for each entry of a dropout mask. Attention scores take, for each head and pair of tokens, a
        value after softmax, and with dropout a mask and a value more: 5 bytes. Neither flash
        attention nor selective recomputation keeps them. Selective recomputation by operation keeps
        the results of attention and of every second matrix product; full recomputation keeps only
        the input of the layer, of all layers or of some in each stage. Scores are as many as a
        layer sees: a window, a chunk, what an indexer selects. A recurrent mixer keeps a value for
        each row of its matrices. For the GPT shape this is sbh(10 + 24/t + 5as/(ht)) bytes, and
        sbh(34 + 5as/h)/t with sequence parallelism.

        The first stage holds as many micro-batches as stages (1F1B), a share (p - 1)/(p v) more
        when interleaved, all of them in GPipe; the last stage holds one, but has the logits, for
        which the loss holds several copies. Where weights wait for their gradient every stage holds
        equally many: p in ZB-H1 and ZB-V, 2p - 1 in ZB-H2, p + 1 in DualPipe, p + 1/2 in
        DualPipe-V. ZB-V and DualPipe-V run the model down the devices and up again, DualPipe runs
        it from both ends at once: there the first device has both ends of the model, with
        embedding, head and logits. DualPipe keeps two copies of all states of the model.

        Offloading moves the state of the optimizer to the host, then gradients too, then weights,
        which are fetched as FSDP gathers them; of activations two layers' stay behind.

        The allocator of PyTorch reserves some percent more than its tensors take. NCCL has buffers
        for each group of devices, and the driver a context with the code of the kernels. What a
        framework reports is the tensors, with --reserve 0 --group-bytes 0 --context 0, or what is
        reserved, with the last two at 0; nvidia-smi shows all of it.

    Leaves out:
        - Uneven stages: some have one layer more. [uneven_stages]
        - Gradients that are added up in fp32. [gradients_in_fp32]
        - Moments in 8 bits without master weights. [master_beside_8_bits]
        - Sequence parallelism, where it is not asked for. [rows_kept_whole]
        - Masks and indices at the embedding. [no size: below 0.5 percent of the activations]
        - Uneven routing: experts are taken to be loaded alike. [no size: even draws
          differ by 5 percent at 4,096 tokens, and what a router adds differs by batch]
        - Vectors, as if tensor parallelism divided them. [no size: below 0.1 percent]
        - What the pass for the inputs frees of the activations that wait for the pass for the
          weights. [no size: it depends on the order of the passes]
        - A ZeRO that divides over both copies of DualPipe, which halves what it divides.
          [copies_of_dualpipe]
        - Outputs of pipeline stages that wait until the end of the step, some 10 GB with 8 stages
          of Llama 3.1 405B. [waiting_outputs]
    """
    tokens = micro_batch * seq / cp
    end = where(chunks > 1, ((chunks - 1) * pp + 1) / chunks, 1)
    least = minimum(end, microbatches)
    # The last stage of 1F1B goes backward at once and holds one micro-batch, more when interleaved.
    held = {"1f1b": least, "interleaved": least}.get(schedule, peak_microbatches)
    near = inf if offload_activations == "no" else 2 * pp / layers
    present = minimum(near, peak_microbatches)
    stage_kept = tokens * layers / pp * kept
    least_kept = minimum(held, present) * stage_kept
    activations = present * stage_kept
    vocab_part = vocab / tp if vocab_parallel == "yes" else vocab
    # Chunks of the loss hold the copies of one chunk beside the logits themselves.
    logit = minimum(logit_bytes, activation_bytes + logit_bytes / loss_chunks)
    logits = tokens * (vocab_part * logit + 2 * d_model * activation_bytes / side)
    working = tokens * again
    # One stage is first and last; else the fuller of both ends counts.
    peak = where(pp > 1, maximum(activations, least_kept + logits), activations + logits)
    states = weights + gradients + optimizer_state + stage_extra
    passing = gathered_weights + gathered_gradients + working + peak
    # The step comes after the passes: it counts as far as it needs more than they did.
    beyond = maximum(made + cast_gradients - passing, 0 * passing)
    tensors = states + passing + beyond
    reserved = reserve * tensors
    total = tensors + reserved + communication + context_bytes
    return {
        "total": total,
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer_state,
        "stage_extra": stage_extra,
        "activations": activations,
        "logits": logits,
        "gathered": gathered_weights + gathered_gradients,
        "working": working,
        "step": beyond,
        "communication": communication,
        "reserved": reserved,
        "context": context_bytes,
        "inflight": peak_microbatches,
        "free": memory - total,
    }
