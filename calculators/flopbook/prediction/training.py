"""Predicts training rows: tokens per second and chip, from the parts of a step."""

from __future__ import annotations

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.prediction.arrays import Column
from flopbook.prediction.bands import BAND_OF_MIXTURES, THROUGHPUT_BAND
from flopbook.prediction.conventions import (
    HARDWARE,
    USUAL,
    Printed,
    flop_per_token,
    measured_tokens,
)
from flopbook.prediction.layouts import Layouts, RunLayout, training_run
from flopbook.prediction.models import Case, Parameters, PredictionModel, PrintedAs
from flopbook.prediction.named_models import with_kinds
from flopbook.prediction.parameters import PRIORS
from flopbook.prediction.stacks import OTHER
from flopbook.prediction.step_time import tokens_per_second

THROUGHPUT = PrintedAs(THROUGHPUT_BAND, "token/s/chip")


def read(row: MeasuredRun, source: RunSource) -> Case:
    """The run that a row describes, and the throughput that it states. Raises FlopbookError."""
    row = with_kinds(row)
    run = training_run(row, source.year, f"{source.title} {source.repo} {source.path}")
    printed = Printed(
        measured=row.measured,
        shape=run.shape,
        convention=source.flops_convention_code,
        peak=run.machine.peak_16bit,
        chips=run.chips,
        batch=_batch(row, run),
        active=row.model.get("n_active_params"),
    )
    measured = measured_tokens(printed)
    shown = _shown(row, source, run)
    return Case(row, run, measured, run.inferred, shown)


def _shown(row: MeasuredRun, source: RunSource, run: RunLayout) -> PrintedAs:
    """What the row prints first: tokens per second, else the step time, else a utilisation."""
    batch = _batch(row, run)
    band = BAND_OF_MIXTURES if run.shape.is_mixture else THROUGHPUT_BAND
    if "tokens_per_s_per_chip" in row.measured or "tokens_per_s" in row.measured:
        return THROUGHPUT._replace(band=band)
    if "step_time_s" in row.measured and batch:
        tokens = batch * run.shape.tokens / run.chips
        return PrintedAs("step time", "s", tokens, is_inverse=True, band=band)
    convention = source.flops_convention_code
    is_of_model = "mfu_pct" in row.measured or "model_tflops_per_s_per_chip" in row.measured
    if is_of_model and convention == HARDWARE:
        convention = USUAL
    if not is_of_model:
        convention = HARDWARE
    flop = flop_per_token(run.shape, convention, row.model.get("n_active_params"))
    name, rate = "MFU" if is_of_model else "HFU", flop / run.machine.peak_16bit
    return PrintedAs(name, "1", rate, band=band)


def _batch(row: MeasuredRun, run: RunLayout) -> float | None:
    """Sequences of a step that the row states, or that follow from its degrees."""
    stated = row.parallelism.get("global_batch_seqs")
    if stated:
        return float(stated)
    return run.batch if "micro_batch_seqs" in row.parallelism else None


def without_stack(case: Case) -> Case:
    """The same run as who does not name the software would ask for it."""
    run: RunLayout = case.inputs
    usual = "full" if run.machine.is_torus else "none"
    blind = run._replace(
        stack=OTHER,
        is_compiled=False,
        is_async_tp=False,
        recompute=usual if "recompute" in run.inferred else run.recompute,
    )
    return case._replace(inputs=blind)


def traits(run: RunLayout) -> dict[str, str]:
    """What a run may be unlike all fitted ones in; a software that nobody names is like any."""
    return {
        "chip": run.machine.generation,
        "software": "" if run.stack == OTHER else run.stack,
        "format": run.precision,
    }


def predict(runs: Layouts, p: Parameters) -> Column:
    """Tokens per second and chip of each run."""
    return tokens_per_second(runs, p)


MODEL = PredictionModel(
    "training_throughput",
    THROUGHPUT,
    PRIORS,
    read,
    predict,
    arrange=Layouts,
    takes_arrays=True,
    traits=traits,
)
