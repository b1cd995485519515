"""Answers of unequal length in a batch of fixed slots: waiting for the longest, or refilled."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue

SLOTS, ANSWERS, MEAN = 6, 24, 8.0
_ROW, _BAR, _GAP = 17.0, 13.0, 34.0


class SlotUse(NamedTuple):
    """An answer in a slot, from one step to another."""

    slot: int
    start: int
    end: int
    answer: int


def lengths() -> list[int]:
    """Steps that each answer takes, exponentially distributed, always the same."""
    draws = random.Random(7)
    return [1 + round(draws.expovariate(1 / MEAN)) for _ in range(ANSWERS)]


def fixed() -> list[SlotUse]:
    """Batches that start together and end with their longest answer."""
    uses, start = [], 0
    answers = lengths()
    for first in range(0, ANSWERS, SLOTS):
        batch = answers[first : first + SLOTS]
        uses += [
            SlotUse(slot, start, start + steps, first + slot) for slot, steps in enumerate(batch)
        ]
        start += max(batch)
    return uses


def refilled() -> list[SlotUse]:
    """Each answer takes the slot that is free first."""
    free = [(0, slot) for slot in range(SLOTS)]
    uses = []
    for answer, steps in enumerate(lengths()):
        start, slot = heapq.heappop(free)
        uses.append(SlotUse(slot, start, start + steps, answer))
        heapq.heappush(free, (start + steps, slot))
    return uses


def steps_of(uses: list[SlotUse]) -> int:
    """Steps until all answers are written."""
    return max(use.end for use in uses)


def _empty(uses: list[SlotUse]) -> Iterator[tuple[int, int, int]]:
    """Slot, start and end of every gap until the last answer is written."""
    for slot in range(SLOTS):
        mine = [use for use in uses if use.slot == slot]
        starts = [*(use.start for use in mine[1:]), steps_of(uses)]
        for use, start in zip(mine, starts, strict=True):
            if start > use.end:
                yield slot, use.end, start


def figure() -> Figure:
    """Two timelines on one scale of steps, a row for each slot."""
    slow, quick = steps_of(fixed()), steps_of(refilled())
    work = sum(lengths())
    shapes, height = _timelines(150.0, 470.0, slow)
    sheet, tall = _timelines(4.0, 336.0, slow, above=True)
    return Figure(
        f"The same answers take {slow} steps in fixed batches and {quick} where slots are refilled",
        f"{ANSWERS} answers in {SLOTS} slots, a row for each slot and a bar for each answer. In "
        f"fixed batches {percent(work / (SLOTS * slow))} of the slots write, refilled "
        f"{percent(work / (SLOTS * quick))}.",
        f"{ANSWERS} answers of exponentially distributed length in {SLOTS} slots. Above, a batch "
        f"ends with its longest answer, and {percent(work / (SLOTS * slow))} of the slots write. "
        f"Below, the next request takes the first free slot: {percent(work / (SLOTS * quick))}. "
        "A colour is one of the batches above; hollow is a slot without an answer.",
        height,
        shapes,
        narrow=Sheet(344, tall, sheet),
        readings=tuple(
            FigureValue(
                f"{name}, slot {use.slot + 1}",
                f"answer {use.answer + 1}, steps",
                use.end - use.start,
                start=use.start,
            )
            for name, uses in (("fixed batches", fixed()), ("slots refilled", refilled()))
            for use in uses
        ),
    )


def _timelines(
    left: float, width: float, steps: int, *, above: bool = False
) -> tuple[tuple[str, ...], float]:
    shapes: list[str] = []
    top = 26.0 if above else 12.0
    for name, uses in (("fixed batches", fixed()), ("slots refilled", refilled())):
        middle = top + SLOTS * _ROW / 2
        if above:
            shapes.append(words(left, top - 8, name, "start", "fb-strong"))
        else:
            shapes.append(words(left - 12, middle, name, "end", "fb-strong"))
        scale = width / steps
        for use in uses:
            tip = f"answer {use.answer + 1}: {use.end - use.start} steps"
            place = left + scale * use.start, top + _ROW * use.slot
            size = scale * (use.end - use.start) - 1.5, _BAR
            shapes.append(box(*place, *size, f"fb-c{use.answer // SLOTS % 4}", tip))
        for slot, start, until in _empty(uses):
            place = left + scale * start, top + _ROW * slot
            shapes.append(box(*place, scale * (until - start) - 1.5, _BAR, "fb-hollow", "empty"))
        end = left + scale * steps_of(uses)
        shapes.append(
            words(end, top + SLOTS * _ROW + 12, f"{steps_of(uses)} steps", "end", "fb-small")
        )
        top += SLOTS * _ROW + _GAP
    return tuple(shapes), top - 8
