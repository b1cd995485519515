"""The picture of calibration: more and better runs count for more, and the words say so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.quantities.units import percent
from scripts.website.figures.calibration_shrinkage import SCATTERS, SOURCES, applied, figure

some_runs = st.integers(1, 1000)
scatters = st.floats(1e-3, 2)


@given(some_runs, some_runs, scatters)
def test_more_runs_count_for_more_and_never_for_all(one: int, other: int, scatter: float) -> None:
    few, many = sorted((one, other))
    assert 0 < applied(few, scatter) <= applied(many, scatter) < 1


@given(some_runs, scatters, scatters)
def test_runs_that_agree_count_for_more(runs: int, one: float, other: float) -> None:
    close, wide = sorted((one, other))
    assert applied(runs, wide) <= applied(runs, close)


@given(some_runs)
def test_as_many_runs_as_the_ratio_of_the_variances_count_for_half(runs: int) -> None:
    assert applied(runs, SOURCES * runs**0.5) == pytest.approx(0.5)


def test_the_exercises_of_the_chapter_use_the_same_weight() -> None:
    """Four runs that scatter by 2.6 percent, and four by 30."""
    assert applied(4, 0.000667**0.5) == pytest.approx(0.993, abs=1e-3)
    assert applied(4, 0.0881**0.5) == pytest.approx(0.51, abs=0.01)


def test_the_words_are_those_of_the_lines() -> None:
    drawn = figure()
    for scatter in SCATTERS:
        assert f"{percent(applied(3, scatter))} of the mean with three runs" in drawn.description
    assert f"{percent(applied(3, SCATTERS[-1]))} of the way" in drawn.caption
    assert SCATTERS[-1] == pytest.approx(3 * SOURCES), "three times as much, as the caption says"
