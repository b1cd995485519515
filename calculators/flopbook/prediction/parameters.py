"""The parameters of the step time: what each means, where it starts, and how far it may move.

Every parameter is positive and has a physical meaning. Its prior is a guess from how the hardware
works, with the standard deviation of its logarithm; the fit moves it only as far as the measured
runs insist. Fitted values make up for each other's errors: read the parts of a prediction, not
these, as physics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flopbook.prediction.stacks import STACKS


class Prior(NamedTuple):
    """Where a parameter starts, the standard deviation of its logarithm, and what it means."""

    start: float
    spread: float
    meaning: str


GENERATION_STARTS = {
    "volta": 0.55,
    "ampere": 0.72,
    "hopper": 0.70,
    "blackwell": 0.70,
    "cdna": 0.50,
    "tpu": 0.80,
    "neuron": 0.50,
    "gaudi": 0.60,
    "other": 0.60,
}
ATTENTION_STARTS = {
    "ampere": 0.50,
    "hopper": 0.55,
    "hopper-flash2": 0.35,
    "blackwell": 0.55,
    "tpu": 0.40,
    "other": 0.40,
}
# Share of the 16-bit peak that large matrix products reach on chips in general.
MATRIX_START = 0.70
_MATRIX = "what large matrix products reach on {} over all chips"
_ATTENTION = "share of the 16-bit peak that fused attention reaches on {}"
_STACK = "speed of matrix products under {} over that of all stacks"

PRIORS: Mapping[str, Prior] = {
    "matrix": Prior(MATRIX_START, 0.15, "share of the 16-bit peak that large products reach"),
    **{
        f"matrix_{name}": Prior(start / MATRIX_START, 0.1, _MATRIX.format(name))
        for name, start in GENERATION_STARTS.items()
    },
    **{
        f"attention_{name}": Prior(start, 0.3, _ATTENTION.format(name))
        for name, start in ATTENTION_STARTS.items()
    },
    "attention_first": Prior(0.6, 0.25, "speed of the first fused attention over the second"),
    "half_head": Prior(30, 0.5, "head dimension at which fused attention reaches half"),
    **{f"stack_{name}": Prior(1.0, 0.12, _STACK.format(name)) for name in STACKS},
    "fp8": Prior(0.80, 0.15, "share of the 8-bit gain that tuned FP8 recipes keep"),
    "framework_fp8": Prior(0.60, 0.2, "the same for float8 linear layers of a framework"),
    # A commit of torchtitan (7a04053) times both: 6,412 and 7,186 tokens/s where bf16 has 5,760.
    "row_scales": Prior(0.85, 0.1, "speed of float8 products with a scale for each row over one"),
    "fp4": Prior(0.60, 0.2, "share of the 4-bit gain that recipes keep"),
    "half_tokens": Prior(
        200, 0.5, "tokens of a micro-batch at which products reach half, at RIDGE"
    ),
    "half_width": Prior(200, 0.5, "width of a shard at which products reach half, at RIDGE"),
    "half_expert_tokens": Prior(100, 0.7, "tokens of an expert at which products reach half"),
    "misaligned": Prior(1.25, 0.3, "cost of widths that are no multiple of 64"),
    "values_moved": Prior(30, 0.3, "values read and written for each token and width of a layer"),
    "values_cast": Prior(4, 0.7, "values more that casting to 8 or 4 bits moves"),
    "unfused": Prior(1.5, 0.3, "memory traffic of unfused over fused elementwise kernels"),
    "scores_moved": Prior(3, 0.7, "passes over unfused attention scores through memory"),
    "launch_early": Prior(2.0e-3, 0.5, "seconds a layer and micro-batch until 2022"),
    "launch": Prior(2.5e-4, 0.6, "seconds of launches a layer and micro-batch since mid-2022"),
    "link_share": Prior(0.75, 0.1, "share of the printed link rate that collectives reach"),
    "tp_exposed": Prior(0.75, 0.3, "share of tensor-parallel traffic that nothing hides"),
    "tp_overlapped": Prior(0.5, 0.3, "the same where products and sums overlap"),
    "tp_beyond": Prior(0.5, 0.3, "share of all cards of a node that its tensor ranks reach"),
    "card_share": Prior(0.85, 0.15, "share of the card rate that sharded gathers reach"),
    "torus_sums": Prior(0.35, 0.5, "share of tensor-parallel sums that a torus does not hide"),
    "torus_gathers": Prior(0.35, 0.5, "share of gathers that a torus does not hide"),
    "gather_exposed": Prior(0.35, 0.5, "share of a gather that overlap does not hide"),
    "gradient_exposed": Prior(0.5, 0.5, "share of the gradient sum that overlap does not hide"),
    "ring_step": Prior(3e-5, 0.5, "seconds of a step of a ring of context parallelism"),
    # A step of a ring takes NCCL 3.4 us over links and 14 over the network (src/graph/tuning.cc),
    # where one step in eight goes; a layer of GPT has twelve tensors.
    "hop": Prior(4.7e-6, 0.5, "seconds a rank and ring collective"),
    "hop_early": Prior(12.0, 0.4, "collectives of sharded training until 2022, a tensor each"),
    "bubble": Prior(1.0, 0.15, "idle time of a pipeline over the ideal bubble"),
    "last_stage": Prior(0.8, 0.2, "delay of a pipeline by the head over its own time"),
    "straggling": Prior(0.02, 0.7, "slowdown at 1,000 chips"),
    "straggling_power": Prior(0.5, 0.3, "power with which the slowdown grows with chips"),
    "slices": Prior(0.05, 0.7, "slowdown of several TPU slices"),
    "expert_cost": Prior(1.15, 0.3, "time of expert products over plain ones of their shape"),
    "imbalance": Prior(0.3, 0.5, "work of a rank with one expert beyond the mean, the busiest"),
    "expert_launch": Prior(6e-4, 0.6, "seconds of routing a layer and micro-batch"),
    "expert_kernels": Prior(3e-4, 0.6, "seconds of launches for each expert that a rank holds"),
    "expert_exposed": Prior(0.5, 0.5, "share of the all-to-all that nothing hides"),
    "context_unbalanced": Prior(1.0, 0.3, "causal work of the last rank beyond the mean"),
    "power_capped": Prior(0.85, 0.1, "speed of boards held to 500 W"),
}
