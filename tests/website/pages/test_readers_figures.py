"""Figures that readers of the handbook asked for: each says what its numbers say."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import (
    loop_times,
    rollout_measured,
    serving_promises,
    step_budget,
    two_batches,
)
from scripts.website.figures.origins import source_line


def test_the_four_layouts_of_the_choice_are_those_of_its_table() -> None:
    """Seconds of the table in the chapter: 8.3, 9.3, 14 and 21."""
    rows = step_budget.budgets("choice")
    assert [round(row.seconds, 1) for row in rows] == [8.3, 9.3, 14.0, 21.2]
    assert rows[1].kinds["waiting"] > 4 * rows[0].kinds["waiting"]
    assert rows[2].kinds["products"] > 1.3 * rows[0].kinds["products"]
    worst = step_budget.figure("choice").title
    assert "takes 2.6 times as long" in worst and "of the difference is in messages" in worst


def test_a_loop_that_waits_for_itself_does_not_notice_the_memory() -> None:
    for loop in ("whole", "fractions"):
        near, *_, far = (time for _, time in loop_times.times(loop))
        assert far < 1.05 * near
    fast = [time for _, time in loop_times.times("eight")]
    assert fast == sorted(fast) and fast[-1] > 6 * fast[0]
    assert loop_times.gain(0) == pytest.approx(14.7, abs=0.1)
    assert loop_times.gain(-1) == pytest.approx(2.4, abs=0.05)


def test_what_was_timed_here_names_the_machine() -> None:
    path = Path(loop_times.__file__)
    assert source_line(path).text.startswith("Source: timed here; AMD")


def test_the_jobs_of_a_measured_step_add_up() -> None:
    """Nothing is negative: what is stated of a step is no more than the step."""
    for row in rollout_measured.steps():
        assert sum(row.jobs.values()) == pytest.approx(row.seconds)
        assert all(time > 0 for time in row.jobs.values())
    assert "113 s against 114 s" in rollout_measured.figure().title


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_a_simulated_server_keeps_its_iteration(rate: float) -> None:
    """And no first token comes before its prompt is read."""
    kept = serving_promises.simulated(rate, 400)
    assert kept.pace <= serving_promises.ITERATION + 1e-9
    prompt = serving_promises.costs().prompt_token * serving_promises.PROMPT
    assert kept.first > prompt


def test_the_first_token_breaks_and_the_pace_does_not() -> None:
    """Full when prompts and steps of its load fill the time: near 2.5 requests a second."""
    cost, limit = serving_promises.costs(), serving_promises.ITERATION
    prompt = cost.prompt_token * serving_promises.PROMPT
    written = serving_promises.ANSWER * limit * cost.sequence
    full = (limit - cost.step) / (limit * prompt + written)
    assert full == pytest.approx(serving_promises.full()) == pytest.approx(2.48, abs=0.05)
    slow, *_, fast = serving_promises.curve()
    assert slow.first < serving_promises.FIRST < fast.first / 10
    assert serving_promises.sold() < full
    busy = next(kept for kept in serving_promises.curve() if kept.rate == 2.0)
    assert 3 < busy.first < 5  # as the chapter says of its worked example


def test_the_exchange_of_a_layer_is_that_of_the_example() -> None:
    """1.72 of 3.37 microseconds, 51 percent, as the chapter computes."""
    times = two_batches.layer_times()
    exchange, arithmetic = times["D"] + times["C"], times["A"] + times["E"]
    assert exchange == pytest.approx(0.75 * 4 * 4 * 7168 / 50e9)
    scores, experts = 2 * (192 + 128) * 128 * 4096 / 2, 6 * 7168 * 2048 * 9
    projections = 2 * calculate("params", model="deepseek-v3")["attention"] / 61
    rate = 0.4 * chip("h800-sxm").peak("bf16")
    assert arithmetic == pytest.approx((projections + scores + experts) / rate)
    assert exchange / arithmetic == pytest.approx(0.51, abs=0.005)


@pytest.mark.parametrize("parts", [1, 2])
def test_no_lane_does_two_things_at_once(parts: int) -> None:
    bars = two_batches.schedule(parts)
    total = sum(bar.end - bar.start for bar in bars)
    assert total == pytest.approx(two_batches.LAYERS * sum(two_batches.layer_times().values()))
    for lane in (0, 1):
        times = sorted((bar.start, bar.end) for bar in bars if bar.lane == lane)
        assert all(end <= start + 1e-15 for (_, end), (start, _) in itertools.pairwise(times))


def test_a_half_waits_for_its_own_exchange() -> None:
    """The experts of a half begin after its dispatch, its next layer after its combine."""
    bars = [bar for bar in two_batches.schedule(2) if bar.text.endswith("1")]
    assert all(one.end <= other.start + 1e-15 for one, other in itertools.pairwise(bars))
    assert [bar.text[0] for bar in bars] == list("ADEC" * two_batches.LAYERS)
