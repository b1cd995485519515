"""A grid of layouts gives for each what a run by itself gives, whatever varies on its axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.planning.grid import LayoutGrid
from flopbook.prediction.asking import run_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import Layouts, RunLayout
from flopbook.prediction.step_time import step_parts

PARAMETERS = fitted_kinds()["training_throughput"].parameters
ASKED = {
    "model": "mixtral-8x7b",
    "chip": "h100-sxm",
    "chips": "64",
    "batch_tokens": "1Mi",
    "seq": "8192",
    "stack": "megatron-core",
    "recompute": "none",
    "micro_batch": "1",
    "zero": "1",
}
RUN = run_of(ASKED)
TPU = run_of({**ASKED, "chip": "tpu-v5p", "stack": "maxtext"})
WORDS = ("none", "selective", "full")
NUMBERS = {
    "tp": (1.0, 2.0, 8.0, 16.0),
    "pp": (1.0, 4.0, 8.0),
    "cp": (1.0, 2.0, 16.0),
    "ep": (1.0, 8.0),
    "dp": (1.0, 4.0, 64.0),
    "virtual": (1.0, 2.0),
    "zero": (0.0, 1.0, 2.0, 3.0),
    "micro_batch": (1.0, 4.0),
    "micro_batches": (1.0, 8.0, 32.0),
}


def grid_of(run: RunLayout, **axes: tuple[Any, ...]) -> LayoutGrid:
    """A grid with an axis for each of some names, in order."""
    numbers, words = {}, {}
    for place, (name, values) in enumerate(axes.items()):
        shape = [1] * len(axes)
        shape[place] = len(values)
        column = np.array(values).reshape(shape)
        (words if isinstance(values[0], str) else numbers)[name] = column
    return LayoutGrid(run, numbers, words)


def one_by_one(run: RunLayout, **axes: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Seconds of each run of a grid, built and timed by itself."""
    shape = tuple(len(values) for values in axes.values())
    seconds = np.empty(shape)
    for place in np.ndindex(shape):
        picked = {name: axes[name][at] for name, at in zip(axes, place, strict=True)}
        alone = step_parts(Layouts([run._replace(**picked)]), PARAMETERS)
        seconds[place] = alone.seconds[0]
    return seconds


@pytest.mark.parametrize("run", [RUN, TPU], ids=["gpu", "tpu"])
@pytest.mark.parametrize("names", [("tp", "dp"), ("pp", "virtual", "micro_batches"), ("cp", "ep")])
def test_a_grid_times_each_layout_as_alone(run: RunLayout, names: tuple[str, ...]) -> None:
    axes = {name: NUMBERS[name] for name in names}
    found = step_parts(grid_of(run, **axes), PARAMETERS).seconds
    expected = one_by_one(run, **axes)
    np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, rtol=1e-12)


@given(
    st.lists(st.sampled_from(list(NUMBERS)), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
)
def test_any_axes_with_words_beside_them(names: list[str], words: list[str]) -> None:
    axes: dict[str, tuple[Any, ...]] = {name: NUMBERS[name][-2:] for name in names}
    axes["recompute"] = tuple(words)
    found = step_parts(grid_of(RUN, **axes), PARAMETERS).seconds
    expected = one_by_one(RUN, **axes)
    np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, rtol=1e-12)


@pytest.mark.parametrize("schedule", ["1f1b", "zb-h1", "zb-v", "dualpipe"])
def test_a_grid_keeps_the_schedule_of_its_run(schedule: str) -> None:
    run = RUN._replace(schedule=schedule, pp=8.0, micro_batches=32.0)
    axes = {"pp": (2.0, 4.0, 8.0), "micro_batches": (16.0, 64.0)}
    found = step_parts(grid_of(run, **axes), PARAMETERS).seconds
    np.testing.assert_allclose(found, one_by_one(run, **axes), rtol=1e-12)


def test_a_part_has_only_the_axes_that_it_depends_on() -> None:
    """That is why a million layouts take a fifth of a second."""
    axes = {"tp": (1.0, 2.0), "zero": (0.0, 1.0, 3.0), "recompute": WORDS}
    parts = step_parts(grid_of(RUN, **axes), PARAMETERS)
    assert np.shape(parts.gradients) == (2, 3, 3)  # they hide behind the backward pass
    assert np.shape(parts.optimizer) == (2, 3, 1)
    assert np.shape(parts.products) == (2, 1, 3)
    assert np.shape(parts.gathers) == (2, 3, 3)
    assert np.shape(parts.seconds) == (2, 3, 3)


def test_words_are_chosen_for_each_layout_and_for_all() -> None:
    grid = grid_of(RUN, recompute=WORDS)
    assert grid.where("recompute", "full").tolist() == [False, False, True]
    assert grid.where("recompute", "none", "full").tolist() == [True, False, True]
    assert bool(grid.where("stack", "megatron-core")) and not bool(grid.where("stack", "nemo"))
    shares = {"none": 1.0, "full": 3.0}
    assert grid.choose("recompute", shares, 2.0).tolist() == [1, 2, 3]
    assert float(grid.choose("generation", {"hopper": 7.0}, 0.0)) == 7
    assert float(grid.choose("generation", {"ampere": 7.0}, 5.0)) == 5


def test_numbers_come_from_the_axes_else_from_the_run_its_shape_or_its_machine() -> None:
    grid = grid_of(RUN, tp=(1.0, 2.0))
    assert grid["tp"].tolist() == [1, 2]
    assert float(grid["chips"]) == 64
    assert float(grid["layers"]) == RUN.shape.layers
    assert float(grid["peak_16bit"]) == RUN.machine.peak_16bit
    with pytest.raises(KeyError):
        grid["no_such_number"]


def test_what_is_searched_is_not_inferred() -> None:
    open_run = run_of({name: ASKED[name] for name in ("model", "chip", "chips")})
    assert "recompute" in open_run.inferred
    assert bool(grid_of(open_run, tp=(1.0,)).inferred("recompute"))
    assert not bool(grid_of(open_run, recompute=WORDS).inferred("recompute"))
    assert not bool(grid_of(RUN, tp=(1.0,)).inferred("recompute"))
