"""What an inference row measured, from whichever of its words a source prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flopbook.errors import FlopbookError

Measured = Mapping[str, Any]


def step_seconds(measured: Measured, batch: float) -> float:
    """Seconds of a step in which each of `batch` sequences gets a token. Raises FlopbookError."""
    if "step_latency_ms" in measured:
        return float(measured["step_latency_ms"]) / 1e3
    if "ms_per_token" in measured:
        return float(measured["ms_per_token"]) / 1e3
    if "decode_tokens_per_s_per_seq" in measured:
        return 1 / float(measured["decode_tokens_per_s_per_seq"])
    for name in ("output_tokens_per_s", "tokens_per_s"):
        if name in measured:
            return batch / float(measured[name])
    raise FlopbookError("no time per token is given")


def first_token_seconds(measured: Measured, tokens: float) -> float:
    """Seconds until prompts of so many tokens together are read. Raises FlopbookError.

    Where only prompts are read, their rate is as good: it counts the tokens that were.
    """
    for name, unit in (("first_token_latency_ms", 1e-3), ("latency_s", 1.0)):
        if name in measured:
            return float(measured[name]) * unit
    if "tokens_per_s" in measured:
        return tokens / float(measured["tokens_per_s"])
    raise FlopbookError("the time to the first token is not given")


def tokens_per_s(measured: Measured, chips: float) -> float:
    """Tokens per second of all chips. Raises FlopbookError."""
    for name in ("output_tokens_per_s", "tokens_per_s"):
        if name in measured:
            return float(measured[name])
    if "output_tokens_per_s_per_chip" in measured:
        return float(measured["output_tokens_per_s_per_chip"]) * chips
    raise FlopbookError("no tokens per second are given")
