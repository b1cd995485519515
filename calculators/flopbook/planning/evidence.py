"""How far a layout lies from the runs that the prediction rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.planning.planner import PlannedLayout
from flopbook.planning.question import Question

# Degree -> its name in a row, and what people call it.
DEGREES = {
    "tp": ("tp", "tensor parallelism"),
    "pp": ("pp", "pipeline stages"),
    "cp": ("cp", "context parallelism"),
    "ep": ("ep", "expert parallelism"),
    "virtual": ("vp", "chunks on a stage"),
}


class Beyond(NamedTuple):
    """Something of a layout that no run on file has: its size, and the nearest on file."""

    what: str
    size: float
    on_file: float


def beyond_measured(question: Question, layout: PlannedLayout) -> tuple[Beyond, ...]:
    """What of a layout lies outside all training runs on file."""
    rows = list(_rows())
    excesses = []
    for name, (field, title) in DEGREES.items():
        most = max((row.parallelism.get(field, 1) for row in rows), default=1)
        if getattr(layout, name) > most:
            excesses.append(Beyond(title, getattr(layout, name), most))
    if layout.cp > 1:
        tokens = question.run.shape.tokens / layout.cp
        fewest = min(map(_tokens_of_a_rank, filter(_is_ring, rows)), default=tokens)
        if tokens < fewest:
            excesses.append(Beyond("tokens of a sequence on a rank", tokens, fewest))
    return tuple(excesses)


def _rows() -> Iterator[MeasuredRun]:
    for file in run_files().values():
        yield from (row for row in file.rows if row.kind == "training_throughput")


def _is_ring(row: MeasuredRun) -> bool:
    return row.parallelism.get("cp", 1) > 1 and "seq_len_tokens" in row.model


def _tokens_of_a_rank(row: MeasuredRun) -> float:
    return float(row.model["seq_len_tokens"] / row.parallelism["cp"])
