"""What the memory of training leaves out, with its size."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.omissions import omission
from flopbook.formulas.optimizer_states import FP32
from flopbook.quantities.ops import ceil, inf, maximum, minimum, where

BLOCKS_OF_A_LAYER = Constant(2.0, "1", "attention and feed-forward block, each with its input")


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
    "norms and the inputs of layers are whole on each rank of --tp {tp}: cut with sequence "
    "parallelism, as Megatron and torchtitan do, they take less, --sequence-parallel yes ({size})",
    of="total",
)
def rows_kept_whole(
    sequence_parallel: str,
    recompute: str,
    tp: float,
    pp: float,
    cp: float,
    layers: float,
    norms_per_layer: float,
    experts_per_token: float,
    experts: float,
    micro_batch: float,
    seq: float,
    d_model: float,
    activation_bytes: float,
    inflight: float,
    activations: float,
    logits: float,
    gradients: float,
    grad_bytes: float,
    step: float,
    total: float,
) -> float:
    """Rows as wide as the model: inputs of both blocks and of their norms, copies for experts.

    Where the optimizer step or the last stage, with the logits, becomes the peak, less is saved.
    """
    is_whole = {"no": 1}.get(sequence_parallel, 0)
    copies = where(experts > 1, 2 * experts_per_token, 0)
    # A layer that is computed again keeps its input alone.
    rows = {"full": 1, "selective-op": 1}.get(
        recompute, norms_per_layer + BLOCKS_OF_A_LAYER + copies
    )
    tokens = micro_batch * seq / cp * inflight * layers / pp
    saved = rows * d_model * activation_bytes * tokens * (1 - 1 / tp)
    cast = where(grad_bytes < FP32, gradients * FP32 / grad_bytes, 0)
    next_peak = maximum(cast, where(pp > 1, logits, 0))
    above = where(step > 0, 0, maximum(activations - next_peak, 0))
    return -is_whole * minimum(saved, above) / total


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
