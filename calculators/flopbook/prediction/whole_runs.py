"""Predicts what a whole training run takes: chip-hours, from the model and its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.prediction.arrays import Column
from flopbook.prediction.conventions import SCORES, TRAINED
from flopbook.prediction.layouts import (
    BENCHMARK,
    BENCHMARK_FORMAT,
    FLASH_YEAR,
    WITHOUT_8_BITS,
    recompute_named,
)
from flopbook.prediction.machines import ChipRates, machine
from flopbook.prediction.models import Case, Parameters, PredictionModel, PrintedAs
from flopbook.prediction.named_models import MODEL_SHAPE, with_shape
from flopbook.prediction.near_layers import keys_causal
from flopbook.prediction.parameters import Prior
from flopbook.prediction.software_words import precision_named
from flopbook.prediction.stacks import stack_named
from flopbook.prediction.stages import PASSES, RECOMPUTED_PASSES
from flopbook.prediction.step_time import RIDGE
from flopbook.prediction.transformers import transformer
from flopbook.prediction.usual_layouts import usual_recompute

SHOWN = PrintedAs("chip-hours", "chip-hour")
# What a run computes again is a quarter of its work; where no one says, the answer is less sure.
BY_UNKNOWN = SHOWN._replace(band="chip-hours, recompute unknown")
HOUR = 3600.0
# Models of a width have about so many columns for each layer (Pythia's from 64 to 142), and a layer
# has twelve squares of the width.
COLUMNS_PER_LAYER, SQUARES = 100.0, 12.0
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
    # Products alone reach half at 200 columns. Norms and activations take as long as 180 more: they
    # move 45 values of two bytes for each of 72 operations of a column, which run at 0.7.
    "half_width": Prior(380, 0.5, "width at which a model reaches half of that, at RIDGE"),
    "mixture": Prior(0.7, 0.25, "share that mixtures of experts reach of dense models"),
    "many": Prior(0.1, 0.7, "slowdown at 10,000 chips"),
    # Llama 3 405B trained for more than 90 % of 54 days (Llama Team, 2024).
    "goodput": Prior(0.9, 0.05, "share of a run of weeks that failures and checkpoints leave"),
}


class WholeRun(NamedTuple):
    """A run from first to last token.

    `flop_per_token` is the work of a token forward and backward; a run that `recomputes` goes
    forward once more. `ridge` is in FLOP/byte of the chip.
    """

    generation: str
    peak: float
    flop_per_token: float
    tokens: float
    width: float
    is_mixture: bool
    chips: float
    ridge: float = RIDGE
    recomputes: bool = False
    is_narrow: bool = False
    is_benchmark: bool = False


def read(row: MeasuredRun, source: RunSource) -> Case:
    """A row of a whole run; its tokens are an input. Raises FlopbookError for what it lacks."""
    row, is_named = with_shape(row)
    chip = machine(row.hardware["chip"])
    parameters, tokens = row.model.get("n_params"), row.measured.get("tokens")
    if not parameters or not tokens:
        raise FlopbookError("parameters or tokens are not given")
    if "accelerator_hours" not in row.measured:
        raise FlopbookError("the hours of all chips are not given")
    active = float(row.model.get("n_active_params") or parameters)
    flop_per_token, width = _work_and_width(row, active)
    recompute = recompute_named(row.run.get("recompute"))
    run = WholeRun(
        generation=chip.generation,
        peak=chip.peak_16bit,
        flop_per_token=flop_per_token,
        tokens=float(tokens),
        width=width,
        is_mixture=active < parameters,
        chips=float(row.hardware.get("n_chips") or 0),
        ridge=_ridge(chip),
        recomputes=(recompute or _usual_recompute(row, source, chip)) == "full",
        is_narrow=_is_narrow(row, chip.generation),
        is_benchmark=_is_benchmark(row),
    )
    open_parts = {MODEL_SHAPE: is_named, "recompute": not recompute}
    inferred = tuple(name for name, is_open in open_parts.items() if is_open)
    shown = SHOWN if recompute else BY_UNKNOWN
    return Case(row, run, float(row.measured["accelerator_hours"]), inferred, shown)


def without_recompute(case: Case, source: RunSource) -> Case:
    """The same run as who does not say what is computed again would ask for it."""
    said = {name: value for name, value in case.row.run.items() if name != "recompute"}
    return read(case.row._replace(run=said), source)


def _work_and_width(row: MeasuredRun, active: float) -> tuple[float, float]:
    """FLOPs of a token forward and backward, and the width of the model.

    Input embeddings are looked up and not multiplied. Where a row gives no shape, all parameters
    count, and the width is that of usual models.
    """
    if not row.model.get("n_layers") or not row.model.get("d_model"):
        return TRAINED * active, (COLUMNS_PER_LAYER * active / SQUARES) ** (1 / 3)
    shape = transformer(row.model)
    looked_up = 0.0 if row.model.get("tied_embeddings") else shape.embedding
    scores = SCORES * shape.layers * shape.attending * keys_causal(shape)
    return TRAINED * (active - looked_up) + scores, shape.d_model


def _ridge(chip: ChipRates) -> float:
    """FLOPs that a chip does for each byte it reads; the usual ones where nothing is published."""
    return chip.peak_16bit / chip.memory_bandwidth if chip.memory_bandwidth else RIDGE


def _usual_recompute(row: MeasuredRun, source: RunSource, chip: ChipRates) -> str:
    """What is recomputed where a row does not say.

    Before fused attention scores were too many to keep, so that runs recomputed all.
    """
    if 0 < source.year < FLASH_YEAR:
        return "full"
    words = f"{row.run.get('software', '')} {row.publication}"
    return usual_recompute(stack_named(words), row.run, chip)


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
    share *= run.width / (run.width + p["half_width"] * run.ridge / RIDGE)
    if run.is_mixture:
        share *= p["mixture"]
    share /= 1 + p["many"] * run.chips / 10_000
    if run.is_benchmark:
        share /= p["goodput"]
    work = run.flop_per_token * run.tokens
    if run.recomputes:
        work *= RECOMPUTED_PASSES / PASSES
    return work / (run.peak * share) / HOUR


MODEL = PredictionModel("whole_run", SHOWN, PRIORS, read, predict)
