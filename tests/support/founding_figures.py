"""Every figure of the documents that the project grew from, and what the handbook shows for it.

Documents go by their names in the ledger of claims; lines are counted from 1. A figure is named by
what its chapter calls, or by the words before a table.
"""

from __future__ import annotations

from typing import NamedTuple

NOTES, EARLIER, SLIDES = (
    "000_b96e0dffd70d35e2.txt",
    "001_b142a54a5cf9f211.txt",
    "002_fe2fe86b10071ac9.txt",
)
LENGTHS = {NOTES: 347, EARLIER: 66, SLIDES: 1446}  # lines


class Shown(NamedTuple):
    """A figure of a document: its lines, our chapter, and what that chapter calls."""

    id: str
    document: str
    lines: tuple[int, ...]
    chapter: str
    by: tuple[str, ...]


FIGURES = (
    Shown(
        "fig-training-compute",
        SLIDES,
        (42, 98, 101),
        "why-compute",
        ('figure("training-compute")',),
    ),
    Shown(
        "fig-perf-scale-lm",
        SLIDES,
        (47, 51),
        "why-compute",
        ('figure("language-models")',),
    ),
    Shown(
        "fig-compute-vs-algorithms",
        SLIDES,
        (53, 58),
        "why-compute",
        ('figure("compute-against-algorithms")',),
    ),
    Shown(
        "fig-scaling-law",
        SLIDES,
        (62, 67),
        "why-compute",
        (
            'figure("scaling-law")',
            'figure("power-laws")',
        ),
    ),
    Shown(
        "fig-von-neumann",
        SLIDES,
        (109,),
        "computer",
        ('figure("von-neumann")',),
    ),
    Shown(
        "fig-compute-vs-comm",
        SLIDES,
        (172, 182),
        "roofline",
        ('figure("two-times")',),
    ),
    Shown(
        "fig-roofline",
        SLIDES,
        (196, 205),
        "roofline",
        ('roofline("nvidia/h100-sxm")',),
    ),
    Shown(
        "fig-roofline-wikimedia",
        NOTES,
        (39,),
        "roofline",
        ('roofline("nvidia/h100-sxm")',),
    ),
    Shown(
        "fig-intensity-vs-size",
        SLIDES,
        (243,),
        "roofline",
        ('figure("size-intensity")',),
    ),
    Shown(
        "fig-min-batch-bars",
        SLIDES,
        (642, 650),
        "roofline",
        ('figure("ridge-points")',),
    ),
    Shown(
        "fig-tpu-core",
        SLIDES,
        (346, 365),
        "accelerators",
        ('figure("tpu-core")',),
    ),
    Shown(
        "fig-systolic",
        SLIDES,
        (275, 373),
        "accelerators",
        (
            'figure("systolic-array")',
            'figure("systolic-array", moving=true)',
        ),
    ),
    Shown(
        "fig-chip-specs",
        SLIDES,
        (320, 449),
        "accelerators",
        ("chips in a single convention",),
    ),
    Shown(
        "fig-datacentre-photo",
        SLIDES,
        (379, 399, 409),
        "accelerators",
        ('figure("cluster-plan")',),
    ),
    Shown(
        "fig-power-area",
        SLIDES,
        (393, 396),
        "accelerators",
        ('figure("cluster-plan")',),
    ),
    Shown(
        "fig-mesh-torus",
        SLIDES,
        (431, 434, 439, 443, 445),
        "accelerators",
        (
            'figure("network-shapes")',
            'figure("torus-slice")',
        ),
    ),
    Shown(
        "fig-gpu-nvlink",
        SLIDES,
        (457,),
        "accelerators",
        ('figure("gpu-node")',),
    ),
    Shown(
        "fig-moore",
        SLIDES,
        (464,),
        "why-compute",
        ('figure("moores-law")',),
    ),
    Shown(
        "fig-memory-wall",
        SLIDES,
        (481,),
        "accelerators",
        ('figure("memory-wall")',),
    ),
    Shown(
        "fig-galore-memory",
        NOTES,
        (26,),
        "transformers",
        ('figure("memory-parts")',),
    ),
    Shown(
        "fig-galore-memory-notes",
        EARLIER,
        (19,),
        "transformers",
        ('figure("memory-parts")',),
    ),
    Shown(
        "fig-training-state",
        SLIDES,
        (527, 529, 532, 535),
        "data-parallelism",
        ('figure("training-state")',),
    ),
    Shown(
        "fig-transformer",
        SLIDES,
        (548, 555, 617),
        "transformers",
        ('figure("transformer-layer")',),
    ),
    Shown(
        "fig-fwd-bwd-update",
        SLIDES,
        (577, 585),
        "transformers",
        ('figure("step-memory")',),
    ),
    Shown(
        "fig-sharding-mesh",
        SLIDES,
        (700, 707),
        "sharded-matrices",
        ('figure("device-blocks", layouts="A[I_X, J_Y]", across=1)',),
    ),
    Shown(
        "fig-sharding-layouts",
        SLIDES,
        (711, 744, 750, 784, 798, 806, 845),
        "sharded-matrices",
        ('figure("device-blocks")',),
    ),
    Shown(
        "fig-block-matmul",
        SLIDES,
        (870, 876),
        "sharded-matrices",
        ('figure("block-product")',),
    ),
    Shown(
        "fig-collectives",
        SLIDES,
        (894, 910, 914, 939, 963),
        "sharded-matrices",
        (
            'figure("ring-collective", op="all-gather")',
            'figure("ring-collective", op="reduce-scatter")',
            'figure("ring-collective", op="all-reduce")',
            'figure("ring-collective", op="all-to-all")',
            'figure("ring-collective", op="all-gather", moving=true)',
        ),
    ),
    Shown(
        "fig-dp",
        SLIDES,
        (671,),
        "data-parallelism",
        ('figure("scheme-arrays", scheme="dp")',),
    ),
    Shown(
        "fig-fsdp",
        SLIDES,
        (1163, 1176),
        "fsdp",
        (
            'figure("scheme-arrays", scheme="fsdp")',
            'figure("zero-memory", ',
        ),
    ),
    Shown(
        "fig-tp",
        SLIDES,
        (1310,),
        "tensor-parallelism",
        (
            'figure("scheme-arrays", scheme="tp")',
            'figure("tensor-block", ',
        ),
    ),
    Shown(
        "fig-mixed",
        SLIDES,
        (1319,),
        "mixed-parallelism",
        ('figure("scheme-arrays", scheme="mixed")',),
    ),
    Shown(
        "fig-ratio-plot",
        SLIDES,
        (1323, 1325),
        "mixed-parallelism",
        ('figure("fsdp-tensor-ratio", ',),
    ),
    Shown(
        "fig-comms-vs-batch",
        SLIDES,
        (1325,),
        "mixed-parallelism",
        ('figure("batch-time")',),
    ),
    Shown(
        "fig-gpipe",
        NOTES,
        (52,),
        "pipeline-parallelism",
        ('figure("pipeline-schedule", schedule="gpipe", stages=4, microbatches=8)',),
    ),
    Shown(
        "fig-gpipe-notes",
        EARLIER,
        (30,),
        "pipeline-parallelism",
        ('figure("pipeline-schedule", schedule="gpipe", stages=4, microbatches=8)',),
    ),
    Shown(
        "fig-pipeline-stages",
        SLIDES,
        (1349,),
        "pipeline-parallelism",
        ('figure("pipeline-stages")',),
    ),
    Shown(
        "fig-pipeline-microbatches",
        SLIDES,
        (1367,),
        "pipeline-parallelism",
        ('figure("micro-batches")',),
    ),
    Shown(
        "fig-pipeline-schedules",
        SLIDES,
        (1376, 1382),
        "pipeline-parallelism",
        (
            'figure("pipeline-schedule", schedule="1f1b", ',
            'figure("pipeline-schedule", schedule="interleaved", ',
            'figure("pipeline-schedule", schedule="zb-h1", ',
            'figure("pipeline-schedule", schedule="dualpipe", ',
        ),
    ),
    Shown(
        "fig-bubble-curve",
        SLIDES,
        (1374,),
        "pipeline-parallelism",
        (
            'figure("bubble-stages")',
            'figure("bubble-share", ',
        ),
    ),
    Shown(
        "fig-dot-assembly",
        SLIDES,
        (151, 178),
        "computer",
        ('figure("dot-assembly")',),
    ),
    Shown(
        "fig-strong-scaling",
        SLIDES,
        (491, 495),
        "data-parallelism",
        ('figure("strong-scaling")',),
    ),
)
