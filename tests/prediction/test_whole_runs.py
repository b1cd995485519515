"""Chip-hours of whole runs: what scales them, and which rows cannot be read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import RunSource
from flopbook.errors import FlopbookError
from flopbook.prediction.fits import cases_of
from flopbook.prediction.whole_runs import MODEL, PRIORS, WholeRun, predict, read

STARTS = {name: prior.start for name, prior in PRIORS.items()}
RUN = WholeRun("hopper", 989e12, 70e9, 15e12, False, 1024.0)
WHOLE = cases_of(MODEL, run_files().values()).cases
factors = st.floats(1.01, 100)


def hours(**changes: Any) -> float:
    return float(predict([RUN._replace(**changes)], STARTS)[0])


@given(factors)
def test_hours_grow_with_tokens_and_shrink_with_the_peak(factor: float) -> None:
    assert hours(tokens=factor * RUN.tokens) == pytest.approx(factor * hours())
    assert hours(peak=factor * RUN.peak) == pytest.approx(hours() / factor)


@given(factors)
def test_larger_models_reach_more_of_the_peak(factor: float) -> None:
    """Twice the parameters take at most twice the hours."""
    larger = hours(active_parameters=factor * RUN.active_parameters)
    assert hours() < larger <= factor * hours()


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
        bound = 6 * RUN.active_parameters * RUN.tokens / RUN.peak / 3600
        assert hours(generation=generation.removeprefix("run_")) > bound


@given(st.lists(st.sampled_from([1e9, 7e9, 70e9, 405e9]), min_size=1, max_size=6))
def test_runs_are_predicted_one_by_one(sizes: list[float]) -> None:
    runs = [RUN._replace(active_parameters=size) for size in sizes]
    together = predict(runs, STARTS)
    assert [float(one) for one in together] == [float(predict([run], STARTS)[0]) for run in runs]


def test_a_row_gives_its_chips_and_hours() -> None:
    for case in WHOLE:
        run = case.inputs
        assert case.measured == case.row.measured["accelerator_hours"] > 0
        assert run.tokens == case.row.measured["tokens"] and run.peak > 1e13
        assert run.is_mixture == (run.active_parameters < case.row.model["n_params"])


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
