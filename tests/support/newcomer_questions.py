"""Questions of newcomers: errors they met, options of frameworks, prices, papers, slips.

They were written down, each with the pages that answer it, before any of them was tried.
"""

from __future__ import annotations

_COMPARE = ("compare/", "accelerators/?view=compare&compare=")
# A question -> places of which one must be among the first three; a place may be a beginning.
NEWCOMERS: dict[str, tuple[str, ...]] = {
    # Prices, sizes, what fits.
    "how much does an h100 cost": (
        "accelerators/nvidia/h100-sxm/",
        "accelerators/nvidia/h100",
    ),
    "how much does it cost to train gpt-4": ("calculators/training-time/",),
    "how much vram for 70b q4": (
        "calculators/serving/",
        "serve/",
        "calculators/max-params/",
    ),
    "how much memory does adam use": ("calculators/memory/",),
    "h100 hourly price": ("accelerators/nvidia/h100-sxm/",),
    "how many gpus to train a 7b model": (
        "planner/",
        "calculators/training-time/",
        "calculators/memory/",
    ),
    "how big is the kv cache per token": ("calculators/kv-cache/",),
    "how long to train a 1b model on a 4090": (
        "calculators/training-time/",
        "planner/",
    ),
    "electricity cost gpu cluster": ("calculators/cluster-power/",),
    "b200 power consumption": ("accelerators/nvidia/b200/",),
    "cost per token llama 70b": (
        "calculators/serving/",
        "serve/",
    ),
    "does deepseek v3 fit on 8 h200": (
        "serve/",
        "calculators/serving/",
    ),
    "can i fine tune 70b on 4 a100": ("calculators/fine-tuning/",),
    "memory needed for lora 13b": ("calculators/fine-tuning/",),
    # Errors that a run ends with.
    "CUDA out of memory": (
        "calculators/memory/",
        "handbook/profiling/",
        "calculators/max-params/",
    ),
    "torch.cuda.OutOfMemoryError": (
        "calculators/memory/",
        "handbook/profiling/",
        "calculators/max-params/",
    ),
    "OOM during backward": (
        "calculators/memory/",
        "handbook/data-parallelism/",
        "references/recomputation/",
    ),
    "nccl timeout": (
        "handbook/reliability-and-energy/",
        "handbook/profiling/",
        "handbook/networks/",
    ),
    "watchdog caught collective operation timeout": (
        "handbook/reliability-and-energy/",
        "handbook/profiling/",
    ),
    "loss nan fp16": ("handbook/low-precision/",),
    "loss spike": (
        "handbook/low-precision/",
        "handbook/reliability-and-energy/",
        "references/",
    ),
    "xid 79 gpu has fallen off the bus": ("handbook/reliability-and-energy/",),
    "ecc errors": (
        "handbook/reliability-and-energy/",
        "references/reliability/",
    ),
    "gpu utilization low": (
        "handbook/profiling/",
        "handbook/roofline/",
        "glossary/",
    ),
    # Options of frameworks.
    "--tensor-model-parallel-size": ("handbook/from-plan-to-flags/",),
    "tensor_parallel_size": (
        "serve/",
        "handbook/from-plan-to-flags/",
        "calculators/serving/",
    ),
    "gpu_memory_utilization": (
        "serve/",
        "handbook/from-plan-to-flags/",
        "calculators/serving/",
    ),
    "--num-layers-per-virtual-pipeline-stage": (
        "handbook/from-plan-to-flags/",
        "handbook/pipeline-parallelism/",
    ),
    "deepspeed zero stage 3 config": (
        "handbook/from-plan-to-flags/",
        "handbook/fsdp/",
    ),
    "gradient_accumulation_steps": (
        "handbook/from-plan-to-flags/",
        "handbook/batch/",
        "handbook/data-parallelism/",
    ),
    "max_num_seqs": (
        "handbook/from-plan-to-flags/",
        "handbook/serving/",
        "serve/",
    ),
    "fully_shard reshard_after_forward": (
        "handbook/fsdp/",
        "handbook/from-plan-to-flags/",
    ),
    "NCCL_ALGO": (
        "calculators/collective/",
        "handbook/networks/",
        "handbook/from-plan-to-flags/",
    ),
    "activation_checkpointing selective": (
        "calculators/memory/",
        "references/recomputation/",
        "handbook/from-plan-to-flags/",
    ),
    "torch.compile": (
        "references/compilers/",
        "handbook/kernels/",
    ),
    "maxtext flags": ("handbook/from-plan-to-flags/",),
    "nemo config": ("handbook/from-plan-to-flags/",),
    "cuda graphs": (
        "handbook/inference/",
        "handbook/kernels/",
        "handbook/serving/",
        "glossary/",
    ),
    # Chips and part numbers.
    "GA100": ("accelerators/nvidia/a100",),
    "CDNA3": (
        "accelerators/amd/mi300x/",
        "accelerators/amd/mi3",
    ),
    "p5.48xlarge": (
        "accelerators/nvidia/h100-sxm/",
        "accelerators/nvidia/",
        "accelerators/aws/",
    ),
    "trn2 ultraserver": ("accelerators/aws/trn2-ultraserver/",),
    "h100 sxm5 80gb hbm3": ("accelerators/nvidia/h100-sxm/",),
    "rtx 5090 specs": ("accelerators/nvidia/rtx-5090/",),
    "dgx spark": ("accelerators/nvidia/dgx-spark/",),
    "strix halo": ("accelerators/amd/ryzen-ai-max-395/",),
    "jetson thor": ("accelerators/nvidia/jetson-agx-thor/",),
    "vera rubin": (
        "accelerators/nvidia/vera-rubin",
        "accelerators/nvidia/rubin",
    ),
    "nvidia feynman": ("accelerators/nvidia/feynman/",),
    "tesla dojo": ("accelerators/tesla/",),
    "meta mtia": ("accelerators/meta/",),
    "microsoft maia 200": ("accelerators/microsoft/maia-200",),
    "tenstorrent blackhole": ("accelerators/tenstorrent/",),
    "tpu v5 lite": ("accelerators/google/tpu-v5e/",),
    "apple m3 ultra memory bandwidth": ("accelerators/apple/m3-ultra",),
    "inferentia 2": ("accelerators/aws/inferentia2/",),
    "cloudmatrix": ("accelerators/huawei/cloudmatrix-384/",),
    "mi300 memory": ("accelerators/amd/mi300",),
    "which gpu has the highest memory bandwidth": ("accelerators/",),
    # One against another.
    "h100 vs a100": _COMPARE,
    "l40s vs a100": _COMPARE,
    "4090 vs 5090": _COMPARE,
    "tpu vs gpu": ("handbook/accelerators/", "accelerators/", *_COMPARE),
    "trainium2 versus h100": _COMPARE,
    "gb200 vs gb300": _COMPARE,
    "fsdp vs ddp": (
        "handbook/fsdp/",
        "handbook/data-parallelism/",
    ),
    "zero-2 vs zero-3": (
        "handbook/fsdp/",
        "handbook/data-parallelism/",
        "calculators/memory/",
    ),
    "tensor parallel vs pipeline parallel": (
        "handbook/mixed-parallelism/",
        "handbook/tensor-parallelism/",
        "handbook/pipeline-parallelism/",
        "handbook/choosing-a-configuration/",
    ),
    "infiniband vs roce": ("handbook/networks/",),
    "fp8 vs bf16": (
        "handbook/low-precision/",
        "glossary/",
        "references/number-formats/",
    ),
    "mla vs gqa": (
        "calculators/kv-cache/",
        "handbook/transformers/",
        "handbook/inference/",
        "references/attention-variants/",
    ),
    "dense vs moe": (
        "handbook/expert-and-context-parallelism/",
        "handbook/transformers/",
        "references/mixture-of-experts/",
    ),
    # Papers, authors.
    "llm.int8": ("references/quantization/",),
    "PagedAttention": (
        "references/",
        "glossary/",
        "handbook/serving/",
    ),
    "Efficient memory management for large language model serving": ("references/",),
    "rajbhandari zero": ("references/sharded-data-parallelism/",),
    "narayanan megatron 2021": ("references/",),
    "korthikanti": ("references/",),
    "switch transformers": ("references/",),
    "tri dao": ("references/",),
    "horace he making deep learning go brrrr": ("references/",),
    "noam shazeer": ("references/",),
    "leviathan speculative decoding": ("references/speculative-decoding/",),
    "dualpipe": (
        "handbook/pipeline-parallelism/",
        "references/pipeline-parallelism/",
        "calculators/bubble/",
    ),
    "the llama 3 herd of models": ("references/",),
    "mlperf": (
        "references/benchmarks/",
        "reached/",
        "runs/",
        "glossary/",
    ),
    "palm paper": (
        "references/",
        "models/#palm",
    ),
    "roofline paper": ("references/roofline/",),
    # Misspellings and how things work.
    "infinband": ("handbook/networks/",),
    "tensor paralelism": ("handbook/tensor-parallelism/",),
    "activaton recomputation": (
        "calculators/memory/",
        "references/recomputation/",
    ),
    "quantisation aware traning": (
        "references/quantization/",
        "references/low-precision-training/",
    ),
    "what is a warp": (
        "handbook/kernels/",
        "handbook/computer/",
        "glossary/",
        "handbook/accelerators/",
    ),
    "what does sxm mean": (
        "glossary/",
        "accelerators/nvidia/",
        "handbook/accelerators/",
    ),
    "prefix caching": (
        "handbook/serving/",
        "references/kv-cache/",
        "references/serving/",
        "glossary/",
    ),
}
