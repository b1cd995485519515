"""The unit of a schedule: one pass of one micro-batch through one chunk of the model."""

from __future__ import annotations

from typing import NamedTuple

# F forward; B backward for the inputs; W backward for the weights; A both backward passes in one
# piece.
KINDS = "FBWA"


class Work(NamedTuple):
    """A pass.

    `chunk` counts along the way of a micro-batch through the model, from its first chunk.
    """

    kind: str
    microbatch: int
    chunk: int


# Passes that run at the same time on one device: mostly one, two where a forward and a backward
# pass overlap.
Slot = tuple[Work, ...]
Slots = tuple[Slot, ...]


def single(passes: list[Work]) -> Slots:
    """Passes that run one after the other."""
    return tuple((work,) for work in passes)
