"""What the words for the software of a run say of it, beside which stack it was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Words for software that cuts a product in pieces, so that its tensor-parallel sum hides behind it.
OVERLAPPING = ("async", "tp-comm-overlap")
# How torchtune's table of savings names what a row has, and the rows before recomputation.
SAVINGS = "cumulatively up to: "
BEFORE_RECOMPUTATION = ("baseline", "packed", "compile", "chunked-ce")
# How it names a row whose activations wait on the host, and those with all savings up to that.
OFFLOADED_ACTIVATIONS = ("activation-offload", "adamw-8bit", "ac/offload")
# Megatron-LM as it comes, and Primus with it, hides no gradient sum unless it is told to: the
# `overlap_grad_reduce` of both is false by default.
PLAIN_MEGATRON, OVERLAPPED_GRADIENTS = "megatron-lm", "overlap-grad-reduce"
# The benchmarks of Megatron-Bridge (docs/performance-summary.md and its archive): "In MoE training
# benchmarks, we force-balance the token distribution among experts". Their recipes sum gradients in
# 16 bits (`grad_reduce_in_fp32 = False` in scripts/performance of v0.2.1 to v0.5.0).
BRIDGE_REPORT = "performance-summary"
# Formats of 8 bits in the words of a run.
EIGHT_BITS = ("fp8", "float8", "int8")
# InternEvo and InternLM before it: ZeRO 1 gives whole tensors to the ranks of a group (`zero1=8` in
# a row; -1 are all), each of which broadcasts its own, and gradients are summed in the format of
# the weights (hybrid_zero_optim.py and reduce_tensor of utils.py, commits 01e7fd6 and c628a8c).
OWNERS = "internevo"
_STATES_SHARED_BY = re.compile(r"zero1=(\d+)")
_CONTAINER = re.compile(r"\b(2\d)\.(\d\d)\b")


def habits(software: str, precision: str, words: str) -> dict[str, Any]:
    """What the words for the software, the formats and the source say of kernels and sums."""
    return {
        "is_framework_fp8": "float8" in precision,
        "has_row_scales": "rowwise" in precision,
        "is_async_tp": overlaps_sums(software),
        "gradient_bytes": gradient_bytes(precision, f"{software} {words}"),
        "overlaps_gradients": overlaps_gradients(software),
        "is_balanced": is_bridge_benchmark(words),
        "has_owners": OWNERS in software.lower(),
    }


def groups_of_states(software: str, replicas: float) -> float:
    """Groups of replicas that each hold all states, where a row says how many share them."""
    shared = _STATES_SHARED_BY.search(software)
    return max(replicas // int(shared[1]), 1) if shared else 1


def overlaps_sums(software: str) -> bool:
    """Whether the words for the software name tensor-parallel sums that hide behind products."""
    return any(word in software.lower() for word in OVERLAPPING)


def overlaps_gradients(software: str) -> bool:
    """Whether gradients are summed behind the backward pass, by the words for the software."""
    words = software.lower()
    return PLAIN_MEGATRON not in words or OVERLAPPED_GRADIENTS in words


def gradient_bytes(precision: str, words: str = "") -> float:
    """Bytes in which a gradient is summed: 32 bits beside weights in bf16, 16 in fp16.

    Megatron-LM, DeepSpeed and nanotron add up in fp32 with bf16, which has few digits; fp16 keeps
    its own format and scales the loss (Megatron-LM sets `accumulate_allreduce_grads_in_fp32`).
    """
    is_kept = is_bridge_benchmark(words) or OWNERS in words.lower()
    is_narrow = is_kept or precision.lower().startswith("fp16")
    return 2.0 if is_narrow else 4.0


def is_compiled(software: str) -> bool:
    """Whether the words for the software name a compiler, and not to deny it."""
    return "compile" in software.lower().replace("no torch.compile", "eager")


def is_bridge_benchmark(words: str) -> bool:
    """Whether the words for a source name the report of Megatron-Bridge's benchmarks."""
    return BRIDGE_REPORT in words.lower()


def version_year(software: str, year: int) -> float:
    """The year of a container where the software names one, such as 25.11; else the source's."""
    container = _CONTAINER.search(software)
    if container is None:
        return float(year)
    return 2000 + int(container[1]) + int(container[2]) / 12


def keeps_activations(task: str) -> bool:
    """Whether a row of torchtune's table has only the savings before recomputation."""
    _, is_cumulative, last = task.lower().partition(SAVINGS)
    return bool(is_cumulative) and last.strip() in BEFORE_RECOMPUTATION


def offloaded_states(said: Mapping[str, Any]) -> str:
    """What of the states of a run lies in the memory of the host, by the words for its task."""
    return "parameters" if "cpu offload" in _task(said) else "no"


def offloaded_activations(said: Mapping[str, Any]) -> str:
    """Whether activations lie there: yes or no."""
    return "yes" if any(word in _task(said) for word in OFFLOADED_ACTIVATIONS) else "no"


def _task(said: Mapping[str, Any]) -> str:
    return str(said.get("task", "")).lower()


def precision_named(words: str) -> str:
    """bf16, fp8 or fp4, as the words of a run name it; int8 is the other format of 8 bits."""
    lowered = words.lower()
    if "fp4" in lowered:
        return "fp4"
    return "fp8" if any(name in lowered for name in EIGHT_BITS) else "bf16"
