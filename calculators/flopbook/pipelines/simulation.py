"""Times a plan: every pass starts when its device is free and what it needs has ended."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.pipelines.passes import Slot, Slots
from flopbook.pipelines.plans import Plan

End = dict[tuple[str, int, int], float]


class Times(NamedTuple):
    """How long a micro-batch takes through one whole stage: forward, backward for inputs, backward
    for weights.
    """

    forward: float = 1
    backward_input: float = 1
    backward_weight: float = 1

    def by_kind(self) -> dict[str, float]:
        """The time of each kind of pass."""
        both = self.backward_input + self.backward_weight
        return {"F": self.forward, "B": self.backward_input, "W": self.backward_weight, "A": both}


class Timed(NamedTuple):
    """A slot with its start and end."""

    start: float
    end: float
    slot: Slot


class Run(NamedTuple):
    """A plan with times.

    `held` counts micro-batches of a whole stage, so a chunk of two counts half.
    """

    plan: Plan
    times: Times
    timed: tuple[tuple[Timed, ...], ...]
    held: tuple[float, ...]

    @property
    def makespan(self) -> float:
        """From the first start of any stage to the last end of any stage."""
        return max(stage[-1].end for stage in self.timed) - min(
            stage[0].start for stage in self.timed
        )

    @property
    def seconds(self) -> float:
        """The longest time that a stage takes from its first pass to its last: steps can follow at
        that interval.
        """
        return max(stage[-1].end - stage[0].start for stage in self.timed)

    @property
    def ideal(self) -> float:
        """The time in which a stage works."""
        return sum(self.times) * self.plan.microbatches

    @property
    def fraction(self) -> float:
        """Share of the step in which a stage is idle."""
        return (self.seconds - self.ideal) / self.seconds


EQUAL = Times()


def simulate(plan: Plan, times: Times = EQUAL) -> Run:
    """Run a plan. The times are those of a whole stage; a stage of two chunks takes half for each.

    Raises FlopbookError for times that are not positive, and for a plan that waits for itself.
    """
    for name, value in times._asdict().items():
        if not 0 < value < float("inf"):
            raise FlopbookError(f"{name} is {value!r}, expected a time of more than 0")
    end: End = {}
    lengths = times.by_kind()
    timed: list[list[Timed]] = [[] for _ in plan.slots]
    waiting = list(range(plan.stages))
    while waiting:
        before = sum(map(len, timed))
        for stage in waiting:
            _advance(plan, lengths, timed[stage], plan.slots[stage], end)
        waiting = [stage for stage in waiting if len(timed[stage]) < len(plan.slots[stage])]
        if waiting and sum(map(len, timed)) == before:
            raise FlopbookError(f"the schedule {plan.schedule} waits for itself")
    pieces = plan.pieces
    shown = tuple(
        tuple(Timed(a / pieces, b / pieces, slot) for a, b, slot in stage) for stage in timed
    )
    return Run(plan, times, shown, tuple(_held(slots) / pieces for slots in plan.slots))


def _advance(
    plan: Plan, lengths: dict[str, float], done: list[Timed], slots: Slots, end: End
) -> None:
    """Run a stage as far as it comes.

    A pass through a chunk counts as one through a whole stage here.
    """
    free = done[-1].end if done else 0
    for slot in slots[len(done) :]:
        ready = free
        for kind, microbatch, chunk in slot:
            need = _needed(kind, microbatch, chunk, plan.chunks)
            if need is None:
                continue
            if need not in end:
                return
            ready = max(ready, end[need])
        free = ready + sum(
            [lengths[kind] for kind, _, _ in slot]
        )  # passes that run at once take the sum
        for kind, microbatch, chunk in slot:
            end["B" if kind == "A" else kind, microbatch, chunk] = free
        done.append(Timed(ready, free, slot))


def _needed(kind: str, microbatch: int, chunk: int, chunks: int) -> tuple[str, int, int] | None:
    """The pass whose result a pass waits for; None for the first chunk's forward pass."""
    if kind == "F":
        return ("F", microbatch, chunk - 1) if chunk else None
    if kind == "W":
        return "B", microbatch, chunk
    return ("B", microbatch, chunk + 1) if chunk < chunks - 1 else ("F", microbatch, chunk)


def _held(slots: Slots) -> int:
    """Most passes whose activations a stage holds: from the start of forward to the end of the
    weights' pass.
    """
    now = most = 0
    for slot in slots:
        now += sum(work.kind == "F" for work in slot)
        most = max(most, now)
        now -= sum(work.kind in "WA" for work in slot)
    return most
