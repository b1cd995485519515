"""Chip-hours of whole runs: what scales them, and which rows cannot be read."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.prediction.fits import cases_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.models import Case
from flopbook.prediction.named_models import MODEL_SHAPE
from flopbook.prediction.whole_runs import (
    BY_UNKNOWN,
    MODEL,
    PRIORS,
    SHOWN,
    WholeRun,
    predict,
    read,
    without_recompute,
)

STARTS = {name: prior.start for name, prior in PRIORS.items()}
RUN = WholeRun("hopper", 989e12, 6 * 70e9, 15e12, 8192.0, False, 1024.0)
WHOLE = cases_of(MODEL, run_files().values()).cases
factors = st.floats(1.01, 100)


def hours(**changes: Any) -> float:
    return float(predict([RUN._replace(**changes)], STARTS)[0])


@given(factors)
def test_hours_grow_with_tokens_and_shrink_with_the_peak(factor: float) -> None:
    assert hours(tokens=factor * RUN.tokens) == pytest.approx(factor * hours())
    assert hours(peak=factor * RUN.peak) == pytest.approx(hours() / factor)


@given(factors)
def test_wider_models_reach_more_of_the_peak(factor: float) -> None:
    assert hours(width=factor * RUN.width) < hours() < factor * hours(width=factor * RUN.width)


@given(factors)
def test_chips_that_multiply_faster_than_they_read_need_wider_models(factor: float) -> None:
    wider = RUN._replace(ridge=factor * RUN.ridge, width=factor * RUN.width)
    assert hours(ridge=factor * RUN.ridge) > hours()
    assert float(predict([wider], STARTS)[0]) == pytest.approx(hours())


def test_what_is_computed_again_is_a_forward_pass() -> None:
    assert hours(recomputes=True) == pytest.approx(4 / 3 * hours())


@given(factors)
def test_many_chips_take_more_hours_in_all(factor: float) -> None:
    many, few = hours(chips=factor * RUN.chips), hours()
    assert few < many
    beyond = STARTS["many"] * (factor - 1) * RUN.chips / 10_000
    assert many / few - 1 == pytest.approx(beyond / (1 + STARTS["many"] * RUN.chips / 10_000))


def test_a_mixture_reaches_a_smaller_share() -> None:
    assert hours(is_mixture=True) * STARTS["mixture"] == pytest.approx(hours())


def test_a_run_in_8_bits_takes_fewer_hours() -> None:
    assert hours(is_narrow=True) * STARTS["narrow"] == pytest.approx(hours())


def test_a_benchmark_loses_nothing_to_failures() -> None:
    assert hours(is_benchmark=True) == pytest.approx(hours() * STARTS["goodput"])
    benchmarks = {case.source for case in WHOLE if case.inputs.is_benchmark}
    assert benchmarks and all(name.startswith("mlperf") for name in benchmarks)


def test_runs_of_mlperf_on_hopper_are_in_8_bits() -> None:
    """Their steps in the same source are; a run that names its format is in that."""
    narrow = {case.source for case in WHOLE if case.inputs.is_narrow}
    assert "mlperf-train-v5.0" in narrow and "pythia2023" not in narrow


def test_no_run_is_faster_than_its_peak() -> None:
    """Six operations for a weight and a token, all at the peak, are a bound."""
    for generation in STARTS:
        if not generation.startswith("run_"):
            continue
        bound = RUN.flop_per_token * RUN.tokens / RUN.peak / 3600
        assert hours(generation=generation.removeprefix("run_")) > bound


@given(st.lists(st.sampled_from([1e9, 7e9, 70e9, 405e9]), min_size=1, max_size=6))
def test_runs_are_predicted_one_by_one(sizes: list[float]) -> None:
    runs = [RUN._replace(flop_per_token=6 * size) for size in sizes]
    together = predict(runs, STARTS)
    assert [float(one) for one in together] == [float(predict([run], STARTS)[0]) for run in runs]


def test_a_row_gives_its_chips_and_hours() -> None:
    for case in WHOLE:
        run = case.inputs
        assert case.measured == case.row.measured["accelerator_hours"] > 0
        assert run.tokens == case.row.measured["tokens"] and run.peak > 1e13
        model = case.row.model
        assert run.is_mixture == (model.get("n_active_params", math.inf) < model["n_params"])


def case_of(year: int = 2024, said: str | None = None, **model: Any) -> Case:
    """A run of which a source says little."""
    run = {"recompute": said} if said else {}
    row = MeasuredRun(
        id="run",
        kind="whole_run",
        publication="acme",
        where="",
        measured={"accelerator_hours": 1e6, "tokens": 1e12},
        hardware={"chip": "A100-SXM-80GB", "n_chips": 1024},
        model={"n_params": 70e9, **model},
        run=run,
    )
    return read(row, RunSource(year=year))


@pytest.mark.parametrize(
    ("year", "said", "recomputes"),
    [
        (2021, None, True),  # scores were too many to keep
        (2024, None, False),
        (0, None, False),  # who gives no year asks for today
        (2021, "none", False),
        (2024, "full", True),
        (2024, "selective", False),
    ],
)
def test_what_a_run_computes_again_is_said_or_follows_its_year(
    year: int, said: str | None, recomputes: bool
) -> None:
    case = case_of(year, said)
    assert case.inputs.recomputes == recomputes
    assert ("recompute" in case.inferred) == (said is None)
    assert case.shown == (BY_UNKNOWN if said is None else SHOWN)


def test_a_band_is_wider_where_nothing_says_what_is_computed_again() -> None:
    bands = fitted_kinds()["whole_run"].bands
    assert bands[BY_UNKNOWN.band] > bands[SHOWN.quantity]
    assert not without_recompute(case_of(said="full"), RunSource(year=2024)).inputs.recomputes


def test_a_shape_tells_the_width_and_what_attention_adds() -> None:
    """By name or by sizes; a row without either has the width of usual models of its size."""
    named, bare = case_of(name="llama-2-70b", seq_len_tokens=4096), case_of()
    stated = case_of(n_layers=80, d_model=8192, n_heads=64, n_kv_heads=8, vocab_size=32000)
    assert MODEL_SHAPE in named.inferred and MODEL_SHAPE not in stated.inferred
    assert named.inputs.width == stated.inputs.width == 8192
    assert bare.inputs.width == pytest.approx(8192, rel=0.05)
    assert bare.inputs.flop_per_token == 6 * 70e9
    scores = 6 * 80 * 8192 * 2048
    assert stated.inputs.flop_per_token == 6 * (70e9 - 8192 * 32000) + scores


@pytest.mark.parametrize(
    ("part", "missing", "message"),
    [
        ("model", "n_params", "parameters or tokens are not given"),
        ("measured", "tokens", "parameters or tokens are not given"),
        ("measured", "accelerator_hours", "the hours of all chips are not given"),
    ],
)
def test_a_row_without_what_is_needed_is_refused(part: str, missing: str, message: str) -> None:
    row = WHOLE[0].row
    kept = {name: value for name, value in getattr(row, part).items() if name != missing}
    with pytest.raises(FlopbookError, match=message):
        read(row._replace(**{part: kept}), RunSource())
