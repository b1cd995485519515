"""The sequences of one step as a grid, and the numbers that four frameworks want of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scripts.website.figures.drawing import LINE, Figure, Sheet, box, words
from scripts.website.figures.shapes import EDGE, SHEET, lines_of

_LEFT, _TOP, _CELL = 92.0, 46.0, 16.0


class BatchUnits(NamedTuple):
    """The batch of a step: replicas, their micro-batches, sequences in each, tokens, chips."""

    replicas: int
    micro_batches: int
    each: int
    seq: int
    chips: int

    @property
    def sequences(self) -> int:
        """Sequences of an optimizer step."""
        return self.replicas * self.micro_batches * self.each

    @property
    def per_chip(self) -> float:
        """Sequences of a step over all chips, the TP ranks and stages of a replica included."""
        return self.sequences / self.chips

    def asked(self) -> tuple[tuple[str, str], ...]:
        """What each framework is given, in its units."""
        step, part, row = self.sequences, self.each, self.micro_batches
        tokens = f"step: {step * self.seq:,} tokens; micro-batch: {part * self.seq:,}"
        return (
            ("Megatron-LM", f"step: {step:,} sequences; micro-batch: {part:,}"),
            ("torchtitan", f"{tokens}; micro-batches: {row:,}"),
            (
                "MaxText",
                f"micro-batches: {row:,}; sequences of each of {self.chips:,} chips: "
                f"{self.per_chip:g}",
            ),
            ("DeepSpeed", f"micro-batch in sequences: {part:,}; micro-batches: {row:,}"),
        )


def figure(
    replicas: int = 16, micro_batches: int = 32, each: int = 1, seq: int = 8192, chips: int = 512
) -> Figure:
    """A row for each replica, a cell for each micro-batch; one cell and one row stand out."""
    batch = BatchUnits(replicas, micro_batches, each, seq, chips)
    cell = min(_CELL, 512 / micro_batches)
    foot = _TOP + replicas * 10 + 22
    shapes = [*_grid(batch, _LEFT, cell), *_names(batch, _LEFT)]
    for number, (name, text) in enumerate(batch.asked()):
        y = foot + number * 20
        shapes += [words(_LEFT - 8, y, name, "end", "fb-strong"), words(_LEFT, y, text, "start")]
    step = batch.sequences
    return Figure(
        f"The same step is {step:,} in Megatron-LM, {step * seq:,} in torchtitan and "
        f"{batch.per_chip:g} in MaxText",
        f"A grid of {replicas} rows, one for each replica, and {micro_batches} columns, one for "
        f"each micro-batch. A cell has {each} sequences of {seq:,} tokens. "
        + ". ".join(f"{name} is given: {text}" for name, text in batch.asked())
        + ".",
        "All cells are the step, a row is what one replica works through in it, and the first cell "
        "a micro-batch. Below: what you type in each framework. A replica has "
        f"{chips // replicas} chips, which all see the same cells, and MaxText "
        "counts every one of them.",
        foot + 20 * len(batch.asked()) - 8,
        tuple(shapes),
        narrow=_phone(batch, foot),
    )


def _grid(batch: BatchUnits, left: float, cell: float) -> Iterator[str]:
    """All cells; the first row and its first cell stand out."""
    for row in range(batch.replicas):
        for column in range(batch.micro_batches):
            x, y = left + column * cell, _TOP + row * 10
            yield box(x, y, cell - 1.5, 8.5, f"fb-{_colour(row, column)}")


def _colour(row: int, column: int) -> str:
    if row > 0:
        return "c8"
    return "c1" if column > 0 else "c0"


def _names(batch: BatchUnits, left: float) -> Iterator[str]:
    """What a column and a row are."""
    yield words(left, _TOP - 24, f"{batch.micro_batches} micro-batches of a replica", "start")
    yield words(left, _TOP - 8, "a cell is one", "start", "fb-small")
    yield words(left - 8, _TOP + 8, "one replica", "end", "fb-small")
    middle = _TOP + batch.replicas * 5
    yield words(left - 8, middle + 10, f"{batch.replicas} replicas", "end")


def _phone(batch: BatchUnits, foot: float) -> Sheet:
    """The grid as wide as the sheet, and below it each framework with its text in short lines."""
    shapes = [*_grid(batch, EDGE, (SHEET - 2 * EDGE) / batch.micro_batches)]
    head = f"{batch.replicas} replicas, a row each; a cell is a micro-batch"
    shapes.append(words(EDGE, _TOP - 12, head, "start"))
    y = foot
    for name, text in batch.asked():
        shapes.append(words(EDGE, y, name, "start", "fb-strong"))
        for line in lines_of(text, "", SHEET - 2 * EDGE):
            y += LINE + 3
            shapes.append(words(EDGE, y, line, "start"))
        y += LINE + 12
    return Sheet(SHEET, y - LINE, tuple(shapes))
