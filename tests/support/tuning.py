"""Llama 2 7B as fine-tuning takes it, for tests that change a part of it."""

from __future__ import annotations

from typing import Any

from flopbook.formulas import fine_tuning

LLAMA_2_7B: dict[str, Any] = {
    "params": 6738415616,
    "compute_params": 6738415616 - 32000 * 4096,
    "layers": 32,
    "d_model": 4096,
    "heads": 32,
    "vocab": 32000,
    "d_ff": 11008,
    "seq": 1304,
}


def tuned(**more: Any) -> dict[str, Any]:
    """What fine-tuning answers for it, with some inputs changed."""
    return fine_tuning(**{**LLAMA_2_7B, **more})
