"""Every exercise and practical of the founding documents, and where the project asks it.

An exercise is named by how it begins in its chapter, a practical by its notebooks.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.support.founding_figures import SLIDES


class Asked(NamedTuple):
    """An exercise of a document: its line, our chapter, and how our exercise begins."""

    id: str
    document: str
    line: int
    chapter: str
    begins: str


class Practised(NamedTuple):
    """A practical of a document: its line and our notebooks."""

    id: str
    document: str
    line: int
    notebooks: tuple[str, ...]


EXERCISES = (
    Asked(
        "ex-what-types",
        SLIDES,
        119,
        "computer",
        "What types of numbers does",
    ),
    Asked(
        "ex-petaflop",
        SLIDES,
        84,
        "computer",
        "What is a petaflop?",
    ),
    Asked(
        "ex-dot-asm",
        SLIDES,
        180,
        "computer",
        "Write the loop so that each round",
    ),
    Asked(
        "ex-comm-or-compute",
        SLIDES,
        190,
        "roofline",
        "A dot product of a billion pairs",
    ),
    Asked(
        "ex-intensity-matmul",
        SLIDES,
        253,
        "roofline",
        "Compute the arithmetic intensity",
    ),
    Asked(
        "ex-sizes-roofline",
        SLIDES,
        255,
        "batch",
        "Which square matrices multiply compute-bound",
    ),
    Asked(
        "ex-batch-bound",
        SLIDES,
        256,
        "batch",
        "At which batch does",
    ),
    Asked(
        "ex-store",
        SLIDES,
        585,
        "transformers",
        "Where and for how long are parameters",
    ),
    Asked(
        "ex-high-intensity",
        SLIDES,
        604,
        "batch",
        "How do we give a product of one input row",
    ),
    Asked(
        "ex-trillium",
        SLIDES,
        650,
        "batch",
        "Calculate the minimum batch of",
    ),
    Asked(
        "ex-activations",
        SLIDES,
        690,
        "data-parallelism",
        "What happens to the activations",
    ),
    Asked(
        "ex-shard-memory",
        SLIDES,
        865,
        "sharded-matrices",
        "An array `bf16[256, 2048]`",
    ),
    Asked(
        "ex-allgather",
        SLIDES,
        907,
        "sharded-matrices",
        "How long does an all-gather",
    ),
    Asked(
        "ex-allreduce",
        SLIDES,
        965,
        "sharded-matrices",
        "And an all-reduce of the same array?",
    ),
    Asked(
        "ex-dp-bound",
        SLIDES,
        1097,
        "data-parallelism",
        "How many {{ v5p }} keep busy with a batch",
    ),
    Asked(
        "ex-fsdp-bound",
        SLIDES,
        1238,
        "fsdp",
        "Which {{ v5p }} count can a batch",
    ),
    Asked(
        "ex-next",
        SLIDES,
        1292,
        "fsdp",
        "A batch of {{ few }} shall keep",
    ),
    Asked(
        "ex-llama3-params",
        SLIDES,
        1386,
        "choosing-a-configuration",
        "Count the parameters of",
    ),
    Asked(
        "ex-llama3-time",
        SLIDES,
        1386,
        "choosing-a-configuration",
        "How many FLOPs is its training",
    ),
    Asked(
        "ex-llama3-mem",
        SLIDES,
        1386,
        "choosing-a-configuration",
        "How many of these chips does memory alone",
    ),
    Asked(
        "ex-llama3-shard",
        SLIDES,
        1386,
        "choosing-a-configuration",
        "Can FSDP alone keep the whole slice busy",
    ),
    Asked(
        "ex-llama405",
        SLIDES,
        1386,
        "choosing-a-configuration",
        "The same for {{ ll }}",
    ),
    Asked(
        "ex-bubble",
        SLIDES,
        1365,
        "pipeline-parallelism",
        "What share is lost with 4 stages",
    ),
)

PRACTICALS = (
    Practised(
        "prac-intensity",
        SLIDES,
        253,
        ("intensity",),
    ),
    Practised(
        "prac-matmul-roofline",
        SLIDES,
        254,
        ("matmul-roofline",),
    ),
    Practised(
        "prac-batch-bound",
        SLIDES,
        256,
        ("min-batch",),
    ),
    Practised(
        "prac-dot-assembly",
        SLIDES,
        180,
        ("dot-product",),
    ),
    Practised(
        "prac-jax-transformer",
        SLIDES,
        570,
        ("transformer",),
    ),
    Practised(
        "prac-sharded-matmul",
        SLIDES,
        999,
        (
            "sharded-matmul",
            "jax-mesh",
        ),
    ),
    Practised(
        "prac-pmap-dp",
        SLIDES,
        1131,
        (
            "data-parallel",
            "jax-data-parallel",
        ),
    ),
    Practised(
        "prac-llama3-study",
        SLIDES,
        1386,
        ("llama-3",),
    ),
)
