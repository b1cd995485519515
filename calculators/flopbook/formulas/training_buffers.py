"""What framework and runtime hold beside states and activations: gathered layers, NCCL, CUDA."""

from typing import Any

from flopbook.formulas.declaration import Constant, Step, part
from flopbook.formulas.optimizer_states import FP32
from flopbook.formulas.parameters import Layers
from flopbook.formulas.training_memory_inputs import (
    BytesPerParam,
    Cp,
    Dp,
    Ep,
    GradBytes,
    GroupBytes,
    Pp,
    Prefetch,
    Reshard,
    Tp,
    Zero,
)
from flopbook.quantities.ops import maximum, minimum, where

# For one tensor of one number nvidia-smi shows 1,271 MiB (bigscienceworkshop2024chronicles).
CUDA_CONTEXT = Constant(1271 * 2**20, "byte", "CUDA context and kernels of a process")
# Each channel has a buffer for each of three protocols: LL 0.5 MiB, LL128 4.7 MiB, Simple 4 MiB
# (nvidia2026nccl, src/init.cc). NCCL chooses from 1 to 64 channels; 16 are taken here.
NCCL_GROUP = Constant(16 * (2**19 + 4915200 + 2**22), "byte", "buffers of a process group of NCCL")
# Fitted to the runs of torchtitan and nanotron, which count what PyTorch reserves.
RESERVED = Constant(0.05, "1", "share that an allocator reserves beyond its tensors")


@part
def training_buffers(
    layers: Layers,
    layer_params: Step,
    outer_params: Step,
    shard: Step,
    is_whole: Step,
    fetches: Step,
    streams: Step,
    bytes_per_param: BytesPerParam = 2.0,
    grad_bytes: GradBytes = 2.0,
    zero: Zero = 0.0,
    dp: Dp = 1.0,
    tp: Tp = 1.0,
    pp: Pp = 1.0,
    cp: Cp = 1.0,
    ep: Ep = 1.0,
    prefetch: Prefetch = 2.0,
    reshard: Reshard = "auto",
    group_bytes: GroupBytes = NCCL_GROUP,
) -> dict[str, Any]:
    """Weights and gradients that FSDP holds whole for a while, and buffers of communication."""
    # FSDP that does not reshard keeps what one micro-batch gathered for the next.
    keeps = {"yes": 0, "no": 1}.get(reshard, where(pp > 1, 1, 0))
    layers_held = where(keeps > 0, layers / pp, minimum(prefetch, layers / pp))
    weights_held = bytes_per_param * (layers_held * layer_params + outer_params)
    # A layer's gradient is whole until it is reduced, in fp32.
    gradients_held = where(is_whole > 0, 0, grad_bytes + FP32) * layer_params
    divides = where(zero >= 3, where(shard > 1, 1, 0), 0)
    # Weights on the host are fetched layer by layer, and gradients leave as they are made.
    fetched = maximum(divides, fetches)
    streamed = maximum(divides, streams)
    groups = (
        where(dp * cp > 1, 1, 0)
        + where(tp > 1, 1, 0)
        + where(pp > 1, 1, 0)
        + where(cp > 1, 1, 0)
        + where(ep > 1, 1, 0)
    )
    return {
        "gathered_weights": fetched * weights_held,
        "gathered_gradients": streamed * gradients_held,
        "communication": groups * group_bytes,
    }
