"""The search finds every place where a function meets a target, whatever its shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.solving.root_search import (
    CLOSE,
    EXACT,
    Domain,
    Sample,
    Span,
    denser,
    equal,
    is_close,
    samples,
    spans,
    with_extremes,
)
from flopbook.evaluation.solving.solver import solve

RANGE = Domain(1e-6, 1e6)
WHOLE = Domain(1.0, 1e6, whole=True)
SIZES = st.floats(min_value=1e-4, max_value=1e4)


def found(function: Callable[[float], Any], target: float, domain: Domain = RANGE) -> list[Span]:
    points = with_extremes(function, domain, samples(function, domain), target)
    return equal(function, domain, points, target)[0]


@given(x=SIZES, power=st.sampled_from([-3.0, -1.0, 0.5, 1.0, 2.0]), factor=SIZES)
def test_a_power_is_met_once_where_it_was_taken(x: float, power: float, factor: float) -> None:
    (span,) = found(lambda u: factor * u**power, factor * x**power)
    assert span.low * (1 - CLOSE) <= x <= span.high * (1 + CLOSE) and is_close(
        span.low, span.high, CLOSE
    )
    assert not span.open_low and not span.open_high


@given(
    roots=st.lists(st.integers(min_value=-10, max_value=10), min_size=1, max_size=5, unique=True)
)
def test_every_root_of_a_wave_is_found(roots: list[int]) -> None:
    """A product of logarithms has exactly the roots that it was made from.

    No two roots share a sample.
    """
    places = [10 ** (n / 3) for n in sorted(roots)]

    def wave(x: float) -> float:
        return math.prod(math.log(x / place) for place in places)

    assert [span.low for span in found(wave, 0.0, Domain(1e-4, 1e4))] == pytest.approx(
        places, rel=1e-8
    )


@given(place=SIZES, height=st.floats(min_value=1e-3, max_value=1e3))
def test_a_peak_between_samples_is_climbed(place: float, height: float) -> None:
    """A target just below the top is met on both sides of it, and the top itself once."""

    def hill(x: float) -> float:
        return height / (1 + math.log(x / place) ** 2)

    assert len(found(hill, height * 0.999999)) == 2
    points = with_extremes(hill, RANGE, samples(hill, RANGE), 2 * height)
    assert max(point.y for point in points) == pytest.approx(height, rel=1e-12)
    trough = with_extremes(
        lambda x: -hill(x), RANGE, samples(lambda x: -hill(x), RANGE), -2 * height
    )
    assert min(point.y for point in trough) == pytest.approx(-height, rel=1e-12)


@given(step=SIZES, number=st.integers(min_value=1, max_value=20))
def test_a_step_is_met_from_its_first_number_to_its_last(step: float, number: int) -> None:
    def stairs(x: float) -> float:
        return float(math.floor(x / step))

    (span,) = found(stairs, float(number), Domain(step / 4, step * 40))
    assert stairs(span.low) == stairs(span.high) == number
    assert (
        stairs(math.nextafter(span.low, 0)) == number - 1
        and stairs(math.nextafter(span.high, math.inf)) > number
    )


def test_a_value_that_is_jumped_over_is_a_jump() -> None:
    points = samples(math.floor, Domain(0.5, 100.0))
    hits, (jump,) = equal(math.floor, Domain(0.5, 100.0), points, 7.5)
    assert not hits and (jump.before.y, jump.after.y) == (7, 8) and jump.after.x == 8.0
    assert jump.before.x == math.nextafter(8.0, 0)


def test_a_jump_beside_huge_values_is_no_answer() -> None:
    """The height of the jump is no measure of how near its foot comes to a small target."""

    def stairs(x: float) -> float:
        return 3e-11 if x < 8 else 2700.0

    points = [Sample(x, stairs(x)) for x in (1.0, 50.0)]
    hits, jumps = equal(stairs, Domain(0.5, 100.0), points, 2.7e-10)
    assert not hits and [jump.after.x for jump in jumps] == [8.0]


def test_the_teeth_of_a_saw_are_found_around_a_jump() -> None:
    """Each tooth meets the target once, in a stretch that the samples miss."""
    teeth = Domain(1.0, 1e3)

    def saw(x: float) -> float:
        return math.floor(x) + 1.5 - 2 * (x % 1)

    points = samples(saw, teeth)
    _, jumps = equal(saw, teeth, points, 500.25)
    more = denser(saw, teeth, points, jumps or [])
    assert len(more) >= len(points)
    assert all(
        saw(span.low) == pytest.approx(500.25, rel=CLOSE)
        for span in equal(saw, teeth, more, 500.25)[0]
    )


@given(limit=st.integers(min_value=1, max_value=999_999))
def test_a_whole_number_is_the_last_that_passes(limit: int) -> None:
    points = samples(lambda n: n, WHOLE)
    (span,) = spans(lambda n: n, WHOLE, points, lambda y: y <= limit)
    assert span == Span(1.0, float(limit), open_low=True)


@given(step=st.integers(min_value=2, max_value=5000), limit=st.integers(min_value=1, max_value=200))
def test_numbers_that_are_refused_are_passed_over(step: int, limit: int) -> None:
    """Only multiples of a step are allowed: the answer is one of them, and the next one fails."""
    domain = Domain(1.0, 1e6, whole=True, steps=(float(step),))

    def only(n: float) -> float | None:
        return n if n % step == 0 else None

    (span,) = spans(only, domain, samples(only, domain), lambda y: y <= step * limit + step / 2)
    assert span.high == min(step * limit, 1e6 // step * step)


@given(low=SIZES, factor=st.floats(min_value=1.5, max_value=100))
def test_where_a_function_begins_and_ends_is_found_to_the_last_digit(
    low: float, factor: float
) -> None:
    def part(x: float) -> float | None:
        return x if low <= x <= low * factor else None

    answered = [point.x for point in samples(part, RANGE) if point.y is not None]
    assert (answered[0], answered[-1]) == (low, low * factor)
    (span,) = spans(part, RANGE, samples(part, RANGE), lambda y: True)
    assert span == Span(low, low * factor, True, True)


def test_a_seed_is_tried_and_zero_stands_alone() -> None:
    """A rule may allow one value only, that of another input; zero means that there is none."""
    only = {0.0: 5.0, 3.3: 7.0}
    domain = Domain(1e-3, 1e3, zero=True, seeds=(3.3,))
    points = samples(only.get, domain)
    assert [point for point in points if point.y is not None] == [
        Sample(0.0, 5.0),
        Sample(3.3, 7.0),
    ]
    assert equal(only.get, domain, points, 7.0)[0] == [Span(3.3, 3.3, True, True)]
    assert equal(only.get, domain, points, 5.0)[0] == [Span(0.0, 0.0, True, True)]


def test_a_function_that_answers_nowhere_has_no_values() -> None:
    assert all(point.y is None for point in samples(lambda x: None, RANGE))
    assert samples(lambda n: None, WHOLE) == []


@pytest.mark.parametrize("domain", [Domain(5.0, 5.0), Domain(5.0, 5.0, whole=True)])
def test_a_range_of_one_number(domain: Domain) -> None:
    assert [point.x for point in samples(lambda x: x, domain)] == [5.0]


def test_words_have_stretches_too() -> None:
    def word(x: float) -> str:
        if x < 2:
            return "few"
        return "some" if x <= 30 else "many"

    (span,) = spans(word, RANGE, samples(word, RANGE), lambda y: y == "some")
    assert span == Span(2.0, 30.0)


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_is_close_to_itself(value: float) -> None:
    assert is_close(value, value, EXACT) and not is_close(math.inf, value, EXACT)


@pytest.mark.parametrize("chips", [68, 69, 512, 513, 7855])
@pytest.mark.parametrize("op", ["reduce-scatter", "all-reduce"])
def test_the_tooth_of_a_saw_is_found_beside_the_jump(op: str, chips: int) -> None:
    """Odd and even rings have different latencies, so halving may end beside the chips that fit."""
    options = {"op": op, "bytes": 1e9, "link_bandwidth": 450e9}
    target = calculate("collective", chips=chips, **options)["crossover_bytes"]
    found = solve("collective", "chips", {"crossover_bytes": target}, **options)
    assert chips in [answer.value for answer in found.answers]
    assert all(not answer.bound for answer in found.answers)
