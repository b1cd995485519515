"""Failures of a run: the best interval is best, and more chips fail more often.

The shares agree with a run that is played through, and what was counted comes back.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.shape import shape
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import reliability
from flopbook.formulas.failures import failures_in_lost_time

SECONDS = st.floats(1, 1e6)
DAY = 86400.0
RUN: dict[str, Any] = {"chips": 1000, "chip_mtbf": 1e7, "save": 30}


@given(SECONDS, SECONDS, st.floats(0.5, 2))
def test_no_interval_is_better_than_the_best(mtbf: float, save: float, factor: float) -> None:
    """As long as the first order holds at all."""
    run = {"chips": 1, "chip_mtbf": mtbf, "save": save}
    best = reliability(**run)
    beside = reliability(**run, interval=factor * best["best_interval"])
    assert beside["lost"] >= best["lost"] * (1 - 1e-12)
    assert beside["best_interval"] == best["best_interval"]


@given(SECONDS, SECONDS)
def test_at_the_best_interval_saving_and_repeating_cost_the_same(mtbf: float, save: float) -> None:
    run = reliability(chips=1, chip_mtbf=mtbf, save=save)
    assert run["saving"] == pytest.approx(run["repeating"])


@given(SECONDS, st.integers(1, 10**6), SECONDS, st.floats(0, 1e4))
def test_shares_add_up_to_the_whole(
    chip_mtbf: float, chips: int, save: float, restart: float
) -> None:
    run = reliability(chip_mtbf=chip_mtbf, chips=chips, save=save, restart=max(restart, 1e-9))
    lost = run["saving"] + run["repeating"] + run["restarting"]
    assert run["lost"] == min(lost, 1)
    assert run["goodput"] == 1 - run["lost"] >= 0
    assert run["failures_per_hour"] * run["mtbf"] == pytest.approx(3600)


def test_the_run_of_llama_3() -> None:
    """419 unexpected interruptions in 54 days on 16,384 chips (llamateam2024herd, Section 3.3.4):
    one in 3.1 hours, and a chip that fails once in six years.
    """
    run = calculate("reliability", model="llama-3-405b", chips=16384, save=30)
    assert run["mtbf"] == pytest.approx(54 * DAY / 419)
    assert run["mtbf"] / 3600 == pytest.approx(3.09, abs=0.01)
    assert run.inputs["chip_mtbf"].source == "llamateam2024herd"
    twice = calculate("reliability", model="llama-3-405b", chips=2 * 16384, save=30)
    assert twice["mtbf"] == pytest.approx(run["mtbf"] / 2)


def test_the_recorded_time_between_failures_follows_from_what_was_counted() -> None:
    llama = shape("llama-3-405b")
    assert llama.observed_hours == 54 * DAY and llama.interruptions == 419
    alone = llama.observed_hours * llama.chips / llama.interruptions
    assert llama.chip_mtbf == pytest.approx(alone, rel=1e-8)


def test_an_interval_by_hand() -> None:
    """Ten seconds in a hundred are saving; of a thousand, fifty are repeated and fifty restart."""
    run = reliability(chips=10, chip_mtbf=1e4, save=10, restart=50, interval=100)
    shares = [run[name] for name in ("saving", "repeating", "restarting", "lost", "goodput")]
    assert shares == pytest.approx([0.1, 0.05, 0.05, 0.2, 0.8])
    assert reliability(chips=10, chip_mtbf=1e4, save=20)["best_interval"] == 200


def test_what_is_lost_has_an_end() -> None:
    run = reliability(chips=1, chip_mtbf=1, save=100, interval=1)
    assert (run["lost"], run["goodput"]) == (1.0, 0.0)


def exact_loss(interval: float, save: float) -> float:
    """The share lost where failures come at random and may strike while saving.

    Failures come once in a time of 1 on average: an attempt that takes x and is begun again until
    it succeeds takes e^x - 1 (daly2006higher).
    """
    return 1 - interval / math.expm1(interval + save)


def best_exact_interval(save: float) -> float:
    """Where the exact loss is least, by bisection of its derivative: -t - ln(1 - t) = save."""
    low, high = 0.0, 1 - 1e-12
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if -middle - math.log1p(-middle) < save else (low, middle)
    return low


@pytest.mark.parametrize(
    ("save", "shorter", "counted", "true"),
    [(1 / 400, 0.023, 0.0707, 0.069), (1 / 50, 0.066, 0.2, 0.187)],
)
def test_the_text_says_how_large_the_higher_orders_are(
    save: float, shorter: float, counted: float, true: float
) -> None:
    """Of the two times between failures and saving that the docstring names."""
    young, exact = math.sqrt(2 * save), best_exact_interval(save)
    run = reliability(chips=1, chip_mtbf=1, save=save, restart=0)
    assert run["best_interval"] == young
    assert 1 - exact / young == pytest.approx(shorter, abs=6e-4)
    assert (young - exact) / save == pytest.approx(2 / 3, abs=0.02)
    assert run["lost"] == pytest.approx(counted, abs=1e-4)
    assert exact_loss(young, save) == pytest.approx(true, abs=4e-4)
    assert 0 <= exact_loss(young, save) - exact_loss(exact, save) < 1e-3


def test_a_run_that_is_played_through_loses_what_is_said() -> None:
    """Random failures, every step of the bookkeeping done one by one; S / T is 1/400."""
    random_ = random.Random(8)
    mtbf, save, interval = 400.0, 1.0, 28.0
    clock, useful, failure = 0.0, 0.0, random_.expovariate(1 / mtbf)
    while useful < 1e6:
        finish = clock + interval + save
        if finish <= failure:
            clock, useful = finish, useful + interval
            continue
        clock = failure
        failure += random_.expovariate(1 / mtbf)
    run = reliability(chips=1, chip_mtbf=mtbf, save=save, restart=0, interval=interval)
    assert run["goodput"] == pytest.approx(useful / clock, abs=0.005)


def test_arrays_equal_floats() -> None:
    intervals = np.array([100.0, 800.0, 1e5])
    curve = reliability(**RUN, interval=intervals)
    for name, column in curve.items():
        single = [reliability(**RUN, interval=x)[name] for x in intervals.tolist()]
        assert np.broadcast_to(column, 3).tolist() == single, name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"chips": 0}, "chips is 0, expected at least 1"),
        ({"chips": 1.5}, "expected a whole number"),
        ({"chip_mtbf": -1}, "chip_mtbf is -1, expected more than 0"),
        ({"storage": 0}, "storage is 0, expected more than 0"),
        ({"state_per_param": 1e9}, "not a plausible size"),
        ({"save": -1}, "save is -1, expected more than 0"),
        ({"interval": 0}, "interval is 0, expected more than 0"),
        ({"restart": -1}, "restart is -1, expected more than 0"),
        ({"save": math.nan}, "save is not a number"),
    ],
)
def test_refused_values_say_what_was_expected(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        reliability(**{**RUN, **wrong})


def test_the_failures_of_llama_3_are_counted_where_nothing_is_known() -> None:
    """419 interruptions in 54 days on 16,384 chips, once in 50,677 hours of a chip
    (llamateam2024herd); less than 10 minutes until training goes on (jiang2024megascale).
    """
    run = calculate("reliability", chips=16384, save=30)
    assert run["mtbf"] == pytest.approx(54 * DAY / 419, rel=1e-5)
    assert run["restarting"] == pytest.approx(600 / run["mtbf"])
    assert run.inputs["chip_mtbf"].origin == run.inputs["restart"].origin == "default"
    other = calculate("reliability", model="llama-3-8b", chips=16384, save=30)
    assert other["mtbf"] == run["mtbf"]


def test_a_checkpoint_takes_as_long_as_its_state_is_large() -> None:
    """12 bytes for each of 405e9 parameters at 2 TB/s: 2.4 s on all 16,384 chips."""
    run = calculate("reliability", model="llama-3-405b", chips=16384)
    pause = 12 * run.inputs["params"].value / 2e12
    assert run["best_interval"] == pytest.approx(math.sqrt(2 * run["mtbf"] * pause))
    assert run["saving"] == pytest.approx(pause / run["best_interval"])
    # Half the chips write half as fast, and twice the bandwidth halves the time again.
    half = calculate("reliability", model="llama-3-405b", chips=8192)
    assert half["best_interval"] == pytest.approx(2 * run["best_interval"])
    fast = calculate("reliability", model="llama-3-405b", chips=16384, storage=2 * 2e12 / 16384)
    assert fast["saving"] == pytest.approx(run["saving"] / math.sqrt(2))
    given = calculate("reliability", model="llama-3-405b", chips=16384, save=pause)
    assert given["lost"] == pytest.approx(run["lost"])


def test_a_checkpoint_of_an_unknown_model_needs_its_time() -> None:
    with pytest.raises(FlopbookError, match=r"give --params or --model, or the time with --save"):
        reliability(chips=8)


def test_without_failures_only_saving_costs() -> None:
    run = reliability(chips=1000, chip_mtbf=0, save=30)
    assert (run["mtbf"], run["lost"], run["goodput"]) == (math.inf, 0, 1)
    every_hour = reliability(chips=1000, chip_mtbf=0, save=36, interval=3600)
    assert every_hour["lost"] == every_hour["saving"] == 0.01
    assert calculate("reliability", chips=1000, chip_mtbf=0, save=30).omitted == {}


def test_research_clusters_fail_more_often() -> None:
    """1,024 chips run 7.9 hours between failures (kokolis2025revisiting), a sixth of Llama 3's."""
    chip_mtbf = 1024 * 7.9 * 3600
    assert reliability(chips=1024, chip_mtbf=chip_mtbf, save=1)["mtbf"] == pytest.approx(7.9 * 3600)
    usual = calculate("reliability", chips=8192, save=30)
    worse = calculate("reliability", chips=8192, save=30, chip_mtbf=chip_mtbf)
    share = usual.omitted["failure_rate"].share
    assert usual["goodput"] * (1 + share) == pytest.approx(worse["goodput"])
    assert "failure_rate" not in worse.omitted


@given(st.floats(1e-4, 0.6), st.floats(1e-3, 2))
def test_the_size_of_higher_orders_is_that_of_the_exact_model(save: float, restart: float) -> None:
    """Within two hundredths of the time lost: an attempt that takes x is begun until it holds."""
    run = reliability(chips=1, chip_mtbf=1, save=save, restart=restart)
    period = run["best_interval"]
    exact = 1 - period / (math.expm1(period + save) * math.exp(restart))
    share = failures_in_lost_time.value(run)
    assert run["lost"] * (1 + share) == pytest.approx(exact, abs=0.02)


@given(st.floats(0.01, 20), st.floats(1e-3, 2))
def test_higher_orders_never_give_back_what_longer_saving_loses(
    save: float, restart: float
) -> None:
    """However long saving takes against the time between failures."""
    lost = []
    for longer in (1, 1.5, 4):
        run = reliability(chips=1, chip_mtbf=1, save=longer * save, restart=restart, interval=1.0)
        lost.append(run["lost"] * (1 + failures_in_lost_time.value(run)))
    assert lost == sorted(lost)
