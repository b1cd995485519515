"""What the expected times of inference leave out: kernels of other layers, and slower messages."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.network_omissions import (
    BUS_SHARE,
    GEN4_LEAST,
    GEN4_MOST,
    GEN5_LEAST,
    GEN5_MOST,
    MEASURED_SHARE,
)
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import minimum, where

# As vLLM writes them, operation by operation (vllm/model_executor/models/deepseek_v2.py).
OF_A_LAYER = Constant(
    10.0,
    "1",
    "two norms, QKV, rotary embedding, writing of the cache, attention, output, gate and up, "
    "activation, down",
)
FOR_EXPERTS = Constant(4.0, "1", "router, top-k, sorting of tokens by expert, sum over experts")
FOR_LATENTS = Constant(
    5.0,
    "1",
    "second product of queries, norms of both latents, keys and values absorbed into products",
)


@omission(
    "the overhead of a layer is that of dense ones: routing, sorting and summing for experts, and "
    "latent attention, launch more kernels; published steps of mixtures on B200 took 1.1 to 2.3 "
    "times as long ({size})",
    of="likely_seconds",
)
def kernels_beside_dense_ones(
    layers: float,
    expert_layers: float,
    layer_overhead: float,
    experts: float,
    kv_lora_rank: float,
    likely_seconds: float,
) -> float:
    """More kernels at the time of each of a dense layer."""
    for_experts = where(experts > 1, FOR_EXPERTS * minimum(expert_layers, layers), 0)
    more = for_experts + where(kv_lora_rank > 0, FOR_LATENTS * layers, 0)
    return layer_overhead * more / OF_A_LAYER / likely_seconds


@omission(
    "messages count at the printed rate of the links: sums reach 83 % of it on NVLink and ICI, and "
    "44 % on PCIe ({size})",
    of="likely_seconds",
)
def messages_below_the_rate(
    link_bandwidth: float, message_seconds: float, likely_seconds: float
) -> float:
    """Longer by what the middle of all kinds of links loses, or a bus."""
    is_gen4 = (link_bandwidth > GEN4_LEAST) & (link_bandwidth < GEN4_MOST)
    is_gen5 = (link_bandwidth > GEN5_LEAST) & (link_bandwidth < GEN5_MOST)
    reached = where(is_gen4 | is_gen5, BUS_SHARE, MEASURED_SHARE)
    return message_seconds * (1 / reached - 1) / likely_seconds
