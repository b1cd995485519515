"""What the memory of training leaves out, with its size."""

from flopbook.formulas.omissions import omission
from flopbook.formulas.optimizer_states import FP32
from flopbook.quantities.ops import ceil, maximum, where


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
