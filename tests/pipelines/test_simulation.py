"""Schedules run pass by pass.

Each equals its closed form, no pass is lost, nothing runs before what it needs.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.formulas import bubble
from flopbook.formulas.pipeline import CLOSED, FOLDED, SCHEDULES
from flopbook.pipelines import Run, StagePass, Times, plan, simulate
from flopbook.pipelines.passes import Slot

CASES = 1000

every_schedule = pytest.mark.parametrize("schedule", SCHEDULES)


def random_times(schedule: str, rng: random.Random) -> Times:
    """Times for which the closed form holds; the first three schedules take any."""
    first, second, third = sorted(rng.randint(1, 9) for _ in range(3))
    if schedule in FOLDED:
        return Times(second, second, first)
    if schedule == "zb-v":
        return Times(second, third, first)
    if schedule.startswith("zb"):
        return Times(*rng.choice([(second, third), (third, second)]), first)
    return Times(*rng.sample([first, second, third], 3))


def random_shape(schedule: str, rng: random.Random) -> dict[str, int]:
    """Stages, micro-batches and chunks for which the closed form holds."""
    stages, microbatches = rng.randint(1, 8), rng.randint(1, 16)
    if schedule == "interleaved":
        return {
            "stages": stages,
            "microbatches": stages * rng.randint(1, 4),
            "virtual": rng.randint(1, 4),
        }
    if schedule == "zb-v":
        microbatches += 2 * stages - 2
    if schedule == "dualpipe":
        stages += stages % 2
        microbatches *= 2
    if schedule in FOLDED:
        microbatches = max(microbatches, 2 * stages)
    return {"stages": stages, "microbatches": microbatches}


def closed(run: Run, virtual: int = 1) -> dict[str, Any]:
    """The closed form of what was run."""
    forward, inputs, weights = map(float, run.times)
    return bubble(
        schedule=run.plan.schedule,
        stages=float(run.plan.stages),
        microbatches=float(run.plan.microbatches),
        virtual=virtual,
        forward=forward,
        backward_input=inputs,
        backward_weight=weights,
    )


@every_schedule
def test_the_simulation_equals_the_closed_form(schedule: str) -> None:
    """Idle share, times and memory, on a thousand random shapes and times."""
    rng = random.Random(f"flopbook {schedule}")
    for _ in range(CASES):
        shape = random_shape(schedule, rng)
        run = simulate(plan(schedule, **shape), random_times(schedule, rng))
        expected = closed(run, shape.get("virtual", 1))
        simulated = {
            "fraction": run.fraction,
            "overhead": (run.seconds - run.ideal) / run.ideal,
            "ideal_seconds": run.ideal,
            "total_seconds": run.seconds,
            "peak_microbatches": max(run.held),
        }
        assert simulated == pytest.approx(expected, rel=1e-12, abs=1e-12), (shape, run.times)


@every_schedule
def test_every_pass_is_run_once_and_after_what_it_needs(schedule: str) -> None:
    rng = random.Random(f"passes {schedule}")
    for _ in range(25):
        run = simulate(plan(schedule, **random_shape(schedule, rng)), random_times(schedule, rng))
        check(run)


def check(run: Run) -> None:
    """A run is possible: a stage does one thing at a time, and waits for what it needs."""
    ends: dict[tuple[str, int, int], float] = {}
    starts: dict[tuple[str, int, int], float] = {}
    for stage in run.timed:
        for before, after in itertools.pairwise(stage):
            assert before.end <= after.start
        for start, end, slot in stage:
            for key in single_passes(slot):
                assert key not in ends, "a pass was run twice"
                starts[key], ends[key] = start, end
    chunks, count = run.plan.chunks, run.plan.microbatches
    assert Counter(kind for kind, _, _ in ends) == dict.fromkeys("FBW", chunks * count)
    slack = 1e-9
    for (kind, m, chunk), start in starts.items():
        if kind == "F" and chunk:
            assert ends["F", m, chunk - 1] <= start + slack
        if kind == "B" and chunk < chunks - 1:
            assert ends["B", m, chunk + 1] <= start + slack
        if kind == "B" and chunk == chunks - 1:
            assert ends["F", m, chunk] <= start + slack
        if kind == "W":
            assert ends["B", m, chunk] <= ends["W", m, chunk] + slack


def single_passes(slot: Slot) -> Iterator[tuple[str, int, int]]:
    """The passes of a slot; a backward pass in one piece counts as both."""
    for kind, microbatch, chunk in slot:
        for single in "BW" if kind == "A" else kind:
            yield single, microbatch, chunk


@every_schedule
def test_a_stage_holds_one_place_of_the_model(schedule: str) -> None:
    """Each pass through a chunk is run by the same stage.

    Of DualPipe, by one of the two that hold it.
    """
    planned = plan(schedule, 4, 8, 2 if schedule == "interleaved" else 1)
    homes: dict[int, set[int]] = {}
    for stage, slots in enumerate(planned.slots):
        for stage_pass in itertools.chain(*slots):
            homes.setdefault(stage_pass.chunk, set()).add(stage)
    copies = 2 if schedule == "dualpipe" else 1
    assert set(map(len, homes.values())) == {copies}
    assert sorted(homes) == list(range(planned.chunks))


@pytest.mark.parametrize("schedule", [s for s in SCHEDULES if s not in ("zb-h2", "zb-v")])
def test_the_first_stage_spans_the_whole_step(schedule: str) -> None:
    """So that waiting for all stages costs nothing more.

    Of ZB-H2 and ZB-V the stages end one after the other.
    """
    rng = random.Random(f"span {schedule}")
    for _ in range(100):
        run = simulate(plan(schedule, **random_shape(schedule, rng)), random_times(schedule, rng))
        assert run.makespan == pytest.approx(run.seconds, rel=1e-12)


def test_what_waiting_for_all_stages_costs_zero_bubble() -> None:
    """With three equal times ZB-H2 and ZB-V have no bubble in a stage, and K - 1 passes (ZB-V:
    half) over all.
    """
    for schedule, extra in (("zb-h2", 7.0), ("zb-v", 3.5)):
        run = simulate(plan(schedule, 8, 32))
        assert (run.seconds, run.makespan) == (96, 96 + extra)


def test_order_of_one_stage_by_hand() -> None:
    """The third of four stages of 1F1B: one pass ahead, then one of each."""
    passes = itertools.chain(*plan("1f1b", 4, 3).slots[2])
    assert list(passes) == [
        StagePass("F", 0, 2),
        StagePass("F", 1, 2),
        StagePass("A", 0, 2),
        StagePass("F", 2, 2),
        StagePass("A", 1, 2),
        StagePass("A", 2, 2),
    ]


def test_times_may_be_fractions() -> None:
    run = simulate(plan("zb-h1", 3, 6), Times(Fraction(1, 3), Fraction(1, 3), Fraction(1, 4)))  # type: ignore[arg-type]
    assert run.seconds == pytest.approx(6 * 11 / 12 + 2 * 5 / 12, rel=1e-15)


def test_memory_of_each_stage() -> None:
    """1F1B holds less on later stages; the zero-bubble schedules hold equally much on all."""
    assert simulate(plan("1f1b", 4, 8)).held == (4, 3, 2, 1)
    assert simulate(plan("zb-h1", 4, 8)).held == (4, 4, 4, 4)
    assert simulate(plan("zb-h2", 4, 8)).held == (7, 7, 7, 7)
    assert simulate(plan("zb-v", 4, 8)).held == (4, 4, 4, 4)
    assert simulate(plan("gpipe", 4, 8)).held == (8, 8, 8, 8)
    assert simulate(plan("dualpipe", 4, 8)).held == (5, 5, 5, 5)
    assert simulate(plan("dualpipe-v", 4, 8)).held == (4.5, 4.5, 4.5, 4.5)


@pytest.mark.parametrize("number", range(len(CLOSED)))
def test_the_conditions_of_the_closed_forms_are_needed(number: int) -> None:
    """Just beyond each condition the schedule runs, and loses another share than the form says."""
    schedule, shape, times, wrong = [
        ("zb-v", (4, 6), Times(1, 1, 1), 0),
        ("zb-h1", (4, 8), Times(1, 1, 2), 0),
        ("zb-v", (4, 8), Times(3, 2, 1), 3),
        ("dualpipe", (4, 8), Times(2, 3, 1), 7),
    ][number]
    run = simulate(plan(schedule, *shape), times)
    assert run.seconds - run.ideal != wrong
    with pytest.raises(FlopbookError, match="see --timeline for the schedule itself"):
        closed(run)


def test_a_long_schedule_is_run_quickly() -> None:
    """The largest that a plan may have, in well under a second on a machine that is not busy."""
    begin = time.process_time()
    simulate(plan("zb-v", 32, 520))
    assert time.process_time() - begin < 5


def test_it_is_the_same_each_time() -> None:
    assert simulate(plan("zb-v", 6, 13)) == simulate(plan("zb-v", 6, 13))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("zero", 4, 8), "unknown schedule 'zero'"),
        (("1f1b", 0, 8), "stages is 0, expected a whole number of at least 1"),
        (("1f1b", 4, -1), "microbatches is -1, expected a whole number"),
        (("1f1b", 4.0, 8), "stages is 4.0, expected a whole number"),
        (("1f1b", True, 8), "stages is True, expected a whole number"),
        (("1f1b", 4, 8, 2), "virtual stages belong to the interleaved schedule"),
        (("interleaved", 4, 6, 2), "multiple of the stages"),
        (("dualpipe", 5, 20), "dualpipe needs an even number of stages"),
        (("dualpipe", 4, 9), "dualpipe needs an even number of micro-batches"),
        (("dualpipe", 8, 14), "at least twice as many micro-batches as stages"),
        (("dualpipe-v", 5, 9), "at least twice as many micro-batches as stages"),
        (
            ("gpipe", 1000, 1000),
            "3,000,000 passes are too many to go through one by one, at most 100,000",
        ),
    ],
)
def test_a_plan_that_nobody_runs_is_refused(words: tuple[Any, ...], message: str) -> None:
    with pytest.raises((FlopbookError, UnknownName), match=message):
        plan(*words)


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")])
def test_times_are_more_than_nothing(value: float) -> None:
    with pytest.raises(
        FlopbookError, match=r"backward_weight is .*, expected a time of more than 0"
    ):
        simulate(plan("1f1b", 2, 2), Times(1, 1, value))
