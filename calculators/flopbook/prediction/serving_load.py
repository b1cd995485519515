"""How many sequences a server runs at once: what its memory holds, and what a limit of time allows.

For one number and for arrays alike, but for the search of the largest batch.
"""

from __future__ import annotations

from collections.abc import Callable

from flopbook.prediction.models import Parameters
from flopbook.prediction.seen_layers import tokens_kept
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_parts import BYTES_16

# Halvings of the batch that is searched for: the answer is as good as a sequence in a thousand.
_HALVINGS = 20


def held_bytes(case: Serving, context: float) -> float:
    """Bytes of weights and of the cache of a batch at some context, on each chip."""
    cache = case.batch * kept_values(case, context) * case.cache_bytes
    states = case.batch * case.seen.state_values * BYTES_16
    held = held_weights(case) + states
    return held / case.chips + cache / cache_shards(case, case.chips)


def kept_values(case: Serving, context: float) -> float:
    """Values that a sequence of some length has in the cache."""
    return float(tokens_kept(case.seen, context)) * case.cache_values


def held_weights(case: Serving) -> float:
    """Bytes of the weights on all chips: replicas have all, ranks have attention each."""
    shape = case.shape
    copied = (case.ranks - 1) * (shape.layers * shape.attention_weights + shape.embedding)
    return case.replicas * (shape.parameters + copied) * case.weight_bytes


def cache_shards(case: Serving, chips: float) -> float:
    """Parts of the cache on some chips: their number, but for copies on tensor-parallel ranks."""
    copies = max(min(case.tp, chips) / case.cache_parts, 1.0)
    return chips if case.is_sequential else chips / copies


def full_batch(case: Serving, p: Parameters) -> float:
    """Sequences that memory holds beside the weights, as many as a scheduler takes and as come."""
    memory = case.machine.memory * case.chips * p["memory_used"]
    room = memory - held_weights(case)
    each = kept_values(case, case.context) * case.cache_bytes
    each = each * case.chips / cache_shards(case, case.chips)
    each += case.seen.state_values * BYTES_16
    fits = max(room / each, case.replicas)
    # Each replica has a scheduler, and so has each rank. A soft minimum keeps the slope of both.
    admitted = 1 / (1 / fits + 1 / (p["most_sequences"] * case.replicas * case.ranks))
    return min(admitted, case.requests)


def largest_within(
    limit: float, most: float, least: float, pace: Callable[[float], float]
) -> float:
    """The largest batch up to `most` whose tokens come within a limit (s), or the least.

    `pace` is the time between two tokens of a sequence (s), which grows with the batch.
    """
    if pace(most) <= limit:
        return most
    low, high = min(least, most), most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if pace(middle) <= limit else (low, middle)
    return low
