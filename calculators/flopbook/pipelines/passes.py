"""The unit of a schedule: one pass of one micro-batch through one chunk of the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class StagePass(NamedTuple):
    """One pass.

    `kind` is F for forward, B and W for backward for the inputs and the weights, and A for both
    backward passes in one piece. `chunk` counts along the way of a micro-batch through the model,
    from its first chunk.
    """

    kind: str
    microbatch: int
    chunk: int


# Passes that run at the same time on one device: mostly one, two where a forward and a backward
# pass overlap.
Slot = tuple[StagePass, ...]
# All slots of one stage, in the order in which they run.
StageOrder = tuple[Slot, ...]


def one_at_a_time(passes: Iterable[StagePass]) -> StageOrder:
    """Passes that run one after the other, each in a slot of its own."""
    return tuple((stage_pass,) for stage_pass in passes)
