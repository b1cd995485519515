"""Fronts: the layouts that no other beats, for any points, against the definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.planning.comparing import Choice, best_of_each, joint_front
from flopbook.planning.fronts import front_of, unbeaten
from flopbook.planning.planner import RunPlan, plan
from flopbook.planning.question import question_of

# Few values, so that ties come up often.
POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)
TRIPLES = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=20)


def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """One is nowhere larger than the other, and smaller somewhere."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def places(points: list[tuple[int, int]]) -> list[int]:
    seconds, held = (np.array([point[axis] for point in points], dtype=float) for axis in (0, 1))
    return [int(place) for place in front_of(seconds, held)]


@given(POINTS)
def test_a_front_has_each_point_that_none_beats_once(points: list[tuple[int, int]]) -> None:
    """The fastest first, then ever slower with ever less memory; of equals the first."""
    expected = sorted(
        {point for point in points if not any(beats(other, point) for other in points)}
    )
    found = places(points)
    assert [points[place] for place in found] == expected
    assert all(points.index(points[place]) == place for place in found)
    assert all(a[1] > b[1] for a, b in itertools.pairwise(expected))


@given(POINTS, st.randoms())
def test_the_order_of_the_points_does_not_matter(
    points: list[tuple[int, int]], random: st.random.Random
) -> None:
    shuffled = list(points)
    random.shuffle(shuffled)
    there, here = ([some[at] for at in places(some)] for some in (shuffled, points))
    assert there == here


@given(POINTS, st.tuples(st.integers(0, 6), st.integers(0, 6)))
def test_a_point_that_is_beaten_changes_no_front(
    points: list[tuple[int, int]], more: tuple[int, int]
) -> None:
    front = [points[place] for place in places(points)]
    grown = [(*points, more)[place] for place in places([*points, more])]
    if any(beats(point, more) or point == more for point in points):
        assert grown == front
    else:
        assert more in grown and set(grown) <= {*front, more}


@given(TRIPLES)
def test_unbeaten_rows_are_those_of_the_definition(rows: list[tuple[int, int, int]]) -> None:
    found = {int(place) for place in unbeaten(np.array(rows, dtype=float))}
    assert found == {
        place
        for place, row in enumerate(rows)
        if not any(beats(tuple(other), tuple(row)) for other in rows)
    }
    # Someone is always there, and equal rows are there together.
    assert found and all((rows.index(rows[place]) in found) for place in found)


@given(POINTS.filter(bool))
def test_both_ways_to_a_front_agree_on_two_axes(points: list[tuple[int, int]]) -> None:
    kept = {points[int(place)] for place in unbeaten(np.array(points, dtype=float))}
    assert kept == {points[place] for place in places(points)}


def test_no_points_have_no_front() -> None:
    assert places([]) == [] and joint_front([]) == [] and best_of_each([]) == []


# Plans for several counts of chips.


@pytest.fixture(scope="module")
def plans() -> list[RunPlan]:
    """One that nothing fits, and three that have layouts."""
    asked = {"model": "llama-3-8b", "chip": "h100-sxm", "batch_tokens": "256Ki", "seq": "8192"}
    return [
        plan(question_of({**asked, "chips": str(chips)}), 5, with_front=True)
        for chips in (1, 8, 16, 32)
    ]


def test_the_best_of_each_plan_is_its_fastest(plans: list[RunPlan]) -> None:
    """A plan that nothing fits has none."""
    chosen = best_of_each(plans)
    assert [choice.plan.question.chips for choice in chosen] == [8, 16, 32]
    for choice in chosen:
        fastest = min(layout.seconds for layout in choice.plan.layouts)
        assert choice.layout.seconds == fastest
        assert choice.chip_seconds == fastest * choice.plan.question.chips


def cost(choice: Choice) -> tuple[float, float, float]:
    return choice.layout.seconds, choice.layout.bytes, choice.chip_seconds


def test_a_joint_front_is_unbeaten_in_time_memory_and_cost(plans: list[RunPlan]) -> None:
    """It loses nothing: each layout of a front that is left out is beaten by one that is in."""
    joint = joint_front(plans)
    kept = [cost(choice) for choice in joint]
    assert kept == sorted(kept, key=lambda point: point[0])
    assert not any(beats(one, other) for one, other in itertools.permutations(kept, 2))
    every = [Choice(found, layout) for found in plans for layout in found.front]
    for choice in every:
        point = cost(choice)
        assert point in kept or any(beats(one, point) for one in kept)
    # The fastest of all is there, and so is the cheapest.
    assert kept[0][0] == min(cost(choice)[0] for choice in every)
    assert min(point[2] for point in kept) == min(cost(choice)[2] for choice in every)


def test_the_front_of_one_plan_is_its_own(plans: list[RunPlan]) -> None:
    """On one count of chips the cost follows the time."""
    found = plans[1]
    assert [choice.layout for choice in joint_front([found])] == list(found.front)
    times = [layout.seconds for layout in found.front]
    assert times == sorted(times) and times[0] == found.layouts[0].seconds
