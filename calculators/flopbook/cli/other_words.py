"""What people call a command, by its name here: abbreviations, units, algorithms, frameworks."""

from __future__ import annotations

MEANT = {
    theirs: ours
    for ours, names in {
        "bubble": "pipeline pp 1f1b zero-bubble",
        "cluster-power": "power energy pue watts",
        "collective": "nccl ring tree all-reduce allreduce all-gather allgather all-to-all "
        "alltoall reduce-scatter busbw",
        "cp-limit": "cp ring-attention context-parallel",
        "decode": "tpot itl tbt latency",
        "dp-limit": "dp ddp",
        "ep-limit": "ep moe experts",
        "fine-tuning": "lora qlora finetune sft",
        "fsdp-limit": "fsdp",
        "kv-cache": "cache kv",
        "list": "chips gpus accelerators hardware",
        "memory": "vram mem oom zero",
        "plan": "layout search optimize",
        "predict": "estimate step simulate throughput",
        "prefill": "ttft prompt",
        "reliability": "checkpoint checkpoints checkpointing mtbf failures goodput",
        "scaling-law": "chinchilla",
        "serving": "serve inference cost price",
        "speculative-decoding": "spec speculative eagle mtp",
        "tp-limit": "tp",
        "training-flops": "flops flop",
        "training-time": "pretrain train training",
    }.items()
    for theirs in names.split()
}
# The utilisation of a run whose log says tokens a second: those of a second, on all its chips.
MFU = (
    "training-time --model llama-3-8b --seq 8192 --chip h100-sxm --chips 512 --chip-mtbf 0 "
    "--tokens 3.58M --solve mfu --target seconds=1s"
)
MEANT |= {
    "mfu": f"flopbook {MFU}, with the tokens that all chips together take in a second",
    "hfu": "training-flops, whose hfu_over_mfu is the ratio of both",
}
