"""A few runs move what is unknown as far as they insist, and each is judged by the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.prediction.own_moves import SCATTERS, OwnErrors, moved

SLOPES = np.array([[1.0, 0.1], [1.0, 0.9], [1.0, 0.4], [1.0, 0.6], [1.0, 0.2]])
OPEN = np.array([[0.02, 0.0], [-0.01, 0.1]])
RATES = np.ones(5)


def own(errors: np.ndarray, speed: np.ndarray = RATES) -> OwnErrors:
    return OwnErrors(errors, SLOPES[: len(errors)], speed[: len(errors)], OPEN)


def explained(errors: np.ndarray) -> np.ndarray:
    """What the moves that some errors ask for make of five runs."""
    found = moved(own(errors))
    return SLOPES @ found.move + found.common


errors_of_runs = st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=5).map(np.array)


@given(errors_of_runs)
def test_what_is_left_of_a_run_is_its_error_by_the_others(errors: np.ndarray) -> None:
    """As long as they scatter: what agrees to the last digit is beyond what numbers hold."""
    noisy = errors + 0.03 * np.resize([1, -1, 0.5], len(errors))
    found = moved(own(noisy))
    for place in range(len(noisy)):
        kept = np.delete(np.arange(len(noisy)), place)
        others = moved(OwnErrors(noisy[kept], SLOPES[kept], RATES[kept], OPEN))
        by_others = SLOPES[place] @ others.move + others.common
        assert found.left[place] == pytest.approx(noisy[place] - by_others, abs=1e-3)


def test_no_error_moves_nothing() -> None:
    found = moved(own(np.zeros(4)))
    assert np.all(found.move == 0) and found.common == 0 and np.all(found.left == 0)


@given(st.floats(-0.7, 0.7))
def test_runs_that_agree_share_a_factor(error: float) -> None:
    found = moved(own(np.full(4, error)))
    assert found.common == pytest.approx(error, abs=1e-4)
    times = moved(own(np.full(4, error), -RATES))
    assert times.common == pytest.approx(-error, abs=1e-4), "what takes longer is slower"


def test_errors_along_a_slope_move_its_parameter() -> None:
    """A parameter that the fit leaves open explains them, and runs in between are met."""
    errors = 0.4 * SLOPES[:, 1]
    found = moved(own(errors[:3]))
    assert found.move[1] > 0.25
    assert explained(errors[:3]) == pytest.approx(errors, abs=0.05)


def test_runs_that_scatter_say_little() -> None:
    errors = np.array([0.3, -0.3, 0.28, -0.25])
    assert np.max(np.abs(explained(errors))) < 0.5 * np.max(np.abs(errors))
    assert len(set(SCATTERS)) == len(SCATTERS)


def test_without_parameters_a_factor_is_left() -> None:
    """Kinds of which nothing is fitted: three runs that are a tenth too fast, and scatter."""
    errors = np.array([0.1, 0.12, 0.08])
    found = moved(OwnErrors(errors, np.zeros((3, 0)), np.ones(3), np.zeros((0, 0))))
    assert len(found.move) == 0 and found.common == pytest.approx(0.1, abs=0.01)
