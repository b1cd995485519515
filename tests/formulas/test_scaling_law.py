"""Scaling laws: the optimum is one, and the published fits say what their papers say."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate
from flopbook.errors import FlopbookError
from flopbook.formulas import scaling_law
from flopbook.formulas.scaling import FITS, another_fit

CHINCHILLA = 5.76e23  # compute of Chinchilla and Gopher, hoffmann2022training
# The loss surfaces as printed, written a second time: E, A, B, alpha, beta.
SURFACES = {
    "besiroglu2024": (1.8172, 482.01, 2085.43, 0.3478, 0.3658),
    "hoffmann2022": (1.6934, 406.4, 410.7, 0.3392, 0.2849),
    "hoffmann2022-rounded": (1.69, 406.4, 410.7, 0.34, 0.28),
}
budgets = st.floats(min_value=1e18, max_value=1e27)


def surface(fit: str) -> Callable[[float, float], float]:
    low, a, b, alpha, beta = SURFACES[fit]
    return lambda n, t: low + a / n**alpha + b / t**beta


@given(budgets, st.sampled_from(FITS))
def test_the_budget_is_spent(flop: float, fit: str) -> None:
    out = scaling_law(flop=flop, fit=fit)
    assert 6 * out["params"] * out["tokens"] == pytest.approx(flop, rel=1e-9)
    assert out["tokens_per_param"] == pytest.approx(out["tokens"] / out["params"])


@given(budgets, st.sampled_from(list(SURFACES)), st.floats(min_value=0.5, max_value=2))
def test_no_other_split_of_the_budget_is_better(flop: float, fit: str, change: float) -> None:
    out, loss = scaling_law(flop=flop, fit=fit), surface(fit)
    assert out["loss"] == pytest.approx(loss(out["params"], out["tokens"]), rel=1e-12)
    assert out["loss"] <= loss(out["params"] * change, out["tokens"] / change) + 1e-12


@given(budgets, st.sampled_from(FITS), st.floats(min_value=1.1, max_value=100))
def test_more_compute_means_more_of_both_and_less_loss(
    flop: float, fit: str, factor: float
) -> None:
    base, more = scaling_law(flop=flop, fit=fit), scaling_law(flop=factor * flop, fit=fit)
    assert more["params"] > base["params"] and more["tokens"] > base["tokens"]
    assert more["loss"] < base["loss"] or fit == "kaplan2020"  # which gives sizes only


@pytest.mark.parametrize(
    ("fit", "power"),
    [
        ("besiroglu2024", 0.5126),
        ("hoffmann2022", 0.4565),
        ("hoffmann2022-rounded", 0.4516),
        ("kaplan2020", 0.73),
    ],
)
def test_the_exponent_of_the_size(fit: str, power: float) -> None:
    """beta/(alpha + beta): 0.46 hoffmann2022training, 0.513 besiroglu2024chinchilla.

    0.73 kaplan2020scaling.
    """
    small, large = (
        scaling_law(flop=1e20, fit=fit)["params"],
        scaling_law(flop=1e24, fit=fit)["params"],
    )
    assert math.log(large / small) / math.log(1e4) == pytest.approx(power, abs=1e-4)


def test_the_refit_agrees_with_twenty_tokens_for_each_parameter() -> None:
    """besiroglu2024chinchilla: at Chinchilla's compute 18 tokens for each parameter.

    Rounded constants say 93.
    """
    assert scaling_law(flop=CHINCHILLA)["tokens_per_param"] == pytest.approx(18, rel=0.03)
    rounded = scaling_law(flop=CHINCHILLA, fit="hoffmann2022-rounded")["tokens_per_param"]
    assert rounded == pytest.approx(93, rel=0.01)


def test_chinchilla_itself() -> None:
    """hoffmann2022training trained 70 billion parameters on 1.4 trillion tokens.

    The refit lies within 6 percent.
    """
    out = scaling_law(flop=CHINCHILLA)
    assert out["params"] == pytest.approx(70e9, rel=0.06) and out["tokens"] == pytest.approx(
        1.4e12, rel=0.06
    )


def test_kaplan_at_one_pf_day() -> None:
    """kaplan2020scaling, summary tables: 1.3e9 parameters at one PF-day.

    Its loss is left open, as the answer says.
    """
    out = calculate("scaling-law", flop=8.64e19, fit="kaplan2020")
    assert out["params"] == pytest.approx(1.3e9)
    assert out.as_json()["outputs"]["loss"]["value"] is None and "only the best size" in " ".join(
        out.notes
    )


def test_kaplan_as_the_chinchilla_paper_reads_it() -> None:
    """hoffmann2022training, Appendix D.4: 4.68 billion at 1e21 FLOP.

    That is Kaplan's fit at half of that compute.
    """
    assert scaling_law(flop=1e21 / 2, fit="kaplan2020")["params"] == pytest.approx(4.68e9, rel=2e-3)
    whole = scaling_law(flop=1e21, fit="kaplan2020")["params"]
    assert 1 - 4.68e9 / whole == pytest.approx(0.4, abs=0.01)


def test_the_fit_is_named_in_any_case_and_its_source_is_given() -> None:
    result = calculate("scaling-law", flop="1e24", fit="BESIROGLU2024")
    assert (
        "besiroglu2024chinchilla" in result.sources
        and result.inputs["fit"].value == "besiroglu2024"
    )


@pytest.mark.parametrize("fit", FITS)
def test_arrays_equal_floats(fit: str) -> None:
    """NumPy and Python may round the last bit of a power differently."""
    flops = np.logspace(18, 26, 9)
    arrays = scaling_law(flop=flops, fit=fit)
    for i, flop in enumerate(flops):
        assert {n: v[i] for n, v in arrays.items()} == pytest.approx(
            scaling_law(flop=float(flop), fit=fit), rel=1e-14
        )


@pytest.mark.parametrize("flop", [0, -1e20, 1e11, 1e41, float("nan"), float("inf"), "1e24", None])
def test_budgets_out_of_range_are_refused(flop: object) -> None:
    with pytest.raises(FlopbookError, match=r"^flop "):
        scaling_law(flop=flop)


def test_an_unknown_fit_offers_the_nearest() -> None:
    with pytest.raises(FlopbookError, match="besiroglu2024"):
        scaling_law(flop=1e24, fit="besiroglu")


@pytest.mark.parametrize(
    ("fit", "other"),
    [
        ("besiroglu2024", "hoffmann2022"),
        ("hoffmann2022", "besiroglu2024"),
        ("hoffmann2022-rounded", "besiroglu2024"),
        ("kaplan2020", "besiroglu2024"),
    ],
)
def test_the_note_is_the_best_size_of_another_fit(fit: str, other: str) -> None:
    for flop in (1e18, 5.76e23, 1e27):
        here, there = (scaling_law(flop=flop, fit=each)["params"] for each in (fit, other))
        share = another_fit.value({"flop": flop, "fit": fit, "params": here})
        assert here * (1 + share) == pytest.approx(there)
    told = calculate("scaling-law", flop=1e27, fit=fit).omitted
    assert next(iter(told)) == "another_fit"


def test_the_critical_batch_halves_the_compute_that_counts() -> None:
    """kaplan2020scaling: at the critical batch a run costs twice the least compute."""
    kaplan = calculate("scaling-law", flop=1e23, fit="kaplan2020")
    half = calculate("scaling-law", flop=0.5e23, fit="kaplan2020")
    told = kaplan.omitted["critical_batch"].share
    assert kaplan["params"] * (1 + told) == pytest.approx(half["params"])
    assert "critical_batch" not in calculate("scaling-law", flop=1e23).omitted
