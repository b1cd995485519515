"""The time and the memory of one replica that serves a model, for many batches at once.

The parts are those of `prediction.serving`, for chips that are divided in more ways than one: by
tensor parallelism, as pipeline stages, as ranks of attention with sequences of their own (DP), and
with whole experts on them (EP). With tensor parallelism alone the seconds are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from flopbook.prediction.seen_layers import pairs_seen, tokens_kept, tokens_read
from flopbook.prediction.serving import ATTENTION_SHARE
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_parts import (
    BYTES_16,
    common_weights,
    elementwise_seconds,
    exchange_seconds,
    expert_work,
    experts_read,
    link_rate,
    product_rate,
    prompt_launches,
    routed_weights,
    sharing_seconds,
    sum_seconds,
)
from flopbook.prediction.transformers import FLOP_PER_WEIGHT

Parameters = Mapping[str, float]

PAIR = 2.0  # a stage and the next one


class Division(NamedTuple):
    """How the chips of a replica divide a model; `ep` is 1 or all chips of a stage."""

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1

    @property
    def chips(self) -> int:
        """Chips of the replica."""
        return self.tp * self.pp * self.dp


class Replica(NamedTuple):
    """What is served and how it is divided; `kv_heads` are the parts of the cache."""

    case: Serving
    kv_heads: float
    tp: float
    pp: float
    dp: float
    ep: float


class PassParts(NamedTuple):
    """Seconds of a pass through all layers, by what takes them; a sum of all is the pass.

    `products` read the weights and multiply with them, `attention` reads the cache or compares
    tokens of a prompt, `elementwise` are norms, residuals and activations, `sums` those of tensor
    parallelism, `experts` the traffic of experts, `sends` go from stage to stage.
    """

    products: Any
    attention: Any
    elementwise: Any
    launches: Any
    sums: Any
    experts: Any
    sends: Any


def away_weights(replica: Replica) -> Any:
    """Weights that other ranks of attention hold: those of experts, shared ones included."""
    shape = replica.case.shape
    if not shape.is_mixture:
        return 0.0
    every = shape.layers * shape.attention_weights + shape.embedding
    return max(shape.parameters - every, 0.0) * (1 - 1 / replica.dp)


def held_bytes(replica: Replica, sequences: Any) -> Any:
    """Bytes on each chip: weights of its stage, and the full cache of its sequences."""
    return weight_bytes(replica) + cache_bytes(replica, sequences)


def weight_bytes(replica: Replica) -> Any:
    """Bytes of the weights on each chip of a stage."""
    case = replica.case
    return (
        (case.shape.parameters - away_weights(replica))
        * case.weight_bytes
        / (replica.tp * replica.pp)
    )


def cache_bytes(replica: Replica, sequences: Any) -> Any:
    """Bytes of the full cache on each chip.

    `sequences` are those of a rank in one micro-batch; a stage keeps the cache of all of them.
    Heads of the cache divide over tensor-parallel ranks; fewer of them than ranks are copied.
    """
    case = replica.case
    tokens = sequences * tokens_kept(case.seen, case.prompt + case.answer)
    cache = tokens * case.cache_values * case.cache_bytes
    states = sequences * case.seen.state_values * BYTES_16
    return cache / min(replica.tp, replica.kv_heads) + states / replica.tp


def step_seconds(replica: Replica, sequences: Any, p: Parameters) -> Any:
    """Seconds until every sequence of a replica has another token, without scheduling."""
    return _whole(step_parts(replica, sequences, p))


def step_parts(replica: Replica, sequences: Any, p: Parameters) -> PassParts:
    """The parts of a step that writes a token of every sequence."""
    case = replica.case
    shape = case.shape
    routed = experts_read(shape, sequences * replica.dp) / replica.dp
    reading = _reading(replica, common_weights(shape) + routed, p)
    tokens = sequences * tokens_read(case.seen, case.prompt + case.answer / 2)
    cached = tokens * case.cache_values * case.cache_bytes / min(replica.tp, replica.kv_heads)
    states = 2 * sequences * case.seen.state_values * BYTES_16 / replica.tp
    moved = (cached + states) / (case.machine.memory_bandwidth * p["cache_share"])
    scores = tokens * case.score_flop
    arithmetic = scores / (replica.tp * case.machine.peak_16bit * ATTENTION_SHARE)
    cache = np.maximum(moved, arithmetic)
    products = sharing_seconds(reading, _products(replica, sequences, p), p)
    launches = shape.layers * (p["layer_seconds"] * shape.blocks + _routing(replica, p))
    return _pass(replica, sequences, products, cache, launches, p)


def prompt_seconds(replica: Replica, sequences: Any, p: Parameters) -> Any:
    """Seconds until so many prompts of each rank have gone through all stages."""
    return _whole(prompt_parts(replica, sequences, p))


def prompt_parts(replica: Replica, sequences: Any, p: Parameters) -> PassParts:
    """The parts of reading so many prompts on each rank."""
    case = replica.case
    shape = case.shape
    tokens = sequences * case.prompt
    pairs = sequences * pairs_seen(case.seen, case.prompt)
    scores = 2 * FLOP_PER_WEIGHT * shape.layers * shape.score_width * pairs
    attention = scores / (replica.tp * case.machine.peak_16bit * ATTENTION_SHARE)
    reading = _reading(replica, shape.parameters - away_weights(replica), p)
    products = sharing_seconds(reading, _products(replica, tokens, p), p)
    work = products + attention + _elementwise(replica, tokens, p)
    each = p["prompt_launch"] * shape.blocks + _routing(replica, p)
    launches = prompt_launches(case.machine, shape.layers, each, work, p)
    return _pass(replica, tokens, products, attention, launches, p)


def _whole(parts: PassParts) -> Any:
    """Seconds of a pass."""
    work = parts.products + parts.attention + parts.elementwise + parts.launches
    return work + parts.sums + parts.experts + parts.sends


def _routing(replica: Replica, p: Parameters) -> Any:
    """Seconds of a layer in which a mixture chooses experts, sorts tokens and adds results up."""
    shape = replica.case.shape
    return p["expert_seconds"] * shape.feeding if shape.is_mixture else 0.0


def _reading(replica: Replica, weights: Any, p: Parameters) -> Any:
    """Seconds in which weights arrive from memory, over all stages."""
    case = replica.case
    share = p["weights_share"] * (p["quantised_share"] if case.is_weight_only else 1)
    return weights * case.weight_bytes / (replica.tp * case.machine.memory_bandwidth * share)


def _products(replica: Replica, tokens: Any, p: Parameters) -> Any:
    """Seconds of matrix products for tokens of each rank; experts see those of all ranks."""
    case = replica.case
    rate = product_rate(case.peak, case.machine, p[f"serve_{case.machine.generation}"], p)
    half = p["half_batch"]
    plain = (case.shape.layer_weights - routed_weights(case.shape)) * (tokens + half)
    routed = expert_work(case.shape, tokens * replica.dp, half, replica.ep) / replica.dp
    return FLOP_PER_WEIGHT * (plain + routed) / (replica.tp * rate)


def _pass(
    replica: Replica, tokens: Any, products: Any, attention: Any, launches: Any, p: Parameters
) -> PassParts:
    """A pass through all stages one after the other, with its traffic."""
    shape = replica.case.shape
    sends = 0.0
    if replica.pp > 1:
        sent = BYTES_16 * tokens * shape.d_model
        chips = replica.tp * replica.dp * replica.pp
        sends = replica.pp * (p["sum_seconds"] + sent / _rate(replica, chips, p))
    return PassParts(
        products=products,
        attention=attention,
        elementwise=_elementwise(replica, tokens, p),
        launches=launches,
        sums=shape.layers * _sums(replica, tokens, p),
        experts=shape.layers * _exchange(replica, tokens, p),
        sends=sends,
    )


def _elementwise(replica: Replica, tokens: Any, p: Parameters) -> Any:
    """Seconds of norms, residuals and activations."""
    case = replica.case
    return elementwise_seconds(case.machine, case.shape, tokens, replica.tp, p)


def _sums(replica: Replica, tokens: Any, p: Parameters) -> Any:
    """Seconds in a layer of the sum after attention, and of that after whole feed-forward blocks.

    Experts on ranks of their own are exchanged in place of the second.
    """
    case = replica.case
    sent = BYTES_16 * tokens * case.shape.d_model
    after_attention = sum_seconds(case.machine, replica.tp, sent, p)
    if replica.ep > 1:
        return case.shape.mixing * after_attention
    ranks = replica.tp * replica.dp
    after_blocks = sum_seconds(case.machine, ranks, sent * replica.dp, p)
    return case.shape.mixing * after_attention + case.shape.feeding * after_blocks


def _exchange(replica: Replica, tokens: Any, p: Parameters) -> Any:
    """Seconds in a layer of tokens on the way to their experts and back."""
    if replica.ep <= 1:
        return 0.0
    shape = replica.case.shape
    group = replica.tp * replica.dp
    # A token goes once to each rank that has some of its experts, and comes back.
    copies = min(shape.experts_per_token, group)
    sent = 2 * BYTES_16 * tokens / replica.tp * shape.expert_d_model * copies
    return shape.feeding * exchange_seconds(replica.case.machine, group, sent, p)


def _rate(replica: Replica, ranks: float, p: Parameters) -> Any:
    """Byte/s that a stage sends the next one: over links inside the domain, over cards beyond."""
    machine = replica.case.machine
    is_inside = ranks <= machine.domain
    rate = link_rate(machine, PAIR) if is_inside else machine.card_bandwidth
    return rate * p["sum_share"]


def transfer_seconds(replica: Replica, p: Parameters) -> Any:
    """Seconds in which the cache of a prompt reaches another pool, by the cards of its rank."""
    case = replica.case
    cached = tokens_kept(case.seen, case.prompt) * case.cache_values * case.cache_bytes
    cached = cached + case.seen.state_values * BYTES_16
    cards = min(replica.tp, replica.kv_heads) * replica.pp
    return p["sum_seconds"] + cached / (cards * case.machine.card_bandwidth * p["sum_share"])
