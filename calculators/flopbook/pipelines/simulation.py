"""Times a plan: every pass starts when its device is free and what it needs has ended."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.pipelines.passes import Slot, StageOrder
from flopbook.pipelines.plans import Plan

# When each pass ended, by kind (F, B or W), micro-batch and chunk.
PassKey = tuple[str, int, int]
EndTimes = dict[PassKey, float]


class Times(NamedTuple):
    """How long each kind of pass of a micro-batch takes through one whole stage."""

    forward: float = 1
    backward_input: float = 1
    backward_weight: float = 1

    def by_kind(self) -> dict[str, float]:
        """The time of each kind of pass."""
        both = self.backward_input + self.backward_weight
        return {"F": self.forward, "B": self.backward_input, "W": self.backward_weight, "A": both}


class TimedSlot(NamedTuple):
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
    timed: tuple[tuple[TimedSlot, ...], ...]
    held: tuple[float, ...]

    @property
    def makespan(self) -> float:
        """From the first start of any stage to the last end of any stage."""
        last_end = max(stage[-1].end for stage in self.timed)
        return last_end - min(stage[0].start for stage in self.timed)

    @property
    def seconds(self) -> float:
        """The longest time of a stage from its first pass to its last.

        Steps can follow each other at that interval.
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
    for name, seconds in times._asdict().items():
        if not 0 < seconds < float("inf"):
            raise FlopbookError(f"{name} is {seconds!r}, expected a time of more than 0")
    timed = _time_slots(plan, times.by_kind())
    # Up to here a pass through a chunk has counted as one through a whole stage.
    scaled = tuple(_scaled(stage, plan.pieces) for stage in timed)
    held = tuple(_most_held(order) / plan.pieces for order in plan.slots)
    return Run(plan, times, scaled, held)


def _time_slots(plan: Plan, durations: dict[str, float]) -> list[list[TimedSlot]]:
    """Run all stages in turn, each as far as it comes, until every slot has its time."""
    ends: EndTimes = {}
    timed: list[list[TimedSlot]] = [[] for _ in plan.slots]
    unfinished = list(range(plan.stages))
    while unfinished:
        before = sum(map(len, timed))
        for stage in unfinished:
            _advance(plan, durations, timed[stage], plan.slots[stage], ends)
        unfinished = [n for n in unfinished if len(timed[n]) < len(plan.slots[n])]
        if unfinished and sum(map(len, timed)) == before:
            raise FlopbookError(f"the schedule {plan.schedule} waits for itself")
    return timed


def _advance(
    plan: Plan,
    durations: dict[str, float],
    timed: list[TimedSlot],
    order: StageOrder,
    ends: EndTimes,
) -> None:
    """Run a stage until it waits for a pass of another stage that has not run yet."""
    free = timed[-1].end if timed else 0
    for place in range(len(timed), len(order)):
        slot, start = order[place], free
        for key in _needed(slot, plan.chunks):
            end = ends.get(key)
            if end is None:
                return
            start = max(start, end)
        # Passes that run at once take the sum of their times.
        free = start + sum([durations[kind] for kind, _, _ in slot])
        for kind, microbatch, chunk in slot:
            # A pass in one piece ends the backward for the inputs, which the stage before needs.
            ends["B" if kind == "A" else kind, microbatch, chunk] = free
        timed.append(TimedSlot(start, free, slot))


def _needed(slot: Slot, chunks: int) -> list[PassKey]:
    """The passes whose results the passes of a slot wait for, in a model of so many chunks."""
    needed: list[PassKey] = []
    for kind, microbatch, chunk in slot:
        if kind == "W":
            needed.append(("B", microbatch, chunk))
        elif kind == "F":
            if chunk > 0:  # nothing comes before the first chunk's forward pass
                needed.append(("F", microbatch, chunk - 1))
        elif chunk < chunks - 1:
            needed.append(("B", microbatch, chunk + 1))
        else:  # the loss is computed on the last chunk, where the way back begins
            needed.append(("F", microbatch, chunk))
    return needed


def _scaled(stage: list[TimedSlot], pieces: int) -> tuple[TimedSlot, ...]:
    """The slots of a stage of so many chunks, in times of whole stages."""
    return tuple(TimedSlot(start / pieces, end / pieces, slot) for start, end, slot in stage)


def _most_held(order: StageOrder) -> int:
    """The most chunks' activations that a stage holds at once.

    They are held from the start of the forward pass to the end of the weight pass.
    """
    held = most = 0
    for slot in order:
        kinds = [stage_pass.kind for stage_pass in slot]
        held += kinds.count("F")
        most = max(most, held)
        held -= kinds.count("W") + kinds.count("A")
    return most
