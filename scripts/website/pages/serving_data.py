"""What "Will it serve?" computes with on its page: printed functions, and what a question needs.

Rates of chips, shapes of models and prices are those that the planner of training has in its
record; here is what serving adds. `plan/serving.js` puts a question together from both, and a test
holds it equal to the package's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from flopbook.architectures.shape import Shape
from flopbook.data.library import per_library
from flopbook.errors import FlopbookError
from flopbook.faces.functions import functions_module
from flopbook.planning import replicas
from flopbook.planning.serving import sequence_counts
from flopbook.planning.serving_question import (
    DEFAULT_ANSWER,
    DEFAULT_PROMPT,
    ServingQuestion,
    serving_question,
)
from flopbook.prediction import serving
from flopbook.prediction.bands import BAND_OF_STRANGERS, most_strange, unlike, widest_band
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.machines import machine, peak_named

MODULE = "replicas.js"
# Formats that a reader may choose, the widest first: what does not fit in one may in the next.
SERVED = ("bf16", "fp8", "int8", "int4", "fp4")
REFERENCE = {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": "8", "dtype": "bf16"}
# What a pass or the memory of a chip is made of, in the words of a card.
PASS_PARTS = {
    "products": "weights read and multiplied",
    "attention": "attention",
    "elementwise": "norms, residuals, activations",
    "launches": "kernel launches",
    "sums": "tensor-parallel sums",
    "experts": "all-to-all of experts",
    "sends": "sends between stages",
    "transfer": "KV cache sent to the other pool",
}
MEMORY_PARTS = {"weights": "weights", "cache": "KV cache"}
_OF_FORMATS = ("weight_bytes", "cache_bytes", "is_weight_only")


def module() -> str:
    """Times and bytes of a replica in JavaScript."""
    return functions_module(
        [
            replicas.step_seconds,
            replicas.step_parts,
            replicas.prompt_seconds,
            replicas.prompt_parts,
            replicas.held_bytes,
            replicas.weight_bytes,
            replicas.cache_bytes,
            replicas.transfer_seconds,
        ]
    )


def record(chips: Iterable[str], planned: Iterable[Shape]) -> dict[str, Any]:
    """What serving adds to the record of the planner."""
    return {
        "parameters": fitted_kinds()[serving.MODEL.kind].parameters,
        "bands": {name: _band(chip=name) for name in chips},
        "strangers": fitted_kinds()[serving.MODEL.kind].bands[BAND_OF_STRANGERS],
        "most_strange": most_strange(fitted_kinds()[serving.MODEL.kind]),
        "words": {"time": PASS_PARTS, "memory": MEMORY_PARTS},
        "usual": {"prompt": DEFAULT_PROMPT, "answer": DEFAULT_ANSWER},
        "counts": sequence_counts(),
        "formats": {name: _format(name) for name in SERVED},
        "domains": {name: machine(name).domain for name in chips},
        "models": {model.id: _model(model.id) for model in models(planned)},
    }


def band(**options: str) -> float:
    """The factor around a predicted throughput within which four of five measured runs lie.

    That of several options is the widest of each.
    """
    asked = serving_question({**REFERENCE, **options})
    quantity = serving.SHOWN[serving.STATIC].quantity
    return widest_band(fitted_kinds()[serving.MODEL.kind], [quantity], serving.traits(asked.base))


def _band(**options: str) -> dict[str, float]:
    """The band of an option, and in how many traits it is unlike all fitted runs."""
    traits = serving.traits(serving_question({**REFERENCE, **options}).base)
    strange = len(unlike(fitted_kinds()[serving.MODEL.kind].seen, traits))
    return {"band": band(**options), "strange": strange}


def models(planned: Iterable[Shape]) -> tuple[Shape, ...]:
    """Those of some models that can be served."""
    return tuple(model for model in planned if _is_served(model.id))


def usual_question(model: str, chip_id: str, chips: int, dtype: str = "bf16") -> ServingQuestion:
    """What the page asks where a reader types nothing but model, chip and number."""
    return serving_question({"model": model, "chip": chip_id, "chips": str(chips), "dtype": dtype})


@per_library
def _is_served(model: str) -> bool:
    try:
        serving_question({**REFERENCE, "model": model})
    except FlopbookError:
        return False
    return True


def _format(name: str) -> dict[str, Any]:
    """Widths of a format, and which peak of a chip it uses."""
    base = serving_question({**REFERENCE, "dtype": name}).base
    formats = {field: getattr(base, field) for field in _OF_FORMATS}
    return {**formats, "peak": peak_named(name), **_band(dtype=name)}


def _model(name: str) -> dict[str, Any]:
    """What a model leaves in the cache, and into how many parts its heads divide."""
    asked = serving_question({**REFERENCE, "model": name})
    parts = asked.kv_heads
    return {
        "cache_values": asked.base.cache_values,
        "score_flop": asked.base.score_flop,
        "seen": asked.base.seen._asdict(),
        **_band(model=name),
        "heads": asked.heads,
        "kv_heads": "inf" if math.isinf(parts) else parts,
    }
