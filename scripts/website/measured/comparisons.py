"""What calculators give for the configurations of published runs, and how far that is off.

Only what a row states goes in: chip, shape, number format, batch, lengths, degrees. Nothing is
fitted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.prediction import collectives
from flopbook.prediction.fits import cases_of
from flopbook.prediction.machines import machine
from flopbook.prediction.models import Case
from scripts.website.measured.memory_runs import MemoryRun, memory_runs

# Bytes of a weight that is widened before it multiplies, with scales of groups of 32 and of 64.
WEIGHTS_ONLY = {
    "weight-only int8": 1.0,
    "int8": 1.0,
    "weight-only int4-g32": 0.625,
    "bnb.nf4": 0.5625,
}
TENSOR_PARALLEL = (None, "DeepSpeed-Inference")
MIB = 2**20


class ComparedRun(NamedTuple):
    """One run: the group it is shown in, what was measured and what is computed (SI)."""

    id: str
    group: str
    measured: float
    computed: float

    @property
    def error(self) -> float:
        """Computed over measured, less one."""
        return self.computed / self.measured - 1

    @property
    def factor(self) -> float:
        """Computed over measured or its inverse, whichever is above one."""
        return max(self.computed / self.measured, self.measured / self.computed)


class ComparedRuns(NamedTuple):
    """All comparisons of a kind, and how many rows the calculator refuses."""

    lines: tuple[ComparedRun, ...]
    refused: int


def compared(kind: str) -> ComparedRuns:
    """Every complete row of one of `KINDS` beside what the calculator gives."""
    lines, refused = [], 0
    for compare in KINDS[kind]():
        try:
            lines.append(compare())
        except FlopbookError:
            refused += 1
    return ComparedRuns(tuple(lines), refused)


Pending = Iterator[Callable[[], ComparedRun]]


def _rows(kind: str) -> Iterator[MeasuredRun]:
    for file in run_files().values():
        yield from (row for row in file.rows if row.kind == kind and row.complete)


def _chip(row: MeasuredRun) -> str:
    return machine(row.hardware["chip"]).chip


# Collectives.


def _collectives() -> Pending:
    for file in run_files().values():
        cases = cases_of(collectives.MODEL, [file]).cases
        yield from (partial(_collective, case) for case in cases if case.row.complete)


def _collective(case: Case) -> ComparedRun:
    seconds = calculate("collective", **case.inputs.options)["seconds"]
    size = case.row.measured["message_bytes"]
    return ComparedRun(case.row.id, _size_group(size), case.measured, seconds)


def _size_group(size: float) -> str:
    if size <= MIB:
        return "messages up to 1 MiB"
    return "messages up to 64 MiB" if size <= 64 * MIB else "messages above 64 MiB"


# Training memory: rows with what the code of each framework fixes.


def _memories() -> Pending:
    return (partial(_memory, name, run) for name, run in memory_runs().items())


def _memory(name: str, run: MemoryRun) -> ComparedRun:
    total = calculate("memory", **run.options)["total"]
    return ComparedRun(name, run.framework, run.measured, total)


# Inference: shapes as the rows print them. Of the other strategies one runs its layers on one
# chip after the other, one gathers weights in each step: another question.


def _served(*phases: str) -> Iterator[MeasuredRun]:
    for row in _rows("inference"):
        if row.run["phase"] in phases and row.parallelism.get("strategy") in TENSOR_PARALLEL:
            yield row


def _decodes(time: str) -> Pending:
    return (partial(_decode, row, time) for row in _served("decode", "decode (short prompt)"))


def _decode(row: MeasuredRun, time: str) -> ComparedRun:
    """A step with half of the answer written."""
    written = row.run.get("output_len_tokens", 0)
    seq = max(row.run.get("input_len_tokens", 1) + written // 2, 1)
    step = calculate("decode", seq=seq, **_serving(row))[time]
    return ComparedRun(row.id, _software(row), _step_seconds(row), step)


def _step_seconds(row: MeasuredRun) -> float:
    milliseconds = row.measured.get("step_latency_ms", row.measured.get("ms_per_token"))
    if milliseconds is not None:
        return float(milliseconds) / 1e3
    return 1 / float(row.measured["decode_tokens_per_s_per_seq"])


def _prefills(time: str) -> Pending:
    return (partial(_prefill, row, time) for row in _served("prefill"))


def _prefill(row: MeasuredRun, time: str) -> ComparedRun:
    first = calculate("prefill", seq=row.run["input_len_tokens"], **_serving(row))[time]
    measured = row.measured["first_token_latency_ms"] / 1e3
    return ComparedRun(row.id, _software(row), measured, first)


def _batches(time: str) -> Pending:
    return (partial(_batch, row, time) for row in _served("prefill+decode, static batch"))


def _batch(row: MeasuredRun, time: str) -> ComparedRun:
    """All prompts, then a step for each token of the answers, at the length half way."""
    options, run = _serving(row), row.run
    prompt, written = run["input_len_tokens"], run["output_len_tokens"]
    first = calculate("prefill", seq=prompt, **options)[time]
    step = calculate("decode", seq=prompt + written // 2, **options)[time]
    measured = run["batch_seqs"] * written / row.measured["output_tokens_per_s"]
    return ComparedRun(row.id, _software(row), measured, first + written * step)


def _software(row: MeasuredRun) -> str:
    return str(row.run.get("software", "not stated"))


def _serving(row: MeasuredRun) -> dict[str, Any]:
    model, precision = row.model, row.run["precision"]
    tied = bool(model.get("tied_embeddings"))
    looked_up = 0 if tied else model["vocab_size"] * model["d_model"]
    active = model.get("n_active_params", model["n_params"])
    options: dict[str, Any] = {
        "params": model["n_params"],
        "compute_params": active - looked_up,
        "experts": model.get("n_experts", 1),
        "experts_per_token": model.get("experts_per_token", 1),
        "layers": model["n_layers"],
        "d_model": model["d_model"],
        "heads": model["n_heads"],
        "kv_heads": model["n_kv_heads"],
        "vocab": model["vocab_size"],
        "tied_embeddings": "yes" if tied else "no",
        "chip": _chip(row),
        # A source may count cores of which a chip has several.
        "tp": min(row.parallelism["tp"], row.hardware["n_chips"]),
        "batch": row.run["batch_seqs"],
        # What stands in brackets, such as the format of the cache, follows from the name.
        "dtype": precision.partition(" (")[0],
    }
    if precision in WEIGHTS_ONLY:
        options |= {"dtype": "bf16", "bytes_per_param": WEIGHTS_ONLY[precision]}
    return options


KINDS: dict[str, Callable[[], Pending]] = {
    "collective": _collectives,
    "memory": _memories,
    "decode": partial(_decodes, "seconds"),
    "expected decode": partial(_decodes, "likely_seconds"),
    "prefill": partial(_prefills, "seconds"),
    "expected prefill": partial(_prefills, "likely_seconds"),
    "batch": partial(_batches, "seconds"),
    "expected batch": partial(_batches, "likely_seconds"),
}
