"""Why a plan is as it is: parts add up, losses are those of the parts, counts are enough."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.measured_runs import run_files
from flopbook.planning.evidence import beyond_measured
from flopbook.planning.explaining import (
    loss_of_the_next,
    parts_of_layout,
    reasons,
    run_with,
    smallest_count,
)
from flopbook.planning.planner import PlannedLayout, RunPlan, plan
from flopbook.planning.question import PLANNED_SCHEDULES, Question, question_of
from flopbook.prediction.networks import NETWORK
from flopbook.prediction.open_layouts import RECOMPUTE

ASKED = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "16",
    "batch_tokens": "256Ki",
    "seq": "8192",
    "stack": "megatron-core",
}
QUESTION = question_of(ASKED)
FOUND = plan(QUESTION, 10**6)
layouts = st.sampled_from(FOUND.layouts)


@given(layouts)
def test_parts_add_up_to_the_step_longest_first(layout: PlannedLayout) -> None:
    parts = parts_of_layout(QUESTION, layout)
    assert math.fsum(parts.values()) == pytest.approx(layout.seconds, rel=1e-12)
    assert list(parts.values()) == sorted(parts.values(), reverse=True)
    assert all(seconds >= 0 for seconds in parts.values())


@given(layouts)
def test_a_layout_becomes_the_run_that_it_describes(layout: PlannedLayout) -> None:
    run = run_with(QUESTION, layout)
    assert run.batch == QUESTION.batch
    assert run.tp * run.pp * run.cp * run.dp == QUESTION.chips
    for name in ("tp", "pp", "cp", "ep", "dp", "virtual", "zero", "micro_batch", "recompute"):
        assert getattr(run, name) == getattr(layout, name)
    assert run.inferred == (NETWORK,)  # nobody named the one between the nodes


@given(layouts)
def test_bands_and_utilisation_follow_from_the_time(layout: PlannedLayout) -> None:
    assert layout.low < layout.seconds < layout.high
    assert layout.high / layout.seconds == pytest.approx(layout.seconds / layout.low)
    best = FOUND.layouts[0]
    assert layout.mfu * layout.seconds == pytest.approx(best.mfu * best.seconds)
    assert 0 < layout.mfu < 1
    assert 0 < layout.bytes <= QUESTION.run.machine.memory


def test_the_next_layout_loses_in_its_worst_part() -> None:
    loss = loss_of_the_next(FOUND)
    assert loss
    best = FOUND.layouts[0]
    assert loss.layout.seconds > best.seconds
    assert loss.seconds == pytest.approx(loss.layout.seconds - best.seconds)
    ours, theirs = parts_of_layout(QUESTION, best), parts_of_layout(QUESTION, loss.layout)
    lost = {name: theirs[name] - ours[name] for name in ours}
    assert loss.part_seconds == pytest.approx(max(lost.values()))
    assert lost[loss.part] == max(lost.values())
    assert sum(lost.values()) == pytest.approx(loss.seconds)


def test_layouts_of_the_same_time_lose_nothing() -> None:
    best = FOUND.layouts[0]
    alike = FOUND._replace(layouts=(best, best._replace(zero=2)), divisions=(best,))
    assert loss_of_the_next(alike) is None
    assert loss_of_the_next(FOUND._replace(layouts=(best,), divisions=(best,))) is None


counts = st.dictionaries(st.text(min_size=1, max_size=5), st.integers(1, 10**6), max_size=8)


@given(counts, st.integers(1, 6))
def test_reasons_keep_every_layout(found: dict[str, int], most: int) -> None:
    listed = reasons(found, most)
    assert sum(count for _, count in listed) == sum(found.values())
    named = [count for name, count in listed if name != "other reasons"]
    assert named == sorted(named, reverse=True) and len(named) <= most
    assert len(listed) == min(len(found), most + 1)


@pytest.mark.parametrize("chips", [1, 2, 3])
def test_the_smallest_count_is_enough_and_an_eighth_less_is_not(chips: int) -> None:
    question = question_of({**ASKED, "model": "llama-3-70b", "chips": str(chips)})
    count = smallest_count(question)
    assert count and count > chips
    assert fitting(question, count)
    double = chips
    while double < count:
        double *= 2
    step = double // 16
    if step and count - step > double // 2:
        assert not fitting(question, count - step)


def fitting(question: Question, chips: int) -> bool:
    run = question.run._replace(chips=float(chips))
    return bool(plan(question._replace(run=run), 1).layouts)


def test_no_count_is_enough_for_a_sequence_that_no_chip_holds() -> None:
    question = question_of({**ASKED, "max_bytes": "1MB", "chips": "262144"})
    assert smallest_count(question) is None


def test_the_plan_without_its_limit_is_what_it_says_is_possible() -> None:
    """`too_large` is the best layout of a chip with endless memory."""
    tight = plan(question_of({**ASKED, "max_bytes": "25GB"}), 1)
    endless = QUESTION._replace(
        run=QUESTION.run._replace(machine=QUESTION.run.machine._replace(memory=1e15))
    )
    best = plan(endless, 1).layouts[0]
    assert tight.too_large and tight.too_large.seconds <= tight.layouts[0].seconds
    assert best.seconds == min(tight.too_large.seconds, tight.layouts[0].seconds)
    free = plan(endless, 1)
    assert free.too_large is None and "does not fit" not in free.infeasible


def test_the_front_is_part_of_the_whole_list() -> None:
    found = plan(QUESTION, 1, with_front=True)
    whole = set(FOUND.layouts)
    assert found.front and set(found.front) <= whole
    for layout in found.front:
        beaten = [
            other
            for other in whole
            if other.seconds <= layout.seconds
            and other.bytes <= layout.bytes
            and (other.seconds, other.bytes) != (layout.seconds, layout.bytes)
        ]
        assert not beaten
    assert plan(QUESTION, 1).front == ()


def test_records_are_plain_values() -> None:
    record = plan(QUESTION, 2, with_front=True).record()
    for layout in (*record["layouts"], *record["front"]):
        kinds = {type(value) for value in layout.values()}
        assert kinds == {int, float, str}
    assert all(type(count) is int for count in record["infeasible"].values())


def test_more_chips_or_memory_never_make_the_best_step_longer_than_it_was() -> None:
    """A chip with more memory has every layout that a smaller one has."""
    times = []
    for limit in ("20GB", "40GB", "60GB", "80GB"):
        times.append(plan(question_of({**ASKED, "max_bytes": limit}), 1).layouts[0].seconds)
    assert times == sorted(times, reverse=True)


def test_a_run_on_file_is_not_beyond_what_was_measured() -> None:
    best = FOUND.layouts[0]._replace(tp=8, pp=8, cp=1, ep=1, virtual=2)
    assert beyond_measured(QUESTION, best) == ()


@pytest.mark.parametrize(
    ("degrees", "what"),
    [
        ({"tp": 10**5}, "tensor parallelism"),
        ({"pp": 10**5}, "pipeline stages"),
        ({"ep": 10**5}, "expert parallelism"),
        ({"virtual": 10**5}, "chunks on a stage"),
        ({"cp": 10**5}, "context parallelism"),
    ],
)
def test_what_no_run_has_is_beyond(degrees: dict[str, int], what: str) -> None:
    found = beyond_measured(QUESTION, FOUND.layouts[0]._replace(**degrees))
    by_name = {one.what: one for one in found}
    assert what in by_name
    assert by_name[what].size == 10**5 > by_name[what].on_file
    rows = [row for file in run_files().values() for row in file.rows]
    assert any(by_name[what].on_file in row.parallelism.values() for row in rows)


def test_few_tokens_on_a_rank_are_beyond() -> None:
    found = beyond_measured(QUESTION, FOUND.layouts[0]._replace(cp=512))
    tokens = next(one for one in found if one.what == "tokens of a sequence on a rank")
    assert tokens.size == 16 < tokens.on_file


def test_a_question_has_what_was_asked() -> None:
    question = question_of(
        {**ASKED, "max_bytes": "60GiB", "max_seconds": "2s", "price": "3.6USD/h", "dtype": "fp8"}
    )
    assert (question.chips, question.batch, question.model) == (16, 32, "llama-3-8b")
    assert question.room == 60 * 2**30 and question.most_seconds == 2
    assert question.dtype == "fp8" and question.run.precision == "fp8"
    assert question.fixed == {} and question.recompute == RECOMPUTE
    assert question.schedules == PLANNED_SCHEDULES
    # 0.001 USD a second on 16 chips, over 262,144 tokens.
    assert question.token_cost(2.0) == pytest.approx(2 * 16 * 0.001 / 2**18)
    assert QUESTION.token_cost(2.0) is None and QUESTION.room == QUESTION.run.machine.memory


def test_a_degree_that_is_fixed_allows_itself_alone() -> None:
    question = question_of({**ASKED, "tp": "4", "zero": "0"})
    assert question.fixed == {"tp": 4, "zero": 0}
    allowed: dict[str, Any] = {"tp": [4], "zero": [0], "pp": list(range(8))}
    for name, degrees in allowed.items():
        assert [degree for degree in range(8) if question.allows(name, degree)] == degrees


def test_feasible_layouts_are_what_is_not_left_out() -> None:
    assert FOUND.feasible == len(FOUND.layouts)
    empty = RunPlan(QUESTION, (), 7, {"does not fit": 5, "heads do not divide": 2})
    assert empty.feasible == 0
