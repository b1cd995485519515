"""Measured steps against batch, replicas and degree, and the time of a run against its batch."""

from __future__ import annotations

import itertools

import pytest

from scripts.website.figures import figure_of
from scripts.website.figures.batch_measured import measured, parts
from scripts.website.figures.batch_window import CRITICAL, FLEETS, run_time
from scripts.website.figures.degree_measured import steps
from scripts.website.figures.replicas_measured import SERIES, kept


@pytest.mark.parametrize("chips", FLEETS)
def test_a_run_is_fastest_at_the_minimum_batch_of_its_chips(chips: int) -> None:
    best = run_time(chips, chips)
    assert best == pytest.approx(1 + CRITICAL / chips)
    assert all(run_time(chips * 2.0**power, chips) >= best for power in range(-5, 6))


def test_between_the_ends_the_batch_hardly_matters_on_the_same_chips() -> None:
    """From the minimum to the critical batch the time grows by less than two."""
    assert run_time(CRITICAL, 1) < 2 * run_time(1, 1)
    assert run_time(16 * CRITICAL, 1) > 16 * run_time(1, 1)


def test_more_chips_gain_less_and_less() -> None:
    times = [run_time(chips, chips) for chips in FLEETS]
    gains = [before / after for before, after in itertools.pairwise(times)]
    assert gains == sorted(gains, reverse=True) and max(gains) < 8
    title = figure_of("batch-window").title
    assert all(f"{gain:.1f} times" in title for gain in gains)


def test_measured_steps_are_level_first_and_above_what_reading_takes() -> None:
    steps = measured()
    assert [batch for batch, _ in steps] == [1, 8, 32, 128]
    assert all(time > max(parts(batch)) for batch, time in steps)
    (_, alone), *_, (many, last) = steps
    assert last < 3 * alone < many * alone


@pytest.mark.parametrize("name", SERIES)
def test_a_gpu_keeps_less_with_every_replica_more(name: str) -> None:
    shares = [one.share for one in kept(name)]
    assert shares[0] == 1 and shares == sorted(shares, reverse=True) and shares[-1] > 0.8
    assert kept(name)[-1].growth == 4


def test_the_chapter_says_what_the_two_stacks_kept() -> None:
    assert round(100 * kept("MegaScale")[-1].share) == 90
    assert round(100 * kept("Megatron-LM")[-1].share) == 84


def test_steps_get_longer_with_the_degree_and_jump_where_it_leaves_the_node() -> None:
    times = steps()
    assert list(times) == [1, 2, 4, 8, 16]
    assert list(times.values()) == sorted(times.values())
    assert times[16] / times[8] > 2 > times[8] / times[1]
    assert figure_of("degree-measured").narrow
