"""Published runs whose memory was measured, as options of the calculator of training memory.

Measured figures and layouts are those of calculators/runs; what they leave to the code of a
framework was read there and stands here, with the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun

GIB, GB = 2**30, 1e9
Options = dict[str, Any]
# What a source that counts tensors, or what its allocator reserves, leaves out.
TENSORS = {"reserve": 0, "group_bytes": 0, "context_bytes": 0}
RESERVED = {"group_bytes": 0, "context_bytes": 0}
MODERN = {"attention": "flash", "dropout": "no"}
# Rows that are missed by more than 30 percent, and why.
REASONS = {
    "nanotron-1.34B-64node-mem": "holds the first of two stages; logits and loss of the last one "
    "alone take as much, and neither the stage nor what is recomputed is stated",
}
# torchtune adds one saving at a time; each keeps those before it.
TORCHTUNE_STEPS: tuple[tuple[str, Options], ...] = (
    ("packed", {"fusion": "eager"}),
    ("compile", {"fusion": "fused"}),
    ("chunked-ce", {"loss_chunks": 8}),
    ("activation-checkpointing", {"recompute": "full"}),
    # Gradients of one parameter at a time, and nothing of the layers.
    ("optimizer-in-bwd", {"grad_bytes": 0.01}),
    ("activation-offload", {"activation_bytes": 0.01, "logit_bytes": 3.5, "loss_chunks": 1}),
    ("adamw-8bit", {"optimizer_bytes": 1}),
)


def _torchtitan(row: MeasuredRun) -> Options:
    """max_reserved_gib in torchtitan/metrics.py; a micro-batch for each stage of a pipeline."""
    layout, run = row.parallelism, row.run
    options: Options = {**RESERVED, "zero": 3}
    options["fusion"] = "eager" if run["software"] == "eager" else "fused"
    if "pp" not in layout:
        return options
    options |= {"microbatches": 8, "sequence_parallel": "yes"}
    options["micro_batch"] = layout["local_batch_seqs"] / layout["pp"]
    if "interleaved" in layout["pipeline_schedule"]:
        options |= {"schedule": "interleaved", "virtual": 2}
    return options


def _kempnerforge(row: MeasuredRun) -> Options:
    """Weights and optimizer in bf16 (distributed/parallel.py), gradients whole in fp32 between
    micro-batches (training/grad.py), the loss of logits in bf16 that are gathered over tensor
    parallelism (scripts/train.py, distributed/tensor_parallel.py). Rows 1 and 2 ran micro-batches
    of two (mfu_bench.sh).
    """
    options: Options = {**TENSORS, "zero": 3, "optimizer_kind": "adam-pure", "logit_bytes": 8}
    options |= {"grad_accumulation": "whole", "vocab_parallel": "no", "sequence_parallel": "yes"}
    if row.parallelism["dp"] == 1:
        options["grad_bytes"] = 4
    if row.id in ("kempner-1-mem", "kempner-2-mem"):
        options["micro_batch"] = 2
    return options


def _nanotron(row: MeasuredRun) -> Options:
    """Gradients in fp32 (optim/gradient_accumulator.py), eager blocks whose column-parallel
    products keep their gathered input (parallel/tensor_parallel).
    """
    layout = row.parallelism
    cut = "gathered" if layout["tp"] > 1 else "no"
    batches = {"microbatches": layout["grad_accum"], "grad_bytes": 4}
    return {**RESERVED, **batches, "fusion": "eager", "sequence_parallel": cut}


def _megatron_deepspeed(row: MeasuredRun) -> Options:
    """Megatron-DeepSpeed of 2022: scores are kept, and bf16 adds up gradients in fp32
    (megatron/arguments.py). nvidia-smi counts all there is.
    """
    layout = row.parallelism
    batches = layout["global_batch_seqs"] / layout["dp"] / layout["micro_batch_seqs"]
    width = 4 if row.run["precision"] == "bf16" else 2
    return {"attention": "scores", "microbatches": batches, "grad_bytes": width}


def _torchtune(row: MeasuredRun) -> Options:
    """Pure bf16 and a gradient that is made in each step (recipes/full_finetune_single_device.py).

    The memory is "active", in GiB.
    """
    options: Options = {**TENSORS, "optimizer_kind": "adam-pure", "grad_accumulation": "none"}
    for name, more in TORCHTUNE_STEPS:
        options |= more
        if row.run["task"].endswith(name):
            return options
    return {}


# By the file of calculators/runs: the options of a row, and the bytes of its printed GB. Where the
# code that prints it divides by 1024^3 it is a GiB.
STACKS: dict[str, tuple[Callable[[MeasuredRun], Options], float]] = {
    "titan-h100-202412": (_torchtitan, GIB),
    "kempnerforge": (_kempnerforge, GIB),
    "nanotron-svg": (_nanotron, GIB),
    "bigscience-prequel": (_megatron_deepspeed, GB),
    "torchtune": (_torchtune, GIB),
}


def _shape(row: MeasuredRun) -> Options:
    model = row.model
    options = {
        "params": model["n_params"],
        "layers": model["n_layers"],
        "d_model": model["d_model"],
        "vocab": model["vocab_size"],
        "d_ff": model["d_ff"],
        # Where a source does not say, heads of 180, as 80 of them make 14,400.
        "heads": model.get("n_heads", 80),
        "ffn_kind": "gated" if model["gated_ffn"] else "plain",
        "tied_embeddings": "yes" if model["tied_embeddings"] else "no",
        "seq": model["seq_len_tokens"],
    }
    return options | ({"kv_heads": model["n_kv_heads"]} if "n_kv_heads" in model else {})


def _layout(row: MeasuredRun) -> Options:
    layout = row.parallelism
    options = {name: layout[name] for name in ("tp", "pp", "dp", "cp") if name in layout}
    options |= {"zero": layout.get("zero_stage", 0)}
    options["micro_batch"] = layout.get("micro_batch_seqs", 1)
    recompute = row.run.get("recompute", "none")
    options["recompute"] = {"selective op": "selective-op"}.get(recompute, recompute)
    return options


def memory_runs() -> dict[str, tuple[str, float, Options]]:
    """By id: the file of a run, its measured peak in bytes, the options that describe it."""
    found: dict[str, tuple[str, float, Options]] = {}
    for name, (stack, printed) in STACKS.items():
        for row in run_files()[name].rows:
            if row.kind != "training_memory" or not (own := stack(row)):
                continue
            measured = row.measured
            amount = measured.get("peak_memory_gib") or measured["peak_memory_gb"]
            bytes_each = GIB if "peak_memory_gib" in measured else printed
            options = {**MODERN, **_shape(row), **_layout(row), **own}
            found[row.id] = (name, amount * bytes_each, options)
    return found
