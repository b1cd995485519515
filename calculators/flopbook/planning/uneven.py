"""How frameworks are told of layers that the chunks of a pipeline do not divide.

Rules and notation were read in the repositories at the commits in `flags.FRAMEWORKS`.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

Settings = dict[str, Any]


class TitanChunks(NamedTuple):
    """What torchtitan is told of the layers of its chunks, and what it cannot be told."""

    settings: Settings
    lacks: tuple[str, ...]


def titan_chunks(layers: int, chunks: int) -> TitanChunks:
    """Layers of a chunk, so that torchtitan comes to as many chunks as the plan has.

    It counts embedding and head as a layer each unless told otherwise, divides by the layers of a
    chunk, rounds up, and stops where the ranks do not divide what comes out.
    """
    each = math.ceil(layers / chunks)
    name = "parallelism.pipeline_parallel"
    settings: Settings = {f"{name}_layers_per_stage": each}
    if math.ceil((layers + 2) / each) == chunks:
        return TitanChunks(settings, ())
    settings |= {f"{name}_{end}_stage_less_layers": 0 for end in ("first", "last")}
    if math.ceil(layers / each) == chunks:
        return TitanChunks(settings, ())
    return TitanChunks(
        {}, ("unequal stages: name the layers of each in module_fqns_per_model_part",)
    )


def megatron_layout(layers: int, chunks: int) -> str:
    """The chunks of a pipeline in Megatron's letters: embedding, layers (t) and loss.

    Chunks with a layer less lie at the two ends, beside embedding and loss.
    """
    each = math.ceil(layers / chunks)
    short = each * chunks - layers
    sizes = [each - 1] * (short - short // 2) + [each] * (chunks - short)
    first, *inner = sizes + [each - 1] * (short // 2)
    last = inner.pop()
    runs = ((size, len(list(run))) for size, run in itertools.groupby(inner))
    middle = "".join(_repeated(f"{_layers(size)}|", count) for size, count in runs)
    return f"E{_layers(first)}|{middle}{_layers(last)}L"


def _layers(count: int) -> str:
    return "t" * count if count < 4 else f"t*{count}"


def _repeated(chunk: str, count: int) -> str:
    return chunk if count == 1 else f"({chunk})*{count}"
