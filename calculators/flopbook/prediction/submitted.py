"""Rows of a benchmark's results: what the benchmark asks of all, and layouts that nobody states.

Results name a benchmark, a scenario and a system. Lengths and limits are those of the benchmark
(`data.workloads`). Whoever submits picks the layout that gives most, so a row without one is
predicted at the best of the layouts that fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.data.runs import MeasuredRun
from flopbook.data.workloads import Workload, workload_of
from flopbook.errors import FlopbookError
from flopbook.prediction.machines import machine
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_load import held_weights

LAYOUT, FORMAT = "layout", "format"
MILLI = 1e-3


def asked_workload(row: MeasuredRun) -> Workload | None:
    """What the benchmark of a row asks, where the row does not say so itself."""
    if row.run.get("output_len_tokens") or not row.run.get("benchmark"):
        return None
    return workload_of(str(row.run["benchmark"]))


def with_workload(row: MeasuredRun, workload: Workload) -> tuple[MeasuredRun, tuple[str, ...]]:
    """The row with the lengths of its benchmark, and what a rule filled in beside them.

    A submission without a format is in 8 bits where the chip has them, as in training. Raises
    FlopbookError for a scenario that depends on what is not given.
    """
    from flopbook.prediction.layouts import BENCHMARK_FORMAT, WITHOUT_8_BITS

    limit = workload.limit(str(row.run.get("phase", "")))
    if limit is not None and limit.drafts:
        raise FlopbookError(
            f"{row.run['phase']} lets a smaller model draft tokens, and how many of them are kept"
            " is not given"
        )
    lengths = {
        "input_len_tokens": workload.prompt.tokens,
        "output_len_tokens": workload.answer.tokens,
    }
    has_8_bits = machine(row.hardware["chip"]).generation not in WITHOUT_8_BITS
    is_assumed = not row.run.get("precision") and has_8_bits
    chosen = {"precision": BENCHMARK_FORMAT} if is_assumed else {}
    run = {**row.run, **lengths, **chosen}
    return row._replace(run=run), (FORMAT,) if is_assumed else ()


def submitted(case: Serving, row: MeasuredRun, workload: Workload) -> tuple[Serving, bool]:
    """The case of a row under its benchmark, and whether its layout is a guess.

    Raises FlopbookError where no layout holds the weights.
    """
    limit = workload.limit(str(row.run.get("phase", "")))
    seconds = 0.0 if limit is None else limit.token_ms * MILLI
    case = case._replace(held=workload.running, token_limit=seconds)
    if row.parallelism:
        return case, False
    layouts = tuple(layouts_of(case))
    if not layouts:
        raise FlopbookError("the weights do not fit into the memory of the chips")
    return layouts[0]._replace(layouts=layouts), True


def layouts_of(case: Serving) -> Iterator[Serving]:
    """The ways to divide a model that fit: copies of it, each on a power of two of chips.

    The chips of a copy share each layer or, of a mixture, its experts alone.
    """
    group = 1.0
    while group <= min(case.chips, case.machine.domain):
        if case.chips % group == 0:
            copies = case.chips / group
            divided = [case._replace(tp=group, ranks=1.0, replicas=copies)]
            if case.shape.is_mixture and group > 1:
                divided.append(case._replace(tp=1.0, ranks=group, replicas=copies))
            yield from (one for one in divided if _fits(one))
        group *= 2


def _fits(case: Serving) -> bool:
    """Whether the weights leave room in the memory of each chip."""
    return held_weights(case) < case.machine.memory * case.chips
