"""The stair of seconds that the chapter on prediction opens with."""

from __future__ import annotations

import pytest

from flopbook.prediction.asking import predict
from scripts.website.figures.step_budget import LAYOUTS, RUN
from scripts.website.figures.step_causes import causes, figure


def test_the_causes_add_up_to_the_predicted_step() -> None:
    step = predict({**RUN, **LAYOUTS["as planned"]})
    found = causes()
    assert sum(cause.seconds for cause in found) == pytest.approx(step.seconds)
    assert all(cause.seconds > 0 for cause in found)


def test_matmuls_at_the_peak_are_the_rule_of_six_without_head_and_table() -> None:
    weights = 70.55e9 - 2 * 8192 * 128256
    at_peak = 6 * weights * 4 * 1024**2 / (512 * 989.4e12)
    assert causes()[0].seconds == pytest.approx(at_peak, rel=1e-3)
    assert "3.4" in figure().title
