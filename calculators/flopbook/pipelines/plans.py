"""A plan: the passes of every stage in order, for each schedule by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from flopbook.errors import FlopbookError, UnknownName
from flopbook.formulas.pipeline import SCHEDULES, SHAPES
from flopbook.pipelines.one_way import gpipe, interleaved, one_by_one, zero_bubble, zero_bubble_v
from flopbook.pipelines.passes import Slots, Work
from flopbook.pipelines.two_way import dualpipe, dualpipe_v

__all__ = ["MOST_PASSES", "Plan", "Work", "plan"]

MOST_PASSES = 100_000  # beyond this nobody looks at a schedule pass by pass


class Plan(NamedTuple):
    """A schedule: `slots[stage]` in order.

    A stage has `pieces` chunks in turn; the model has `chunks` in all.
    """

    schedule: str
    stages: int
    microbatches: int
    pieces: int
    chunks: int
    slots: tuple[Slots, ...]


_ORDERS: dict[str, Callable[[int, int, int], Slots]] = {
    "gpipe": gpipe,
    "1f1b": one_by_one,
    "zb-h1": lambda stage, stages, microbatches: zero_bubble(stage, stages, microbatches, 1),
    "zb-h2": lambda stage, stages, microbatches: zero_bubble(stage, stages, microbatches, 2),
    "zb-v": zero_bubble_v,
    "dualpipe": dualpipe,
    "dualpipe-v": dualpipe_v,
}


def plan(schedule: str, stages: int, microbatches: int, virtual: int = 1) -> Plan:
    """The passes of each stage. Raises FlopbookError for a shape that the schedule does not run."""
    if schedule not in SCHEDULES:
        raise UnknownName("schedule", str(schedule), SCHEDULES)
    shape = {"stages": stages, "microbatches": microbatches, "virtual": virtual}
    for name, value in shape.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise FlopbookError(f"{name} is {value!r}, expected a whole number of at least 1")
    for holds, message in SHAPES:
        if not holds(schedule=schedule, **shape):
            raise FlopbookError(message)
    pieces = 2 if schedule in ("zb-v", "dualpipe-v") else virtual
    passes = stages * microbatches * pieces * 3
    if passes > MOST_PASSES:
        raise FlopbookError(
            f"{passes:,} passes are too many to go through one by one, at most {MOST_PASSES:,}; "
            "take fewer stages or micro-batches, the bubble itself is computed without --timeline and --plot"
        )
    if schedule == "interleaved":
        slots = tuple(interleaved(stage, stages, microbatches, virtual) for stage in range(stages))
    else:
        slots = tuple(_ORDERS[schedule](stage, stages, microbatches) for stage in range(stages))
    return Plan(schedule, stages, microbatches, pieces, stages * pieces, slots)
