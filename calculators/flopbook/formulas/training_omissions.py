"""What the memory of training leaves out, with its size."""

from flopbook.formulas.omissions import omission
from flopbook.formulas.optimizer_states import FP32
from flopbook.quantities.ops import ceil, inf, maximum, where


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
