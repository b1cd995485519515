"""The tail of a batch of rollouts: a log-normal of mean one, and what is drawn of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.quantities.units import percent
from scripts.website.figures.rollout_tail import alive, figure

spreads = st.floats(0.1, 2)
times = st.floats(1e-3, 20)


@given(times, times, spreads)
def test_answers_end_and_none_begins_again(one: float, other: float, spread: float) -> None:
    early, late = sorted((one, other))
    assert 0 <= alive(late, spread) <= alive(early, spread) <= 1
    assert alive(0, spread) == alive(-1, spread) == 1


@given(spreads)
def test_half_are_longer_than_the_median(spread: float) -> None:
    """The median of a log-normal of mean one is exp(-spread^2 / 2)."""
    assert alive(math.exp(-(spread**2) / 2), spread) == pytest.approx(0.5)


@pytest.mark.parametrize("spread", [0.5, 1.0, 1.5])
def test_the_mean_length_is_one(spread: float) -> None:
    """The area under the share that is left is the mean."""
    width, end = 0.002, 200.0
    places = (width * (step + 0.5) for step in range(int(end / width)))
    assert sum(alive(place, spread) for place in places) * width == pytest.approx(1, abs=0.01)


def test_wider_lengths_have_the_longer_tail() -> None:
    narrow, middle, wide = (alive(4, spread) for spread in (0.5, 1.0, 1.5))
    assert narrow < middle < wide < 0.1


def test_what_is_said_is_what_is_drawn() -> None:
    drawn = figure()
    for spread in (0.5, 1.0, 1.5):
        said = f"spread {spread:g}: {percent(alive(3, spread), 1)} decode after three mean lengths"
        assert said in drawn.description
    assert all(alive(2, spread) < 0.5 for spread in (0.5, 1.0, 1.5)), "as the caption says"
