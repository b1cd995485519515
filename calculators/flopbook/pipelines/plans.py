"""A plan: the passes of every stage in order, for each schedule by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from flopbook.errors import FlopbookError, UnknownName
from flopbook.formulas.pipeline import SCHEDULES, SHAPES
from flopbook.pipelines.one_way import gpipe, interleaved, one_by_one, zero_bubble, zero_bubble_v
from flopbook.pipelines.passes import StageOrder, StagePass
from flopbook.pipelines.two_way import dualpipe, dualpipe_v

__all__ = ["MOST_PASSES", "Plan", "StagePass", "plan"]

MOST_PASSES = 100_000  # beyond this nobody looks at a schedule pass by pass
KINDS_OF_PASS = 3  # forward, backward for the inputs, backward for the weights

# The order of one stage of so many, for so many micro-batches.
Order = Callable[[int, int, int], StageOrder]
_ORDERS: dict[str, Order] = {
    "gpipe": gpipe,
    "1f1b": one_by_one,
    "zb-h1": partial(zero_bubble, ahead=1),
    "zb-h2": partial(zero_bubble, ahead=2),
    "zb-v": zero_bubble_v,
    "dualpipe": dualpipe,
    "dualpipe-v": dualpipe_v,
}
# Here the way through the model comes by each stage twice. In DualPipe a stage has two chunks as
# well, but they are two copies of the model: one for each end at which micro-batches enter.
_THERE_AND_BACK = ("zb-v", "dualpipe-v")


class Plan(NamedTuple):
    """A schedule: `slots[stage]` in order.

    A stage has `pieces` chunks in turn; the model has `chunks` in all.
    """

    schedule: str
    stages: int
    microbatches: int
    pieces: int
    chunks: int
    slots: tuple[StageOrder, ...]


def plan(schedule: str, stages: int, microbatches: int, virtual: int = 1) -> Plan:
    """The passes of each stage. Raises FlopbookError for a shape that the schedule does not run."""
    if schedule not in SCHEDULES:
        raise UnknownName("schedule", str(schedule), SCHEDULES)
    _check_shape(schedule, {"stages": stages, "microbatches": microbatches, "virtual": virtual})
    pieces = 2 if schedule in _THERE_AND_BACK else virtual
    _check_size(stages * microbatches * pieces * KINDS_OF_PASS)
    order = _order(schedule, virtual)
    slots = tuple(order(stage, stages, microbatches) for stage in range(stages))
    return Plan(schedule, stages, microbatches, pieces, stages * pieces, slots)


def _order(schedule: str, virtual: int) -> Order:
    if schedule == "interleaved":
        return partial(interleaved, virtual=virtual)
    return _ORDERS[schedule]


def _check_shape(schedule: str, shape: dict[str, int]) -> None:
    for name, value in shape.items():
        # True is an int too, but no number of stages.
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise FlopbookError(f"{name} is {value!r}, expected a whole number of at least 1")
    for rule in SHAPES:
        rule.check({"schedule": schedule, **shape})


def _check_size(passes: int) -> None:
    if passes > MOST_PASSES:
        raise FlopbookError(
            f"{passes:,} passes are too many to go through one by one, at most {MOST_PASSES:,}; "
            "take fewer stages or micro-batches, the bubble itself is computed without --timeline "
            "and --plot"
        )
