"""Bands are as wide as younger runs ask for, judged on rows that may be fitted alone."""

from __future__ import annotations

import numpy as np
import pytest

from flopbook.data.measured_runs import run_files
from flopbook.prediction.bands import BAND_OF_PARTIAL_ROWS, BAND_OF_STRANGERS, band_without
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.models import Case, PredictionModel, PrintedAs
from flopbook.prediction.parameters import Prior
from scripts.fit import _power_of_years
from scripts.fit_bands import NOTHING, LeftOut, power_of_unseen, raised
from scripts.fit_years import LEAST_SOURCES, powers_of_years

ROW = next(row for file in run_files().values() for row in file.rows if row.complete)
RATE = PrintedAs("rate", "1")
MODEL = PredictionModel(
    "rate",
    RATE,
    {"factor": Prior(1.0, 3.0, "what all have in common")},
    read=lambda row, source: Case(row, 1.0, 1.0),
    predict=lambda sizes, p: np.array([p["factor"] * size for size in sizes]),
)
YEARS = range(2020, 2026)


def cases(drift: float, sources: int = 8) -> list[Case]:
    """Three rows of some sources a year, whose rates lie off by more the later they are."""
    rng = np.random.default_rng(2)
    made = []
    for year in YEARS:
        for place in range(sources):
            row = ROW._replace(publication=f"{year} {place}", flags=(), complete=True)
            error = 0.1 * rng.standard_normal() + drift * (year - YEARS[0]) * (-1) ** place
            made += [Case(row, 1.0, float(np.exp(error + 0.01 * step))) for step in range(3)]
    return made


def year_of(case: Case) -> int:
    return int(case.source[:4])


def test_runs_that_lie_off_by_more_each_year_widen_a_band() -> None:
    steady, drifting = (powers_of_years(MODEL, cases(drift), year_of) for drift in (0.0, 0.1))
    assert steady["rate"] < 1.2 and drifting["rate"] > 1.5
    assert steady[""] == steady["rate"]


def test_too_few_sources_tell_nothing() -> None:
    few = cases(0.3, sources=1)[: 3 * (LEAST_SOURCES - 1)]
    assert powers_of_years(MODEL, few, year_of) == {}


def test_the_last_year_judges_none_and_is_judged_by_the_others() -> None:
    """Without years in which to stand nothing is younger than what was fitted."""
    assert powers_of_years(MODEL, cases(0.3), lambda case: 2026) == {}


def test_serving_and_products_move_on_as_training_does() -> None:
    """They have too few sources of any year to tell; a copy of memory has no software that does."""
    known = fitted_kinds()
    assert known["training_throughput"].years["throughput"] > 1
    assert not known["inference"].years and not known["matmul_peak"].years
    trained = Fitted(**{**NOTHING, "bands": {}, "seen": {}, "years": {"throughput": 1.25}})
    for kind, power in (("inference", 1.25), ("matmul_peak", 1.25), ("hbm_bandwidth", 1.0)):
        assert _power_of_years(MODELS[kind], trained) == power


def test_only_bands_of_quantities_are_raised() -> None:
    bands = {"": 1.2, "rate": 1.1, band_without("chip"): 1.5, BAND_OF_STRANGERS: 2.0}
    wider = raised({**bands, BAND_OF_PARTIAL_ROWS: 1.7}, {"": 2.0, "rate": 3.0})
    assert wider == {**bands, BAND_OF_PARTIAL_ROWS: 1.7, "": 1.44, "rate": 1.331}


@pytest.mark.parametrize(("seen", "unseen", "power"), [(0.1, 0.15, 1.5), (0.2, 0.1, 1.0)])
def test_unseen_errors_say_how_far_fitted_ones_flatter(
    seen: float, unseen: float, power: float
) -> None:
    groups = ("a", "b", "c")
    fitted_errors, left_out = (
        LeftOut(groups, np.expm1(np.full(3, size))) for size in (seen, unseen)
    )
    assert power_of_unseen(fitted_errors, left_out) == pytest.approx(power, rel=1e-3)


def test_memory_is_as_sure_as_unseen_sources_of_training_let_it_be() -> None:
    """Wider than what its own rows need, which were read; narrower than that of partial rows."""
    known = fitted_kinds()["training_memory"]
    assert 1.2 < known.bands["memory"] < 1.3 < known.bands[BAND_OF_PARTIAL_ROWS]


def test_left_out_sources_of_training_are_held_as_promised() -> None:
    known = fitted_kinds()["training_throughput"]
    raised_ones, as_measured = known.coverage["publication"], known.same_years
    assert 0.75 <= as_measured["held"] / as_measured["rows"] <= 0.85
    # Those of later years are what bands are raised for.
    assert as_measured["held"] <= raised_ones["held"] <= 0.9 * raised_ones["rows"]
