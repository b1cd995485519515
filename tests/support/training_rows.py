"""Rows of training runs, as tests of predictions ask for them: Llama 3 70B on 64 H100."""

from __future__ import annotations

from typing import Any

from flopbook.data.runs import MeasuredRun
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import Layouts, RunLayout, training_run
from flopbook.prediction.step_time import StepParts, step_parts

FITTED = fitted_kinds()["training_throughput"].parameters
LLAMA = {
    "name": "Llama-3-70B",
    "n_layers": 80,
    "d_model": 8192,
    "n_heads": 64,
    "n_kv_heads": 8,
    "d_ff": 28672,
    "vocab_size": 128256,
    "gated_ffn": True,
    "seq_len_tokens": 8192,
}


def row(
    model: dict[str, Any] = LLAMA, run: dict[str, Any] | None = None, **degrees: Any
) -> MeasuredRun:
    """A run on 64 H100 with these degrees."""
    return MeasuredRun(
        id="one",
        kind="training_throughput",
        publication="acme",
        where="",
        measured={},
        model=model,
        hardware={"chip": "H100-SXM-80GB", "n_chips": 64, "chips_per_node": 8},
        parallelism={"tp": 8, "dp": 8, "micro_batch_seqs": 1, "global_batch_seqs": 64, **degrees},
        run={"precision": "bf16", "recompute": "none", **(run or {})},
    )


def layout(**kwargs: Any) -> RunLayout:
    """What a row says of a layout, in NeMo of 2025."""
    return training_run(row(**kwargs), 2025, "NeMo")


def parts(run: RunLayout, parameters: Any = FITTED) -> StepParts:
    """The parts of its step."""
    return step_parts(Layouts([run]), parameters)
