"""What calibration is worth is measured on rows that neither the fit nor the calibration saw."""

from __future__ import annotations

import json

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import cases_of
from flopbook.prediction.fitted import fitted_kinds
from scripts.fit_calibration import SourceErrors, calibrated_sources, summary
from scripts.fit_moves import with_short_rows

KIND = "inference"


def test_the_committed_errors_are_those_of_left_out_sources() -> None:
    model, known = MODELS[KIND], fitted_kinds()[KIND]
    cases = cases_of(model, run_files().values(), use="fit").cases
    found = summary(calibrated_sources(model, cases, known))
    assert found == pytest.approx(dict(known.calibrated), abs=0.005)


@pytest.mark.parametrize("kind", ["training_throughput", "inference"])
def test_left_out_sources_gain_by_three_runs(kind: str) -> None:
    found = fitted_kinds()[kind].calibrated
    assert found["after"] < 0.85 * found["before"]
    assert found["mean_after"] < 0.9 * found["mean_before"]
    assert found["gain"] > found["sources"] / 2
    assert 0.7 < found["held"] < 0.9


def test_few_sources_say_nothing() -> None:
    one = SourceErrors("acme", 9, 0.1, 0.05, 0.2, 0.1, 0.8)
    assert summary([one] * 4) == {}
    assert summary([one] * 5)["gain"] == 5


def test_lists_of_numbers_are_a_line_each() -> None:
    found = {"a": [1.5, -2e-5], "b": ["1", "x"], "c": {"d": [0.0]}}
    text = with_short_rows(json.dumps(found, indent=1))
    assert json.loads(text) == found
    assert "[ 1.5, -2e-05 ]" in text
