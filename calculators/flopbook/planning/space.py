"""The space that is searched: every way to divide chips, layers and batch, one choice an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from flopbook.errors import FlopbookError
from flopbook.planning import exclusions
from flopbook.planning.exclusions import Columns, Sieve
from flopbook.planning.question import Question
from flopbook.prediction.chunks import is_even
from flopbook.prediction.layouts import FSDP
from flopbook.prediction.open_layouts import Sharding
from flopbook.quantities.whole_numbers import divisors

ZERO_STAGES = (0, 1, 2, 3)
MOST_NAMED = 8  # numbers of chunks that a message offers


class Chunks(NamedTuple):
    """A schedule and how many chunks of the model each stage holds."""

    schedule: str
    virtual: int


class Space(NamedTuple):
    """The values of each axis; a layout has one of each."""

    degrees: Columns
    chunks: tuple[Chunks, ...]
    micro_batches: tuple[int, ...]
    zero: tuple[Sharding, ...]
    recompute: tuple[str, ...]

    @property
    def size(self) -> int:
        """Layouts in the space, those that cannot exist included."""
        return len(self.degrees["tp"]) * len(self.chunks) * len(self.micro_batches) * self.variants

    @property
    def variants(self) -> int:
        """Layouts that differ in ZeRO stage and recomputation alone."""
        return len(self.zero) * len(self.recompute)


class Cells(NamedTuple):
    """Layouts of one schedule before ZeRO stage and recomputation: an element each."""

    schedule: str
    numbers: Columns

    def __len__(self) -> int:
        return len(self.numbers["tp"])

    def slices(self, size: int) -> Iterator[Cells]:
        """The same in pieces that fit into the caches of a processor."""
        for start in range(0, len(self), size):
            piece = {name: column[start : start + size] for name, column in self.numbers.items()}
            yield Cells(self.schedule, piece)


def space_of(question: Question) -> Space:
    """The axes of a question, with what it fixes."""
    micro_batches = [b for b in divisors(question.batch) if question.allows("micro_batch", b)]
    degrees = _degrees(question)
    return Space(
        degrees=degrees,
        chunks=_chunks(question, degrees),
        micro_batches=tuple(micro_batches or [question.fixed["micro_batch"]]),
        zero=_shardings(question),
        recompute=question.recompute,
    )


def _shardings(question: Question) -> tuple[Sharding, ...]:
    """Stages over all replicas, and FSDP inside domains where no number of groups is fixed."""
    stages = [stage for stage in ZERO_STAGES if question.allows("zero", stage)]
    is_grouped = question.fixed.get("hsdp", 1) > 1
    plain = [Sharding(stage) for stage in stages if stage or not is_grouped]
    is_open = "hsdp" not in question.fixed and question.allows("zero", FSDP)
    return (*plain, Sharding(FSDP, is_hybrid=True)) if is_open else tuple(plain)


def cells_of(question: Question, space: Space, sieve: Sieve) -> Iterator[Cells]:
    """The layouts that exist, by schedule; the sieve counts the others."""
    per_chunks = len(space.micro_batches) * space.variants
    rows = _possible_degrees(question, space, sieve)
    columns_of: dict[str, list[Columns]] = {}
    for schedule, virtual in space.chunks:
        chunk_words = {"schedule": schedule, "virtual": float(virtual)}
        is_piped = (rows["pp"] > 1) | (schedule == "1f1b")
        piped = sieve.keep(rows, is_piped, exclusions.NO_PIPELINE, per_chunks)
        even = is_even(question.run.shape.layers, piped["pp"] * virtual)
        piped = sieve.keep(piped, even, exclusions.UNEVEN, per_chunks)
        piped = sieve.obey(piped, exclusions.CHUNK_RULES, per_chunks, **chunk_words)
        crossed = _with_batches(question, space, piped)
        is_whole = crossed["microbatches"] % 1 == 0
        crossed = sieve.keep(crossed, is_whole, exclusions.BATCH, space.variants)
        crossed = sieve.obey(crossed, exclusions.BATCH_RULES, space.variants, **chunk_words)
        crossed["virtual"] = np.full(len(crossed["tp"]), float(virtual))
        columns_of.setdefault(schedule, []).append(crossed)
    for schedule, pieces in columns_of.items():
        yield Cells(
            schedule, {name: np.concatenate([p[name] for p in pieces]) for name in pieces[0]}
        )


def _possible_degrees(question: Question, space: Space, sieve: Sieve) -> Columns:
    """The degrees that heads, experts, layers and sequence allow."""
    stands_for = len(space.chunks) * len(space.micro_batches) * space.variants
    rows = sieve.obey(space.degrees, exclusions.DEGREE_RULES, stands_for)
    divides = question.run.shape.ffn_width % rows["tp"] == 0
    return sieve.keep(rows, divides, exclusions.NARROW, stands_for)


def _with_batches(question: Question, space: Space, rows: Columns) -> Columns:
    """Each row with each size of a micro-batch."""
    sizes = np.array(space.micro_batches, dtype=float)
    count = len(rows["tp"])
    crossed = {name: np.repeat(column, len(sizes)) for name, column in rows.items()}
    crossed["micro_batch"] = np.tile(sizes, count)
    crossed["microbatches"] = question.batch / (crossed["dp"] * crossed["micro_batch"])
    return crossed


def _degrees(question: Question) -> Columns:
    """Every way to write the chips as a product of degrees, and every expert-parallel degree."""
    chips, experts = question.chips, int(question.run.shape.experts)
    ways: list[tuple[int, ...]] = []
    for tp in _allowed(question, "tp", chips):
        for pp in _allowed(question, "pp", chips // tp):
            for cp in _allowed(question, "cp", chips // (tp * pp)):
                dp = chips // (tp * pp * cp)
                if question.allows("dp", dp):
                    ways += [(tp, pp, cp, ep, dp) for ep in _experts(question, experts)]
    table = np.array(ways, dtype=float).reshape(-1, 5)
    return dict(zip(("tp", "pp", "cp", "ep", "dp"), table.T.copy(), strict=True))


def _allowed(question: Question, name: str, number: int) -> list[int]:
    return [degree for degree in divisors(number) if question.allows(name, degree)]


def _experts(question: Question, experts: int) -> list[int]:
    """Expert-parallel degrees; a fixed one is kept though it may not divide the experts."""
    degrees = [ep for ep in divisors(max(experts, 1)) if question.allows("ep", ep)]
    return degrees or [question.fixed["ep"]]


def _chunks(question: Question, degrees: Columns) -> tuple[Chunks, ...]:
    """Schedules with the numbers of chunks with which some pipeline is even."""
    layers = int(question.run.shape.layers)
    stages = sorted({int(pp) for pp in degrees["pp"] if pp > 1})
    virtual = {
        chunks // pp
        for pp in stages
        for chunks in range(2 * pp, layers + 1, pp)
        if is_even(layers, chunks)
    }
    offered: list[Chunks] = []
    for schedule in question.schedules:
        counts: list[int] = sorted(virtual) if schedule == "interleaved" else [1]
        offered += [Chunks(schedule, v) for v in counts if question.allows("virtual", v)]
    if not offered:
        raise _no_chunks(question, sorted(virtual))
    return tuple(offered)


def _no_chunks(question: Question, possible: list[int]) -> FlopbookError:
    """Why no pipeline of the question has the chunks that were asked for."""
    layers = f"{question.run.shape.layers:.0f} layers"
    if not possible:
        return FlopbookError(f"no pipeline on these chips divides {layers} into more chunks")
    usable = ", ".join(map(str, possible[:MOST_NAMED]))
    return FlopbookError(
        f"--virtual {question.fixed['virtual']} divides {layers} over no pipeline on these chips; "
        f"use {usable}"
    )


def layout_numbers(cells: Cells, index: Any) -> dict[str, float]:
    """The numbers of one cell."""
    return {name: float(column[index]) for name, column in cells.numbers.items()}
