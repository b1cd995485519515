"""Inference on several chips, read by read and product by product.

Pope et al. 2022 for what a decoding step reads, Austin et al. 2025 for its time (products wait for
weights or arithmetic, attention for its cache), DeepSeek-AI 2024 (V2, 2.1.2) for absorbed latent
attention. Experts are drawn evenly: after B tokens with k of E each, one is untouched with
probability (1 - k / E)^B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.evaluation.questions.answers.facts import Shape
from tests.evaluation.questions.answers.shapes import (
    awaited,
    cache,
    expert_weights,
    parameters,
    sequence_scores,
    states,
    step_bytes,
    step_scores,
)


@dataclass(frozen=True)
class Machine:
    """Chips that serve one model; SI."""

    peak: float
    bandwidth: float
    memory: float
    tp: int = 1
    dp: int = 1
    weight: float = 2  # bytes
    kv: float = 2


def routed(s: Shape) -> float:
    """Weights of all routed experts."""
    if s.experts == 1:
        return 0
    return ((s.blocks or s.layers) - s.dense_layers) * s.experts * expert_weights(s)


def touched(s: Shape, tokens: float) -> float:
    """Share of the routed experts that at least one token visits."""
    if s.experts == 1:
        return 1
    return float(1 - (1 - s.experts_per_token / s.experts) ** tokens)


def looked_up(s: Shape) -> float:
    """Weights that a step does not read: an embedding of which it needs single rows."""
    numbers = parameters(s)
    return numbers["active"] - numbers["compute"]


def weights_read(s: Shape, m: Machine, tokens: float) -> float:
    """Bytes on each chip: replicas of attention keep all but the experts, which they share."""
    rest = parameters(s)["total"] - routed(s) - looked_up(s)
    return m.weight * (rest / m.tp + routed(s) * touched(s, tokens) / (m.tp * m.dp))


def weights_held(s: Shape, m: Machine) -> float:
    """Bytes on each chip, the embedding included."""
    rest = parameters(s)["total"] - routed(s)
    return m.weight * (rest / m.tp + routed(s) / (m.tp * m.dp))


def cache_share(s: Shape, m: Machine) -> float:
    """Part of a sequence's cache on one chip: whole KV heads, or the one latent vector."""
    if s.kv_rank:
        return 1
    return math.ceil(s.kv / m.tp) / s.kv


def cached_bytes(s: Shape, m: Machine, seq: int) -> float:
    """Keys, values and states of a sequence on one chip."""
    return cache(s, seq, 1, m.kv) * cache_share(s, m) + states(s) / m.tp + awaited(s)


def decode(s: Shape, m: Machine, seq: int, batch: int) -> dict[str, object]:
    """One step for `batch` sequences, spread over the replicas."""
    local = batch / m.dp
    numbers = parameters(s)
    read = weights_read(s, m, batch) / m.bandwidth
    arithmetic = 2 * numbers["compute"] * local / m.tp / m.peak
    if s.experts > 1:
        arithmetic = 2 * numbers["compute"] * batch / (m.tp * m.dp) / m.peak
    cached = cached_bytes(s, m, seq)
    kept = local * step_bytes(s, seq, m.kv) * cache_share(s, m) / m.bandwidth
    attention = 2 * step_scores(s, seq) * local / m.tp / m.peak
    seconds = max(read, arithmetic) + max(kept, attention)
    held = weights_held(s, m) + local * cached
    return {
        "seconds": seconds,
        "tokens_per_s": batch / seconds,
        "weight_seconds": read,
        "kv_seconds": kept,
        "compute_seconds": arithmetic,
        "chip_bytes": held,
        "free": m.memory - held,
    }


def prefill(s: Shape, m: Machine, seq: int, batch: int = 1) -> dict[str, object]:
    """Prompts read at once; only the last token of each needs the head."""
    tokens = seq * batch
    numbers = parameters(s)
    head = s.vocab * s.d_model
    flop = 2 * ((numbers["compute"] - head) * tokens + head * batch)
    chips = m.tp * m.dp
    arithmetic = flop / chips / m.peak
    scores = 2 * sequence_scores(s, seq) * batch / chips / m.peak
    kept = batch / m.dp * cached_bytes(s, m, seq)
    attention = max(scores, kept / m.bandwidth)
    read = weights_read(s, m, tokens) / m.bandwidth
    seconds = max(arithmetic, read) + attention
    held = weights_held(s, m) + kept
    return {
        "seconds": seconds,
        "tokens_per_s": tokens / seconds,
        "weight_seconds": read,
        "compute_seconds": arithmetic,
        "attention_seconds": attention,
        "chip_bytes": held,
        "free": m.memory - held,
    }


def serve(s: Shape, m: Machine, seq: int, batch: int | None = None) -> dict[str, object]:
    """How many sequences fit, and a step of those that run."""
    each = cached_bytes(s, m, seq)
    fits = math.floor((m.memory - weights_held(s, m)) / each) * m.dp
    runs = fits if batch is None else min(batch, fits)
    numbers = parameters(s)
    stored = numbers["total"] - looked_up(s)
    saturates = m.peak * m.weight / 2 / m.bandwidth * stored / numbers["compute"]
    step = decode(s, m, seq, runs)
    asked = step if batch is None else decode(s, m, seq, batch)
    return {
        "batch_fits": fits,
        "batch_saturates": saturates,
        "batch_runs": runs,
        "seconds": step["seconds"],
        "tokens_per_s": step["tokens_per_s"],
        "chip_bytes": asked["chip_bytes"],
    }


def fewest_chips(s: Shape, memory: float, seq: int, batch: int, width: float = 2) -> int:
    """Count up the TP degree until weights and caches fit."""
    chips = 1
    while True:
        m = Machine(1, 1, memory, tp=chips, weight=width, kv=width)
        if weights_held(s, m) + batch * cache(s, seq, 1, width) * cache_share(s, m) <= memory:
            return chips
        chips += 1


def request(
    s: Shape, m: Machine, seq: int, batch: int, prompt: int, answer: int, price: float
) -> dict[str, object]:
    """What a request pays for: a replica while it reads, and a share of each step after that.

    The prompt brings the first token. `price` is that of one chip (USD/s).
    """
    chips = m.tp * m.dp
    one = Machine(m.peak, m.bandwidth, m.memory, m.tp, 1, m.weight, m.kv)
    read, step = prefill(s, one, prompt), decode(s, m, seq, batch)
    reading, writing = float(str(read["seconds"])), float(str(step["seconds"])) / batch
    taken = reading / m.dp + (answer - 1) * writing
    return {
        "usd_per_million_prompt_tokens": 1e6 * chips * price * reading / m.dp / prompt,
        "usd_per_million_tokens": 1e6 * chips * price * writing,
        "usd_per_request": chips * price * taken,
        "requests_per_s": 1 / taken,
    }
