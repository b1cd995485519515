"""Predicts rows of training memory: the formula of the calculator `memory`, for a row's layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.formulas import get_formula
from flopbook.prediction.arrays import Column
from flopbook.prediction.frameworks import (
    ADAPTED,
    FRAMEWORKS,
    GB,
    GIB,
    QUANTISED_WEIGHT,
    UNKNOWN,
    Options,
    framework_named,
)
from flopbook.prediction.layouts import RunLayout, training_run, trains_adapters
from flopbook.prediction.models import Case, Parameters, PredictionModel, PrintedAs
from flopbook.prediction.named_models import with_kinds
from flopbook.prediction.schedules import named_schedule
from flopbook.prediction.transformers import BODY, INPUTS

SHOWN = PrintedAs("memory", "byte")
# Which code ran decides what is kept; where no one says, the answer is less sure.
BY_UNKNOWN = PrintedAs("memory", "byte", band="memory, framework unknown")
# Name of a size in a row -> input of the formula.
SIZES = BODY | INPUTS


class MemoryLayout(NamedTuple):
    """A layout as the formula takes it: its inputs by name, in SI units."""

    options: Mapping[str, Any]


def read(row: MeasuredRun, source: RunSource) -> Case:
    """The layout that a row describes, and the bytes that it states. Raises FlopbookError."""
    software = f"{row.run.get('software', '')} {row.parallelism.get('strategy', '')}"
    return read_as(framework_named(f"{software} {row.publication} {_words(source)}"), row, source)


def _words(source: RunSource) -> str:
    return f"{source.title} {source.repo} {source.path}"


def read_as(name: str, row: MeasuredRun, source: RunSource) -> Case:
    """The same with the framework named; with an empty name no framework is known."""
    row = with_kinds(row)
    run = training_run(row, source.year, _words(source))
    framework = FRAMEWORKS.get(name, UNKNOWN)
    options = {**layout_options(row, run), **framework.options(row, run), **_adapters(row)}
    inferred = run.inferred if name else (*run.inferred, "framework")
    # Refuses here what the formula refuses.
    get_formula("memory")(**options)
    shown = SHOWN if name else BY_UNKNOWN
    if "peak_memory_gib" in row.measured:
        measured = float(row.measured["peak_memory_gib"]) * GIB
        return Case(row, MemoryLayout(options), measured, inferred, shown)
    if "peak_memory_gb" not in row.measured:
        raise FlopbookError("the peak of memory is not given")
    # What a framework prints as GB is shown as that many 10^9 bytes, whatever it divided by.
    measured = float(row.measured["peak_memory_gb"]) * framework.gigabyte
    shown = shown._replace(factor=GB / framework.gigabyte)
    return Case(row, MemoryLayout(options), measured, inferred, shown)


def layout_options(row: MeasuredRun, run: RunLayout) -> Options:
    """Shape and layout of a run as the formula `memory` takes them."""
    sizes = row.model
    options: Options = {name: float(sizes[size]) for size, name in SIZES.items() if sizes.get(size)}
    shape = run.shape
    heads = max(round(shape.score_width / shape.head_dim), 1)
    is_gated = sizes.get("gated_ffn", True)
    options = {
        "heads": float(heads),
        "d_ff": float(sizes.get("d_ff") or round(shape.ffn_width)),
        "vocab": float(shape.vocabulary),
        "params": float(shape.parameters),
        "ffn_kind": "gated" if is_gated else "plain",
        "tied_embeddings": "yes" if sizes.get("tied_embeddings") else "no",
        "seq": float(shape.tokens),
        **options,
        **_division(row, run),
    }
    return options


def _division(row: MeasuredRun, run: RunLayout) -> Options:
    """Degrees, batches and what is kept, by the formula's names."""
    # Chunks that take turns are interleaved, unless a schedule is named.
    schedule = "interleaved" if run.pp > 1 and run.virtual > 1 else "1f1b"
    schedule = named_schedule(row) or schedule if run.pp > 1 else schedule
    # Schedules that run down the devices and up again have their two chunks by definition.
    virtual = max(run.virtual, 2.0) if schedule == "interleaved" else 1.0
    is_cut = row.parallelism.get("sequence_parallel", run.tp > 1)
    return {
        "tp": float(run.tp),
        "pp": float(run.pp),
        "dp": float(run.dp),
        "cp": float(run.cp),
        "ep": float(run.ep),
        "zero": float(run.zero),
        "micro_batch": max(float(round(run.micro_batch)), 1.0),
        "microbatches": max(float(round(run.micro_batches)), 1.0),
        "schedule": schedule,
        "virtual": float(virtual),
        "recompute": _recompute(row, run),
        "attention": "flash" if run.has_flash else "scores",
        "dropout": "no",
        "sequence_parallel": "yes" if is_cut and run.tp > 1 else "no",
    }


def _recompute(row: MeasuredRun, run: RunLayout) -> str:
    words = str(row.run.get("recompute", "")).lower()
    return "selective-op" if words.startswith("selective op") else run.recompute


def _adapters(row: MeasuredRun) -> Options:
    """Frozen weights carry neither gradients nor moments."""
    if not trains_adapters(row):
        return {}
    task = str(row.run["task"]).lower()
    narrow = "qlora" in task or "weight_quantization" in row.run
    return {**ADAPTED, **({"bytes_per_param": QUANTISED_WEIGHT} if narrow else {})}


def predict(runs: Sequence[MemoryLayout], p: Parameters) -> Column:
    """Bytes that each run keeps on its fullest device, as its framework counts them."""
    formula = get_formula("memory")
    return np.array([float(formula(**run.options)["total"]) for run in runs])


MODEL = PredictionModel("training_memory", SHOWN, {}, read, predict)
