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
from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.asking import band_of_run
from flopbook.prediction.conventions import USUAL, flop_per_token
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.offloading import spread_of
from flopbook.prediction.step_time import StepParts, step_parts

# Cells whose arrays stay in the caches of a core.
PIECE = 4096
DEFAULT_TOP = 10
MOST_LARGER = 64  # layouts beyond the memory that are kept
DIVISION = ("tp", "pp", "cp", "ep", "dp")  # the degrees by which people tell layouts apart


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
    hsdp: int
    seconds: float
    low: float
    high: float
    bytes: float
    mfu: float


class RunPlan(NamedTuple):
    """The best layouts of a question, how many were considered, and why others are left out.

    `larger` has layouts that would be faster than the best if the memory were no limit, the fastest
    first. `front`, where it was asked for, has those that no other beats in both time and memory.
    `divisions` has the fastest layout of each way to divide the chips, the fastest first: those of
    `layouts` often differ in the number of chunks alone.
    """

    question: Question
    layouts: tuple[PlannedLayout, ...]
    considered: int
    infeasible: Mapping[str, int]
    front: tuple[PlannedLayout, ...] = ()
    larger: tuple[PlannedLayout, ...] = ()
    divisions: tuple[PlannedLayout, ...] = ()

    def __repr__(self) -> str:
        counts = f"{self.feasible:,} of {self.considered:,} layouts fit"
        if not self.layouts:
            return f"<plan: {counts}>"
        return f"<plan: {counts}, the fastest takes {self.layouts[0].seconds:.3g} s a step>"

    @property
    def too_large(self) -> PlannedLayout | None:
        """The layout that memory alone keeps from being the best."""
        return self.larger[0] if self.larger else None

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
        if self.question.has_open_batch:  # a plan that was asked in full has these three keys
            record["inferred"] = list(self.question.inferred)
        if self.front:
            record["front"] = [layout._asdict() for layout in self.front]
        return record


class Evaluated(NamedTuple):
    """Cells with the seconds and bytes of each variant: axes cell, ZeRO stage, recomputation.

    `groups` has the number of groups of replicas for each cell and stage.
    """

    cells: Cells
    groups: Column
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
    divisions: list[PlannedLayout] = []
    for found in evaluated(question, space, sieve, inputs):
        best = _fastest([*best, *fastest_of(question, space, found, found.is_possible, top)], top)
        larger = fastest_of(question, space, found, found.is_too_large, MOST_LARGER)
        beyond = _fastest([*beyond, *larger], MOST_LARGER)
        divisions = _divisions([*divisions, *_best_divisions(question, space, found, top)], top)
        if with_front:
            front = _unbeaten([*front, *_front_of(question, space, found)])
    faster = tuple(layout for layout in beyond if not best or layout.seconds < best[0].seconds)
    counts = dict(sieve.counts.most_common())
    return RunPlan(
        question, tuple(best), space.size, counts, tuple(front), faster, tuple(divisions)
    )


def division_of(layout: PlannedLayout) -> tuple[int, ...]:
    """How a layout divides the chips."""
    return tuple(getattr(layout, name) for name in DIVISION)


def _divisions(layouts: list[PlannedLayout], top: int) -> list[PlannedLayout]:
    """The fastest of each division of some layouts, of equal times the first in the space."""
    best: dict[tuple[int, ...], PlannedLayout] = {}
    for layout in _fastest(layouts, len(layouts)):
        best.setdefault(division_of(layout), layout)
    return list(best.values())[:top]


def _best_divisions(
    question: Question, space: Space, found: Evaluated, top: int
) -> list[PlannedLayout]:
    """The fastest layout of each of the fastest divisions of a piece."""
    seconds = np.where(found.is_possible, found.seconds, np.inf)
    variants = seconds.reshape(len(seconds), -1)
    quickest = variants.min(axis=1)
    degrees = np.stack([found.cells.numbers[name] for name in DIVISION], axis=1)
    chosen: dict[tuple[float, ...], int] = {}
    for cell in np.argsort(quickest, kind="stable"):
        if len(chosen) == top or np.isinf(quickest[cell]):
            break
        chosen.setdefault(tuple(degrees[cell].tolist()), int(cell))
    width = variants.shape[1]
    places = (np.intp(cell * width + variants[cell].argmin()) for cell in chosen.values())
    return [_layout(question, space, found, place) for place in places]


def seconds_by_chunks(question: Question) -> dict[int, float]:
    """Number of chunks -> seconds of the fastest layout with so many that fits."""
    inputs, space = memory_inputs(question), space_of(question)
    fastest: dict[int, float] = {}
    for found in evaluated(question, space, Sieve(inputs), inputs):
        quickest = np.where(found.is_possible, found.seconds, np.inf).min(axis=(1, 2))
        for count in np.unique(found.cells.numbers["virtual"]):
            least = float(quickest[found.cells.numbers["virtual"] == count].min())
            fastest[int(count)] = min(least, fastest.get(int(count), np.inf))
    return fastest


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
    stages = np.array([sharding.stage for sharding in space.zero], dtype=float)
    replicas = (cells.numbers["dp"] * cells.numbers["cp"])[:, None]
    is_divisible = (replicas > 1) | (stages == 0)[None, :]
    words = len(space.recompute)
    sieve.count(exclusions.NO_REPLICAS, words * int(np.sum(~is_divisible)))
    is_new = _is_new(cells, stages)
    sieve.count(exclusions.TWICE, words * int(np.sum(is_divisible & ~is_new)))
    groups, is_grouped = groups_of(question, cells, space)
    sieve.count(exclusions.NO_GROUPS, words * int(np.sum(is_divisible & is_new & ~is_grouped)))
    exists = np.repeat((is_divisible & is_new & is_grouped)[:, :, None], words, axis=2)
    held = _bytes(cells, stages, groups, space.recompute, inputs)
    fits = exists & (held <= question.room)
    sieve.count(exclusions.NO_ROOM, int(exists.sum() - fits.sum()))
    seconds = parts_of(question, cells, stages, groups, space.recompute).seconds
    seconds = np.broadcast_to(seconds, exists.shape)
    is_possible = fits & (seconds <= question.most_seconds)
    sieve.count(exclusions.TOO_SLOW, int(fits.sum() - is_possible.sum()))
    return Evaluated(cells, groups, seconds, held, is_possible, exists & ~fits)


def _is_new(cells: Cells, stages: Column) -> Mask:
    """Where a stage is more than another name: in a pipeline gradients add up whole under 1 and 2.

    Who asks for stage 2 alone gets it.
    """
    is_again = (stages == 2) & np.any(stages == 1)
    is_new: Mask = ~(is_again[None, :] & (cells.numbers["pp"] > 1)[:, None])
    return is_new


def groups_of(question: Question, cells: Cells, space: Space) -> tuple[Column, Mask]:
    """Groups of replicas that each hold everything, by cell and stage, and where they can be.

    A group of HSDP has the replicas of a domain of fast links. Where there is none the number is 1.
    """
    ranks = cells.numbers["dp"] * cells.numbers["cp"]
    hybrid = ranks * cells.numbers["tp"] / question.run.domain
    can_be = (hybrid > 1) & (hybrid % 1 == 0) & (cells.numbers["dp"] % hybrid == 0)
    can_be = can_be & (ranks / hybrid % cells.numbers["ep"] == 0)
    is_hybrid = np.array([sharding.is_hybrid for sharding in space.zero])[None, :]
    sharded = np.array([sharding.stage > 0 for sharding in space.zero])[None, :]
    fixed = question.fixed.get("hsdp", 1)
    plain = np.where(sharded, float(fixed), 1.0)
    groups = np.where(is_hybrid, np.where(can_be, hybrid, 1)[:, None], plain)
    return groups, np.where(is_hybrid, can_be[:, None], _divides(cells, groups))


def _divides(cells: Cells, groups: Column) -> Mask:
    """Whether groups have whole replicas, and each of them all experts."""
    dp, ranks = cells.numbers["dp"][:, None], (cells.numbers["dp"] * cells.numbers["cp"])[:, None]
    is_whole: Mask = (dp % groups == 0) & (ranks / groups % cells.numbers["ep"][:, None] == 0)
    return is_whole


def parts_of(
    question: Question, cells: Cells, zero: Column, groups: Column, recompute: tuple[str, ...]
) -> StepParts:
    """The parts of the step of each cell under each ZeRO stage and recomputation."""
    numbers = {name: column[:, None, None] for name, column in cells.numbers.items()}
    numbers["micro_batches"] = numbers.pop("microbatches")
    numbers["zero"] = zero[None, :, None]
    numbers["hsdp"] = groups[:, :, None]
    words = {"recompute": np.array(recompute)[None, None, :]}
    grid = LayoutGrid(question.run._replace(schedule=cells.schedule), numbers, words)
    return step_parts(grid, fitted_kinds()["training_throughput"].parameters)


def _bytes(
    cells: Cells,
    zero: Column,
    groups: Column,
    recompute: tuple[str, ...],
    inputs: Mapping[str, Any],
) -> Column:
    numbers = {name: column[:, None] for name, column in cells.numbers.items()}
    numbers["zero"], numbers["hsdp"] = zero[None, :], groups
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
    fitted = fitted_kinds()["training_throughput"]
    run = question.run
    factor = band_of_run(fitted, run)
    if run.offload != "no":
        factor *= spread_of(seconds, _waiting(question, space, found, place))
    rate = question.batch * run.shape.tokens / seconds / run.chips
    return PlannedLayout(
        tp=int(numbers["tp"]),
        pp=int(numbers["pp"]),
        virtual=int(numbers["virtual"]),
        schedule=found.cells.schedule,
        dp=int(numbers["dp"]),
        zero=space.zero[stage].stage,
        cp=int(numbers["cp"]),
        ep=int(numbers["ep"]),
        micro_batch=int(numbers["micro_batch"]),
        recompute=space.recompute[word],
        hsdp=int(found.groups[cell, stage]),
        seconds=seconds,
        low=seconds / factor,
        high=seconds * factor,
        bytes=float(found.bytes[cell, stage, word]),
        mfu=rate * flop_per_token(run.shape, USUAL) / run.machine.peak(run.precision),
    )


def _waiting(question: Question, space: Space, found: Evaluated, place: np.intp) -> float:
    """Seconds that a layout waits for its host."""
    cell, stage, word = np.unravel_index(place, found.seconds.shape)
    numbers = {name: column[[cell]] for name, column in found.cells.numbers.items()}
    cells = Cells(found.cells.schedule, numbers)
    zero = np.array([float(space.zero[stage].stage)])
    groups = found.groups[[cell], stage, None]
    return float(parts_of(question, cells, zero, groups, (space.recompute[word],)).offload.item())
