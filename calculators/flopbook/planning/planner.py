"""Searches the whole space of a question: time and memory of every layout, the best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from flopbook.planning import exclusions
from flopbook.planning.exclusions import MODEL_RULES, Sieve
from flopbook.planning.fronts import front_of
from flopbook.planning.grid import LayoutGrid
from flopbook.planning.memory import bytes_of, memory_inputs
from flopbook.planning.question import Question
from flopbook.planning.space import Cells, Space, cells_of, space_of
from flopbook.prediction import training
from flopbook.prediction.conventions import USUAL, flop_per_token
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import Column, Mask
from flopbook.prediction.step_time import StepParts, step_parts
from flopbook.prediction.validation import band_of

# Cells whose arrays stay in the caches of a core.
PIECE = 4096
DEFAULT_TOP = 10


class PlannedLayout(NamedTuple):
    """A layout that fits, with what it is predicted to take."""

    tp: int
    pp: int
    virtual: int
    schedule: str
    dp: int
    zero: int
    cp: int
    ep: int
    micro_batch: int
    recompute: str
    seconds: float
    low: float
    high: float
    bytes: float
    mfu: float


class RunPlan(NamedTuple):
    """The best layouts of a question, how many were considered, and why others are left out.

    `too_large` is the one that would take the least time if the memory were no limit; None where
    it is slower than the best. `front`, where it was asked for, has the layouts that no other
    beats in both time and memory.
    """

    question: Question
    layouts: tuple[PlannedLayout, ...]
    considered: int
    infeasible: Mapping[str, int]
    too_large: PlannedLayout | None = None
    front: tuple[PlannedLayout, ...] = ()

    @property
    def feasible(self) -> int:
        """Layouts that exist, fit, and keep the limits."""
        return self.considered - sum(self.infeasible.values())

    def record(self) -> dict[str, Any]:
        """The plan as `flopbook plan --json` prints it."""
        record: dict[str, Any] = {
            "layouts": [layout._asdict() for layout in self.layouts],
            "considered": self.considered,
            "infeasible": dict(self.infeasible),
        }
        if self.front:
            record["front"] = [layout._asdict() for layout in self.front]
        return record


class Evaluated(NamedTuple):
    """Cells with the seconds and bytes of each variant: axes cell, ZeRO stage, recomputation."""

    cells: Cells
    seconds: Column
    bytes: Column
    is_possible: Mask
    is_too_large: Mask


def plan(question: Question, top: int = DEFAULT_TOP, *, with_front: bool = False) -> RunPlan:
    """The best layouts of a question. Raises FlopbookError for a model that no layout can hold."""
    inputs = memory_inputs(question)
    for rule in MODEL_RULES:
        rule.check({**inputs, "schedule": "1f1b", "microbatches": 1.0})
    sieve, space = Sieve(inputs), space_of(question)
    best: list[PlannedLayout] = []
    beyond: list[PlannedLayout] = []
    front: list[PlannedLayout] = []
    for found in evaluated(question, space, sieve, inputs):
        best = _fastest([*best, *fastest_of(question, space, found, found.is_possible, top)], top)
        beyond = _fastest([*beyond, *fastest_of(question, space, found, found.is_too_large, 1)], 1)
        if with_front:
            front = _unbeaten([*front, *_front_of(question, space, found)])
    is_faster = beyond and (not best or beyond[0].seconds < best[0].seconds)
    too_large = beyond[0] if is_faster else None
    counts = dict(sieve.counts.most_common())
    return RunPlan(question, tuple(best), space.size, counts, too_large, tuple(front))


def _unbeaten(layouts: list[PlannedLayout]) -> list[PlannedLayout]:
    """Those of some layouts that no other beats in both time and memory."""
    seconds = np.array([layout.seconds for layout in layouts])
    held = np.array([layout.bytes for layout in layouts])
    return [layouts[place] for place in front_of(seconds, held)]


def _front_of(question: Question, space: Space, found: Evaluated) -> list[PlannedLayout]:
    places = np.flatnonzero(found.is_possible)
    chosen = front_of(found.seconds.ravel()[places], found.bytes.ravel()[places])
    return [_layout(question, space, found, places[place]) for place in chosen]


def _fastest(layouts: list[PlannedLayout], top: int) -> list[PlannedLayout]:
    """The first layouts by time, those of equal time in the order of the space."""
    return sorted(layouts, key=lambda layout: layout.seconds)[:top]


def evaluated(
    question: Question, space: Space, sieve: Sieve, inputs: Mapping[str, Any]
) -> Iterator[Evaluated]:
    """Time and memory of all layouts that exist, piece by piece."""
    for cells in cells_of(question, space, sieve):
        for piece in cells.slices(PIECE):
            yield evaluate(question, space, sieve, inputs, piece)


def evaluate(
    question: Question, space: Space, sieve: Sieve, inputs: Mapping[str, Any], cells: Cells
) -> Evaluated:
    """Time and memory of some cells under each ZeRO stage and recomputation."""
    stages = np.array(space.zero, dtype=float)
    replicas = (cells.numbers["dp"] * cells.numbers["cp"])[:, None, None]
    exists = (replicas > 1) | (stages == 0)[None, :, None]
    exists = np.broadcast_to(exists, (len(cells), len(stages), len(space.recompute)))
    sieve.count(exclusions.NO_REPLICAS, int(exists.size - exists.sum()))
    held = _bytes(cells, stages, space.recompute, inputs)
    fits = exists & (held <= question.room)
    sieve.count(exclusions.NO_ROOM, int(exists.sum() - fits.sum()))
    seconds = parts_of(question, cells, stages, space.recompute).seconds
    seconds = np.broadcast_to(seconds, exists.shape)
    is_possible = fits & (seconds <= question.most_seconds)
    sieve.count(exclusions.TOO_SLOW, int(fits.sum() - is_possible.sum()))
    return Evaluated(cells, seconds, held, is_possible, exists & ~fits)


def parts_of(
    question: Question, cells: Cells, zero: Column, recompute: tuple[str, ...]
) -> StepParts:
    """The parts of the step of each cell under each ZeRO stage and recomputation."""
    numbers = {name: column[:, None, None] for name, column in cells.numbers.items()}
    numbers["micro_batches"] = numbers.pop("microbatches")
    numbers["zero"] = zero[None, :, None]
    words = {"recompute": np.array(recompute)[None, None, :]}
    grid = LayoutGrid(question.run._replace(schedule=cells.schedule), numbers, words)
    return step_parts(grid, fitted_kinds()["training_throughput"].parameters)


def _bytes(
    cells: Cells, zero: Column, recompute: tuple[str, ...], inputs: Mapping[str, Any]
) -> Column:
    numbers = {name: column[:, None] for name, column in cells.numbers.items()}
    numbers["zero"] = zero[None, :]
    totals = [
        bytes_of(inputs, numbers, schedule=cells.schedule, recompute=word) for word in recompute
    ]
    return np.stack(totals, axis=-1)


def fastest_of(
    question: Question, space: Space, found: Evaluated, allowed: Mask, top: int
) -> list[PlannedLayout]:
    """The fastest of the layouts of a piece that are allowed."""
    seconds = np.where(allowed, found.seconds, np.inf).ravel()
    count = min(top, int(allowed.sum()))
    if not count:
        return []
    bound = np.partition(seconds, count - 1)[count - 1]
    places = np.flatnonzero(seconds <= bound)
    places = places[np.argsort(seconds[places], kind="stable")][:count]
    return [_layout(question, space, found, place) for place in places]


def _layout(question: Question, space: Space, found: Evaluated, place: np.intp) -> PlannedLayout:
    cell, stage, word = np.unravel_index(place, found.seconds.shape)
    numbers = {name: column[cell] for name, column in found.cells.numbers.items()}
    seconds = float(found.seconds[cell, stage, word])
    known = fitted_kinds()["training_throughput"]
    factor = band_of(known, training.band_name(question.run.inferred))
    run = question.run
    rate = question.batch * run.shape.tokens / seconds / run.chips
    return PlannedLayout(
        tp=int(numbers["tp"]),
        pp=int(numbers["pp"]),
        virtual=int(numbers["virtual"]),
        schedule=found.cells.schedule,
        dp=int(numbers["dp"]),
        zero=space.zero[stage],
        cp=int(numbers["cp"]),
        ep=int(numbers["ep"]),
        micro_batch=int(numbers["micro_batch"]),
        recompute=space.recompute[word],
        seconds=seconds,
        low=seconds / factor,
        high=seconds * factor,
        bytes=float(found.bytes[cell, stage, word]),
        mfu=rate * flop_per_token(run.shape, USUAL) / run.machine.peak_16bit,
    )
