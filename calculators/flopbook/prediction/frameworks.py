"""What the code of each framework fixes about the memory of a training run.

A row names its layout; what its framework keeps, and which counter it prints, stands in the code of
the framework. Options are those of the formula `memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flopbook.data.runs import MeasuredRun
from flopbook.prediction.layouts import RunLayout

Options = dict[str, Any]
# What a counter of tensors, or of what the allocator reserves, leaves out of the formula.
TENSORS = {"reserve": 0.0, "group_bytes": 0.0, "context_bytes": 0.0}
RESERVED = {"group_bytes": 0.0, "context_bytes": 0.0}
GB, GIB = 1e9, float(2**30)
# Adapters train about a hundredth of the weights; bitsandbytes keeps 4.5 bits of a frozen one.
ADAPTED = {"optimizer_kind": "adam-pure", "optimizer_bytes": 0.02, "grad_bytes": 0.01}
QUANTISED_WEIGHT = 0.5625
# A compiled loss converts logits as it reads them: they and their gradient stay in bf16. torchtitan
# had this off from 2024-12-18 (commit e8977b0) to April 2025, and so in its tables of 2024-12.
COMPILED_LOSS = 4.0
# Weights, gradients and moments in the memory of the host: the device holds what it gathers.
OFFLOADED = {"bytes_per_param": 0.01, "grad_bytes": 0.01, "optimizer_bytes": 0.01}
# torchtune adds one saving at a time; each keeps those before it.
TORCHTUNE_STEPS: tuple[tuple[str, Options], ...] = (
    ("packed", {"fusion": "eager"}),
    ("compile", {"fusion": "fused"}),
    ("chunked-ce", {"loss_chunks": 8.0}),
    ("activation-checkpointing", {"recompute": "full"}),
    # Gradients of one parameter at a time, and nothing of the layers.
    ("optimizer-in-bwd", {"grad_bytes": 0.01}),
    ("activation-offload", {"activation_bytes": 0.01, "logit_bytes": 3.5, "loss_chunks": 1.0}),
    ("adamw-8bit", {"optimizer_bytes": 1.0}),
)


class Framework(NamedTuple):
    """A framework: the words that name it, the options its code fixes, and its gigabyte.

    `gigabyte` is the number of bytes of what it prints as GB: PyTorch programs that divide by
    1024^3 print GiB under that name.
    """

    words: tuple[str, ...]
    options: Callable[[MeasuredRun, RunLayout], Options]
    gigabyte: float = GB


def _torchtitan(row: MeasuredRun, run: RunLayout) -> Options:
    """max_reserved_gib in torchtitan/metrics.py; a micro-batch for each stage of a pipeline."""
    fusion = "fused" if run.is_compiled else "eager"
    options: Options = {**RESERVED, "zero": 3.0, "fusion": fusion}
    if "compiled loss" in str(row.run.get("software", "")):
        options["logit_bytes"] = COMPILED_LOSS
    local = row.parallelism.get("local_batch_seqs")
    if run.pp > 1 and local:
        options |= {"microbatches": run.pp, "micro_batch": max(local / run.pp, 1.0)}
    return options


def _kempnerforge(row: MeasuredRun, run: RunLayout) -> Options:
    """Weights and optimizer in bf16 (distributed/parallel.py), gradients whole in fp32 between
    micro-batches (training/grad.py), the loss of logits in bf16 that are gathered over tensor
    parallelism (scripts/train.py, distributed/tensor_parallel.py).
    """
    options: Options = {**TENSORS, "zero": 3.0, "optimizer_kind": "adam-pure", "logit_bytes": 8.0}
    options |= {"grad_accumulation": "whole", "vocab_parallel": "no"}
    return options | ({"grad_bytes": 4.0} if run.dp == 1 else {})


def _nanotron(row: MeasuredRun, run: RunLayout) -> Options:
    """Gradients in fp32 (optim/gradient_accumulator.py), eager blocks whose column-parallel
    products keep their gathered input (parallel/tensor_parallel).
    """
    cut = "gathered" if run.tp > 1 else "no"
    return {**RESERVED, "grad_bytes": 4.0, "fusion": "eager", "sequence_parallel": cut}


def _megatron_deepspeed(row: MeasuredRun, run: RunLayout) -> Options:
    """Megatron-DeepSpeed of 2022: scores are kept, and bf16 adds up gradients in fp32
    (megatron/arguments.py). nvidia-smi counts all there is.
    """
    width = 4.0 if "bf16" in str(row.run.get("precision", "")) else 2.0
    return {"attention": "scores", "grad_bytes": width, "sequence_parallel": "no"}


def _torchtune(row: MeasuredRun, run: RunLayout) -> Options:
    """Pure bf16 and a gradient that is made in each step (recipes/full_finetune_single_device.py).

    The memory is "active", in GiB. A row of the table of savings has those up to its own; others
    have the defaults of the recipes: compiled, and all activations recomputed.
    """
    options: Options = {**TENSORS, "optimizer_kind": "adam-pure", "grad_accumulation": "none"}
    task = str(row.run.get("task", "")).lower()
    if "cpu offload" in task:
        options |= OFFLOADED
    if "cumulatively" not in task and "on top of" not in task:
        return {**options, "recompute": "full"}
    options["recompute"] = "none"
    # The command of the last row offloads activations; its optimizer is in 32 bits.
    for name, step_words in TORCHTUNE_STEPS[: -1 if "lora" in task else None]:
        if not task.endswith("baseline"):
            options |= step_words
        if task.endswith(name):
            break
    return options


def _litgpt(row: MeasuredRun, run: RunLayout) -> Options:
    """Weights in the format that the row names, eager blocks, tensors alone."""
    return {**TENSORS, "optimizer_kind": "adam-pure", "fusion": "eager"}


def _megatron_core(row: MeasuredRun, run: RunLayout) -> Options:
    """Gradients add up in fp32 (megatron/core/distributed)."""
    return {"grad_bytes": 4.0}


def _unknown(row: MeasuredRun, run: RunLayout) -> Options:
    """Fused kernels where something compiles them; everything that the device shows."""
    return {"fusion": "fused" if run.is_compiled else "eager"}


FRAMEWORKS: Mapping[str, Framework] = {
    "torchtitan": Framework(("titan",), _torchtitan, GIB),
    "KempnerForge": Framework(("kempner",), _kempnerforge, GIB),
    "nanotron": Framework(("nanotron",), _nanotron, GIB),
    "Megatron-DeepSpeed": Framework(("bigscience", "megatron-deepspeed"), _megatron_deepspeed),
    "torchtune": Framework(("torchtune",), _torchtune, GIB),
    "LitGPT": Framework(("litgpt", "lit-gpt"), _litgpt),
    "Megatron-Core": Framework(("megatron", "nemo", "primus"), _megatron_core),
}
UNKNOWN = Framework((), _unknown)


def framework_named(text: str) -> str:
    """The framework that a text names; empty where it names none that we know."""
    words = text.lower()
    for name, framework in FRAMEWORKS.items():
        if any(word in words for word in framework.words):
            return name
    return ""
