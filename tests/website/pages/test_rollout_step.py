"""One step in one pool, as the picture of reinforcement learning draws it."""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from scripts.website.figures.rollout_step import ANSWERS, GPUS, LONGEST, MEAN, figure, rollout_step


def test_writing_takes_the_steps_of_the_longest_and_the_tokens_of_all() -> None:
    """The closed form of the chapter: n_max t_0 + m n t_1."""
    each = ANSWERS // GPUS
    one, two = (
        calculate("serving", model="llama-3-8b", chip="h100-sxm", seq=2560, batch=batch)[
            "likely_seconds"
        ]
        for batch in (each, 2 * each)
    )
    grows = (two - one) / each
    fixed = one - each * grows
    closed = LONGEST * MEAN * fixed + each * MEAN * grows
    assert rollout_step().written == pytest.approx(closed, rel=0.01)


def test_the_step_lies_between_the_bounds_of_the_example() -> None:
    step = rollout_step()
    assert 130 < step.written < 200
    assert step.score == pytest.approx(11.97, rel=0.01)
    assert step.train == pytest.approx(17.95, rel=0.01)


def test_nearly_half_of_the_step_is_thin() -> None:
    step = rollout_step()
    assert 0.4 < step.thin / step.seconds < 0.5
    assert step.thin > 2 * (step.score + step.train), "the floor is longer than both boxes"
    assert f"{step.thin:.0f} of" in figure().title
