"""Predicts what a whole training run takes: chip-hours, from parameters and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.prediction.arrays import Column
from flopbook.prediction.layouts import (
    BENCHMARK,
    BENCHMARK_FORMAT,
    WITHOUT_8_BITS,
    precision_named,
)
from flopbook.prediction.machines import machine
from flopbook.prediction.models import Case, Parameters, PredictionModel, PrintedAs
from flopbook.prediction.parameters import Prior

FLOP_PER_WEIGHT_AND_TOKEN = 6.0
HOUR = 3600.0
STARTS = {
    "volta": 0.20,
    "ampere": 0.42,
    "hopper": 0.38,
    "blackwell": 0.38,
    "cdna": 0.30,
    "tpu": 0.42,
    "neuron": 0.30,
    "gaudi": 0.35,
    "other": 0.35,
}
# Of chips in general; each generation has its own beside it, held near that.
START = 0.38
PRIORS = {
    "run": Prior(START, 0.3, "share of the 16-bit peak over a whole run on chips in general"),
    **{
        f"run_{name}": Prior(start / START, 0.1, f"what whole runs reach on {name} over all chips")
        for name, start in STARTS.items()
    },
    # Three quarters of a step are products, which tuned recipes run at 1.8 times the speed.
    "narrow": Prior(1.5, 0.15, "speed of runs in 8 bits over those in 16"),
    "half_parameters": Prior(2e8, 0.8, "parameters at which a model reaches half of that"),
    "mixture": Prior(0.7, 0.25, "share that mixtures of experts reach of dense models"),
    "many": Prior(0.1, 0.7, "slowdown at 10,000 chips"),
    # Llama 3 405B trained for more than 90 % of 54 days (Llama Team, 2024).
    "goodput": Prior(0.9, 0.05, "share of a run of weeks that failures and checkpoints leave"),
}


class WholeRun(NamedTuple):
    """A run from first to last token."""

    generation: str
    peak: float
    active_parameters: float
    tokens: float
    is_mixture: bool
    chips: float
    is_narrow: bool = False
    is_benchmark: bool = False


def read(row: MeasuredRun, source: RunSource) -> Case:
    """A row of a whole run; its tokens are an input. Raises FlopbookError for what it lacks."""
    chip = machine(row.hardware["chip"])
    parameters, tokens = row.model.get("n_params"), row.measured.get("tokens")
    if not parameters or not tokens:
        raise FlopbookError("parameters or tokens are not given")
    if "accelerator_hours" not in row.measured:
        raise FlopbookError("the hours of all chips are not given")
    active = row.model.get("n_active_params") or parameters
    run = WholeRun(
        generation=chip.generation,
        peak=chip.peak_16bit,
        active_parameters=float(active),
        tokens=float(tokens),
        is_mixture=active < parameters,
        chips=float(row.hardware.get("n_chips") or 0),
        is_narrow=_is_narrow(row, chip.generation),
        is_benchmark=_is_benchmark(row),
    )
    hours = float(row.measured["accelerator_hours"])
    return Case(row, run, hours)


def _is_benchmark(row: MeasuredRun) -> bool:
    """Whether a run is a submission to MLPerf: over in hours, and a failed one is not submitted."""
    return BENCHMARK in row.publication.lower()


def _is_narrow(row: MeasuredRun, generation: str) -> bool:
    """Whether a run multiplies in 8 bits: by its words, or in MLPerf on a chip that can."""
    words = str(row.run.get("precision", ""))
    if words:
        return precision_named(words) == BENCHMARK_FORMAT
    return _is_benchmark(row) and generation not in WITHOUT_8_BITS


def predict(runs: Sequence[WholeRun], p: Parameters) -> Column:
    """Chip-hours of each run."""
    return np.array([_hours(run, p) for run in runs])


def _hours(run: WholeRun, p: Parameters) -> float:
    share = p["run"] * p[f"run_{run.generation}"]
    if run.is_narrow:
        share *= p["narrow"]
    share *= run.active_parameters / (run.active_parameters + p["half_parameters"])
    if run.is_mixture:
        share *= p["mixture"]
    share /= 1 + p["many"] * run.chips / 10_000
    if run.is_benchmark:
        share /= p["goodput"]
    work = FLOP_PER_WEIGHT_AND_TOKEN * run.active_parameters * run.tokens
    return work / (run.peak * share) / HOUR


MODEL = PredictionModel("whole_run", PrintedAs("chip-hours", "chip-hour"), PRIORS, read, predict)
