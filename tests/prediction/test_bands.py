"""Bands are wider for runs unlike all that were fitted, and hold what they say they hold."""

from __future__ import annotations

import json

import pytest

from flopbook.cli.app import run
from flopbook.prediction.asking import predict
from flopbook.prediction.asking_serving import predict_serving
from flopbook.prediction.bands import (
    BAND_OF_STRANGERS,
    band_without,
    unlike,
    widest_band,
)
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.left_out import binomial_interval, left_out_coverage

BANDS = {"decode": 1.2, "unlike in chip": 1.5, "unlike in work": 1.1, BAND_OF_STRANGERS: 2.0}
KNOWN = Fitted({}, BANDS, {}, {}, {"chip": ["hopper"], "work": ["decode"]}, {})


@pytest.mark.parametrize(
    ("chip", "work", "band"),
    [
        ("hopper", "decode", 1.2),
        ("tpu", "decode", 1.5),
        ("hopper", "prefill", 1.2),
        ("tpu", "prefill", 2.0),
        ("", "decode", 1.2),
    ],
)
def test_strangers_have_the_widest_of_their_bands(chip: str, work: str, band: float) -> None:
    """What nobody names is like any; several unknown traits are more than the widest of them."""
    assert widest_band(KNOWN, ["decode"], {"chip": chip, "work": work}) == band


def test_a_trait_is_unlike_where_no_fitted_run_has_its_value() -> None:
    assert unlike(KNOWN.seen, {"chip": "tpu", "work": "decode"}) == ("chip",)
    assert unlike(KNOWN.seen, {}) == () and band_without("chip") in BANDS


def test_runs_as_strange_as_left_out_ones_have_the_usual_band() -> None:
    known = KNOWN._replace(usual_strangeness=1)
    assert widest_band(known, ["decode"], {"chip": "tpu", "work": "decode"}) == 1.2
    assert widest_band(known, ["decode"], {"chip": "tpu", "work": "prefill"}) == 2.0


@pytest.mark.parametrize(("trials", "low", "high"), [(20, 12, 19), (80, 57, 71), (269, 202, 228)])
def test_the_interval_of_a_binomial_share(trials: int, low: int, high: int) -> None:
    """Quantiles of the binomial distribution at 2.5 and 97.5 percent, as SciPy's binom.ppf has."""
    assert binomial_interval(trials, 0.8) == (low, high)


def test_bands_hold_what_no_fit_has_seen() -> None:
    """Four fifths or more, as far as so few rows tell; without publications no more either.

    Bands that are raised for later years hold more runs of the same years: there, it is asked of
    them as they are before. A kind that borrows the power of training has too few rows to tell.
    """
    lines = left_out_coverage()
    assert all(line.holds and line.rows >= 20 for line in lines)
    by_publication = {line.kind: line for line in lines if line.left_out == "publication"}
    assert set(by_publication) >= {"training_throughput", "inference"}
    for line in by_publication.values():
        same_years = fitted_kinds()[line.kind].same_years
        assert same_years or line.share <= 0.95, line
        if same_years:
            as_measured = line._replace(**same_years)
            assert line.expected[0] <= as_measured.share <= line.expected[1], line
            assert as_measured.held <= line.held


def test_validation_prints_how_often_bands_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate"]) == 0
    shown = capsys.readouterr().out
    assert "left out of the fit" in shown and "each publication" in shown
    assert run(["validate", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    for line in record["left_out"]:
        assert set(line) == {"kind", "left_out", "n", "coverage", "expected", "holds"}


def ratio(**options: str) -> float:
    found = predict(
        {
            "model": "llama-3-8b",
            "chip": "h100-sxm",
            "chips": "8",
            "batch_tokens": "64Ki",
            "stack": "nemo",
            **options,
        }
    )
    return found.high / found.seconds


def test_a_mixture_and_a_chip_without_runs_are_less_sure() -> None:
    assert ratio() < ratio(model="qwen-3-30b-a3b", chips="16")
    assert ratio() < ratio(chip="gaudi-3")
    bands = fitted_kinds()["training_throughput"].bands
    assert ratio() == pytest.approx(bands["throughput"])


def test_an_engine_without_runs_is_not_surer() -> None:
    asked = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": "1", "answer": "100"}
    known = predict_serving({**asked, "stack": "tensorrt-llm"}).token
    strange = predict_serving({**asked, "stack": "sglang", "chip": "b200", "dtype": "fp4"}).token
    assert strange.high / strange.value > known.high / known.value
