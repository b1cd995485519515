"""What engineers type: settings of frameworks, symptoms of a run, who wrote a work, part numbers.

They were written down before any of them was tried.
"""

from __future__ import annotations

FLAGS, PIPELINES = "handbook/from-plan-to-flags/", "handbook/pipeline-parallelism/"
PROFILING, RELIABILITY = "handbook/profiling/", "handbook/reliability-and-energy/"

ENGINEERS: dict[str, tuple[str, ...]] = {
    "tensor_model_parallel_size": (FLAGS,),
    "TORCH_NCCL_DUMP_ON_TIMEOUT": (RELIABILITY,),
    "context_parallel_size": (FLAGS,),
    "micro_batch_size": (FLAGS, PIPELINES, "calculators/bubble/"),
    "CUDA_DEVICE_MAX_CONNECTIONS": (FLAGS, "handbook/overlap"),
    "NCCL_IB_HCA": (FLAGS, "handbook/networks/", "calculators/collective/"),
    "zero_optimization stage 3 offload_param": (FLAGS, "handbook/fsdp/", "calculators/offload/"),
    "gradient_checkpointing_enable": (
        FLAGS,
        "calculators/memory/",
        "references/recomputation/",
        "glossary/#",
    ),
    "moe_grouped_gemm": (FLAGS,),
    "fsdp_reshard_after_forward": (FLAGS, "handbook/fsdp/"),
    "enable_prefix_caching": (FLAGS, "handbook/serving/"),
    "attention_backend flash": (FLAGS, "handbook/kernels/", "references/attention-kernels/"),
    "pipeline_model_parallel_split_rank": (FLAGS, PIPELINES),
    "stanford flashattention": ("references/attention-kernels/#dao2022flashattention",),
    "microsoft zero paper": (
        "references/memory/#rajbhandari2020zero",
        "references/sharded-data-parallelism/#rajbhandari2020zero",
    ),
    "nvidia selective recomputation paper": ("references/recomputation/",),
    "google pathways": ("references/",),
    "deepseek dualpipe": (PIPELINES, "references/pipeline-parallelism/", "references/models/"),
    "tri dao": ("references/attention-kernels/", "references/linear-attention/"),
    "noam shazeer": ("references/",),
    "uc berkeley vllm paper": ("references/kv-cache/#kwon2023", "references/serving/#kwon2023"),
    "meta llama 3 herd failures": (RELIABILITY, "references/models/", "references/training-at"),
    "bytedance megascale": ("references/",),
    "seoul orca continuous batching": ("references/serving/#yu2022orca", "handbook/serving/"),
    "loss suddenly becomes nan after thousands of steps": (RELIABILITY, "handbook/low-precision/"),
    "first iteration takes forever": (PROFILING, RELIABILITY),
    "one gpu slower than the others": (PROFILING, RELIABILITY, "glossary/#straggler"),
    "memory keeps growing every step": (PROFILING,),
    "out of memory only on last pipeline stage": (FLAGS, PIPELINES, PROFILING),
    "step time spikes every few minutes": (PROFILING, RELIABILITY),
    "scales badly from 64 to 512 gpus": (
        PROFILING,
        "handbook/data-parallelism/",
        "handbook/networks/",
    ),
    "gpu utilization 100% but low mfu": (PROFILING, "reached/", "glossary/#mfu", "pitfalls/"),
    "decode is slow with batch size 1": (PROFILING, "handbook/inference/", "calculators/decode/"),
    "checkpoint saving blocks training": (RELIABILITY,),
    "matmul slower than expected on h100": (
        PROFILING,
        "handbook/kernels/",
        "rates/",
        "calculators/arithmetic-intensity/",
    ),
    "some experts slower on a few ranks": (PROFILING, "handbook/expert-and-context"),
    "NVIDIA H100 80GB HBM3": ("accelerators/nvidia/h100-sxm/",),
    "Tesla V100-SXM2-32GB": ("accelerators/nvidia/v100-sxm2/",),
    "MLU590-M9D": ("accelerators/cambricon/",),
    "p5.48xlarge gpu": ("accelerators/nvidia/h100-sxm/",),
}
