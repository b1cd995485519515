"""What a predicted run takes beside time: laws of money, energy and failures."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.hardware.prices import pick_price
from flopbook.planning.question import question_of
from flopbook.prediction.layouts import RunLayout
from flopbook.prediction.spending import FAILURES_KNOWN, Spending, list_price, spending

ASKED = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "16",
    "batch_tokens": "256Ki",
    "seq": "8192",
}
MODEL = "llama-3-8b"
RUN: RunLayout = question_of(ASKED).run
DAY = 24 * 3600.0

seconds = st.floats(0.01, 1000)
prices = st.floats(1e-5, 1e-2)


def known(amount: float | None) -> float:
    assert amount is not None
    return amount


@given(seconds, prices)
def test_a_step_costs_its_time_on_every_chip(length: float, price: float) -> None:
    spent = spending(MODEL, RUN, length, price, None)
    assert spent.cost == pytest.approx(16 * length * price)
    assert spent.run_seconds is None and spent.run_joules is None and spent.run_cost is None


@given(seconds)
def test_energy_is_that_of_the_cluster_without_its_cooling(length: float) -> None:
    cluster = calculate("cluster-power", chip=RUN.machine.chip, chips=16, pue=1, seconds=length)
    joules = known(spending(MODEL, RUN, length, None, None).joules)
    assert joules == pytest.approx(cluster["joules"])
    assert joules >= 16 * length * chip("h100-sxm").power()


@given(seconds, prices, st.floats(1e9, 1e14))
def test_a_run_is_its_steps_and_what_failures_add(
    length: float, price: float, tokens: float
) -> None:
    """Time, energy and money of the run are those of a step, each so many times."""
    spent = spending(MODEL, RUN, length, price, tokens)
    times = known(spent.run_seconds) / length
    assert known(spent.run_joules) / known(spent.joules) == pytest.approx(times)
    assert known(spent.run_cost) / known(spent.cost) == pytest.approx(times)
    steps = math.ceil(tokens / (RUN.batch * RUN.shape.tokens))
    assert times * known(spent.goodput) == pytest.approx(steps)
    assert times >= steps


def test_a_token_more_than_whole_steps_takes_another_step() -> None:
    whole = 10 * RUN.batch * RUN.shape.tokens
    ten, eleven = (
        known(spending(MODEL, RUN, 1.0, None, n).run_seconds) for n in (whole, whole + 1)
    )
    assert eleven / ten == pytest.approx(11 / 10)


@given(st.integers(1, 100_000))
def test_more_chips_fail_more_often(chips: int) -> None:
    few, many = (
        known(spending(MODEL, RUN._replace(chips=float(n)), 1.0, None, None).goodput)
        for n in (chips, 2 * chips)
    )
    assert 0 < many < few <= 1


def test_failures_are_those_of_llama_3_where_a_model_publishes_none() -> None:
    """A model without failures of its own loses what that run lost on as many chips."""
    mtbf = calculate("reliability", model=FAILURES_KNOWN, chips=1)["mtbf"]
    lost = calculate("reliability", model=MODEL, chips=16, chip_mtbf=mtbf)
    assert spending(MODEL, RUN, 1.0, None, None).goodput == pytest.approx(lost["goodput"])
    assert lost["goodput"] > 0.99, "sixteen chips hardly ever fail"


def test_what_is_not_known_is_left_out_of_the_record() -> None:
    spent = spending(MODEL, RUN, 1.0, None, None)
    assert spent.cost is None and set(spent.record()) == {"joules", "goodput"}
    full = spending(MODEL, RUN, 1.0, 1e-3, 1e12).record()
    assert list(full) == list(Spending._fields)
    assert all(value > 0 for value in full.values())
    assert Spending(None, None, None).record() == {}


def test_a_list_price_is_the_one_on_record() -> None:
    price = list_price("h100-sxm", "aws")
    assert price == pick_price(chip("h100-sxm"), "aws").value
    assert 0.5 < price * 3600 < 20, "USD an hour"
    with pytest.raises(FlopbookError):
        list_price("h100-sxm", "nowhere")


def test_a_day_of_a_thousand_chips_costs_what_the_list_says() -> None:
    price = list_price("h100-sxm", "aws")
    run = RUN._replace(chips=1000.0)
    assert spending(MODEL, run, DAY, price, None).cost == pytest.approx(1000 * 24 * 3600 * price)
