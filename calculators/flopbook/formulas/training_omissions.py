"""What the memory of training leaves out, with its size."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.layer_activations import MASK
from flopbook.formulas.omissions import omission
from flopbook.formulas.optimizer_states import FP32
from flopbook.quantities.ops import ceil, inf, maximum, minimum, where

EIGHT_BIT_MOMENTS = Constant(2.0, "byte/param", "two moments in 8 bits")
BLOCKS_OF_A_LAYER = Constant(2.0, "1", "attention and feed-forward block, each with its mask")


@omission(
    "--layers {layers} is no multiple of --pp {pp}: the fuller stages hold one more ({size})",
    of="total",
)
def uneven_stages(layers: float, pp: float, logits: float, context: float, total: float) -> float:
    """A whole layer more on the fuller stages: all but logits and context grows with the layers."""
    more = ceil(layers / pp) * pp / layers - 1
    return more * (total - logits - context) / total


@omission(
    "gradients are added up in their own format; with fp32 accumulation, as Megatron has for bf16, "
    "--grad-bytes 4 ({size})",
    of="total",
)
def gradients_in_fp32(grad_bytes: float, gradients: float, zero: float, total: float) -> float:
    """Megatron and DeepSpeed add up bf16 gradients in fp32; FSDP reduces them in fp32 already."""
    wider = maximum(FP32 / grad_bytes - 1, 0)
    return where(zero >= 3, 0, wider * gradients / total)


@omission(
    "adam-8bit keeps master weights in fp32 beside its moments: with weights in bf16 alone, as "
    "bitsandbytes and torchtune update them, --optimizer-kind adam-pure --optimizer-bytes 1 "
    "({size})",
    of="total",
)
def master_beside_8_bits(
    optimizer_kind: str,
    bytes_per_param: float,
    optimizer: float,
    step: float,
    reserve: float,
    total: float,
) -> float:
    """The copy in fp32, and what the step casts for it."""
    is_narrow = where(bytes_per_param < FP32, 1, 0)
    is_quantised = {"adam-8bit": 1}.get(optimizer_kind, 0)
    saved = FP32 / (FP32 + EIGHT_BIT_MOMENTS) * optimizer + step
    return -is_narrow * is_quantised * (1 + reserve) * saved / total


@omission(
    "weights are updated as copies in fp32, with moments in fp32: in bf16 alone, as the recipes of "
    "torchtune update them, --optimizer-kind adam-pure ({size})",
    of="total",
)
def master_of_tuned_weights(
    optimizer_kind: str,
    bytes_per_param: float,
    optimizer_bytes: float,
    optimizer: float,
    step: float,
    reserve: float,
    total: float,
) -> float:
    """The copy in fp32, what the step casts for it, and the wider halves of both moments."""
    is_narrow = where(bytes_per_param < FP32, 1, 0)
    is_adam = {"adam": 1}.get(optimizer_kind, 0)
    left = 2 * minimum(optimizer_bytes, bytes_per_param) / (FP32 + 2 * optimizer_bytes)
    return -is_narrow * is_adam * (1 + reserve) * ((1 - left) * optimizer + step) / total


@omission(
    "norms and the inputs of layers are whole on each rank of --tp {tp}: cut with sequence "
    "parallelism, as Megatron and torchtitan do, they take less, --sequence-parallel yes ({size})",
    of="total",
)
def rows_kept_whole(
    sequence_parallel: str,
    recompute: str,
    schedule: str,
    grad_accumulation: str,
    optimizer_kind: str,
    virtual: float,
    offload_activations: str,
    tp: float,
    pp: float,
    cp: float,
    dp: float,
    hsdp: float,
    zero: float,
    layers: float,
    ffn_layers: float,
    dense_layers: float,
    attention_layers: float,
    state_layers: float,
    norms_per_layer: float,
    ffn_kind: str,
    dropout: str,
    residual_streams: float,
    q_lora_rank: float,
    o_lora_rank: float,
    o_groups: float,
    kv_lora_rank: float,
    qk_rope_head_dim: float,
    experts_per_token: float,
    experts: float,
    expert_d_model: float,
    micro_batch: float,
    seq: float,
    d_model: float,
    bytes_per_param: float,
    activation_bytes: float,
    inflight: float,
    weights: float,
    optimizer: float,
    activations: float,
    logits: float,
    working: float,
    gathered: float,
    grad_bytes: float,
    reserve: float,
    step: float,
    total: float,
) -> float:
    """Rows as wide as the model: inputs of blocks and of their norms, latents, copies for experts.

    Where the optimizer step or the last stage, with the logits, becomes the peak, less is saved.
    """
    is_whole = {"no": 1}.get(sequence_parallel, 0)
    blocks = where(ffn_layers < inf, ffn_layers, layers)
    attending = where(attention_layers < inf, attention_layers, layers - state_layers)
    entries = (minimum(attending + state_layers, layers) + blocks) / layers
    sparse = where(experts > 1, blocks - dense_layers, 0)
    copied = where(expert_d_model < inf, expert_d_model, d_model)
    copies = 2 * experts_per_token * copied * sparse / layers
    cached = where(kv_lora_rank > 0, kv_lora_rank + qk_rope_head_dim, 0)
    latents = (q_lora_rank + o_lora_rank * o_groups + cached) * attending / layers
    # Models with plain blocks are trained with dropout, unless it is said.
    by_kind = 1 if ffn_kind == "plain" else 0
    masked = {"yes": 1, "no": 0}.get(dropout, by_kind)
    narrow_rows = (
        copies + latents
    ) / d_model + masked * BLOCKS_OF_A_LAYER * MASK / activation_bytes
    every_row = norms_per_layer + entries * residual_streams + narrow_rows
    # A layer that is computed again keeps its input alone, and has the others once more for a time.
    kept_again = {"full": 1, "selective-op": 1}.get(recompute, 0)
    rows = where(kept_again > 0, residual_streams, every_row)
    others = {"full": 0, "selective-op": residual_streams}.get(recompute, every_row)
    again = every_row - others
    row = d_model * activation_bytes * micro_batch * seq / cp * (1 - 1 / tp)
    stage_rows = rows * layers / pp
    # The last stage of 1F1B holds one micro-batch, more when interleaved, and two rows beside its
    # logits; where weights wait for their gradient, it holds as many as the first.
    chunked = ((virtual - 1) * pp + 1) / virtual
    ending = {"1f1b": 1, "interleaved": chunked}.get(schedule, inflight)
    # Of activations that wait on the host, two layers' stay behind.
    near = {"yes": 2 * pp / layers}.get(offload_activations, inflight)
    first = minimum(near, inflight)
    held = minimum(near, ending)
    last = activations * held / first + logits
    last_cut = last - row * (held * stage_rows + 2)
    peak = maximum(activations, last)
    peak_cut = maximum(activations - row * first * stage_rows, last_cut)
    saved = peak - peak_cut + row * again
    # ZeRO divides the step, and with it the gradients that are cast for it, before the weights.
    held_params = weights / bytes_per_param
    shards = where((zero >= 1) & (zero < 3), dp * cp / hsdp, 1)
    narrow = where((grad_bytes < FP32) & (bytes_per_param < FP32), FP32, 0)
    casts = 0 * narrow if optimizer_kind == "adam-pure" else narrow
    cast = where(optimizer > 0, casts, 0) * held_params / shards
    # Without buffers all gradients stand beside them, made while the activations go.
    unbuffered = grad_bytes if grad_accumulation == "none" else 0 * grad_bytes
    made = unbuffered * held_params / where(zero == 2, dp * cp / hsdp, 1)
    above = where(step > 0, 0, maximum(gathered + working + peak - cast - made, 0))
    return -is_whole * (1 + reserve) * minimum(saved, above) / total


@omission(
    "the pipelines of PyTorch keep the output of a stage for every micro-batch until the step "
    "ends ({size})",
    of="total",
)
def waiting_outputs(
    micro_batch: float,
    microbatches: float,
    seq: float,
    d_model: float,
    cp: float,
    pp: float,
    activation_bytes: float,
    total: float,
) -> float:
    """One output a micro-batch; while their number is open, as many as stages."""
    waiting = where(microbatches < inf, microbatches, pp)
    output = micro_batch * seq / cp * d_model * activation_bytes
    return where(pp > 1, waiting * output / total, 0)


@omission(
    "ZeRO divides over --dp alone: one that divides over both copies of DualPipe, too, keeps less "
    "({size})",
    of="total",
)
def copies_of_dualpipe(
    schedule: str, zero: float, weights: float, gradients: float, optimizer: float, total: float
) -> float:
    """Half of whatever the stage divides."""
    two = {"dualpipe": 1, "dualpipe-v": 1}.get(schedule, 0)
    divided = where(zero >= 1, optimizer, 0) + where(zero >= 2, gradients, 0)
    return -two * (divided + where(zero >= 3, weights, 0)) / 2 / total
