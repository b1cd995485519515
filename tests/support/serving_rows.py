"""Rows of inference for tests, as a source would state them."""

from __future__ import annotations

from typing import Any

from flopbook.data.runs import MeasuredRun
from tests.support.training_rows import LLAMA

LLAMA_2 = {**LLAMA, "vocab_size": 32000, "n_params": 68976648192}


def served(chip: str = "H100-SXM-80GB", chips: int = 1, tp: int = 1, **run: Any) -> MeasuredRun:
    """A run of Llama 2 70B in fp16 on so many chips."""
    return MeasuredRun(
        id="asked",
        kind="inference",
        publication="",
        where="",
        measured={},
        model=LLAMA_2,
        hardware={"chip": chip, "n_chips": chips},
        parallelism={"tp": tp},
        run={"precision": "fp16", **run},
    )
