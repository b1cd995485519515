"""Published runs whose memory was measured, as options of the calculator of training memory.

Measured figures and layouts are those of calculators/runs; what the code of a framework fixes
stands in `prediction/frameworks.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.prediction.fits import cases_of
from flopbook.prediction.memory import MODEL

# Rows that are missed by more than 30 percent, and why.
REASONS = {
    "nanotron-1.34B-64node-mem": "holds the first of two stages; logits and loss of the last one "
    "alone take as much, and neither the stage nor what is recomputed is stated",
}
# The script that made these rows, mfu_bench.sh, runs micro-batches of two.
CORRECTED: dict[str, dict[str, Any]] = {
    "kempner-1-mem": {"micro_batch": 2.0},
    "kempner-2-mem": {"micro_batch": 2.0},
}
FRAMEWORK_FILES = {
    "titan-h100-202412": "torchtitan",
    "titan-h200-202506": "torchtitan",
    "kempnerforge": "KempnerForge",
    "nanotron-svg": "nanotron",
    "bigscience-prequel": "Megatron-DeepSpeed",
    "torchtune": "torchtune",
}


class MemoryRun(NamedTuple):
    """A framework, the bytes that a device held, and the options that describe the run."""

    framework: str
    measured: float
    options: dict[str, Any]


def memory_runs() -> dict[str, MemoryRun]:
    """By id: the runs whose layout is complete and whose framework is known."""
    files = {name: run_files()[name] for name in FRAMEWORK_FILES}
    run_of: dict[str, MemoryRun] = {}
    for name, file in files.items():
        for case in cases_of(MODEL, [file]).cases:
            if not _is_stated(case.row):
                continue
            options = {**case.inputs.options, **CORRECTED.get(case.row.id, {})}
            run_of[case.row.id] = MemoryRun(FRAMEWORK_FILES[name], case.measured, options)
    return run_of


def _is_stated(row: MeasuredRun) -> bool:
    """Whether a row says how long its sequences are and that all weights are trained."""
    trains_all = "lora" not in str(row.run.get("task", "")).lower()
    return row.complete and trains_all and "unpacked_data" not in row.flags
