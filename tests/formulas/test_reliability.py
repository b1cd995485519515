"""What failures cost: the best interval is best, more chips fail more often, and what was counted
comes back.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.formulas.reliability import HERD, best_interval, between_failures, lost_share

SECONDS = st.floats(1, 1e6)


@given(SECONDS, SECONDS, st.floats(0.5, 2))
def test_no_interval_is_better_than_the_best(between: float, save: float, factor: float) -> None:
    """As long as the first order holds at all."""
    best = best_interval(between, save)
    least = lost_share(best, between, save)
    assert lost_share(factor * best, between, save) >= least * (1 - 1e-12)


@given(SECONDS, SECONDS)
def test_at_the_best_interval_saving_and_repeating_cost_the_same(
    between: float, save: float
) -> None:
    best = best_interval(between, save)
    assert save / best == pytest.approx(best / 2 / between)


def test_failures_add_up_over_chips() -> None:
    """Unexpected interruptions of llamateam2024herd: 419 in 54 days, one in 3.1 hours."""
    assert between_failures(HERD.alone, HERD.chips) == pytest.approx(54 * 86400 / 419)
    assert between_failures(HERD.alone, HERD.chips) / 3600 == pytest.approx(3.09, abs=0.01)
    assert between_failures(HERD.alone, 2 * HERD.chips) == pytest.approx(54 * 43200 / 419)


def test_what_is_lost_has_an_end() -> None:
    assert lost_share(1, 1, 100) == 1.0
    assert lost_share(100, 1000, 10, restart=50) == pytest.approx(0.1 + 0.1)


@pytest.mark.parametrize("wrong", [0.0, -1.0])
def test_times_are_positive(wrong: float) -> None:
    for call in (
        lambda: best_interval(wrong, 1),
        lambda: best_interval(1, wrong),
        lambda: between_failures(1, wrong),
        lambda: lost_share(wrong, 1, 1),
        lambda: lost_share(1, wrong, 1),
    ):
        with pytest.raises(FlopbookError, match="above zero"):
            call()
