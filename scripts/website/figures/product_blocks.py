"""The copies that a linear layer quantises in blocks: each of three tensors along either side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, titled
from scripts.website.figures.plotted import Point
from scripts.website.figures.shapes import EDGE, SHEET

SIDES = {"B": 42.0, "D": 63.0, "F": 98.0}  # pixels for tokens, inputs and outputs of the layer
_BLOCKS = 2  # of a drawn row or column
_THIN, _GAP = 7.0, 1.5  # pixels of a block across its length, and between two
_HEAD, _NOTES, _TALL = 36.0, 44.0, SIDES["D"]  # above a column, below a copy, of the tallest copy


class Copy(NamedTuple):
    """A quantised copy: its step of the list, what it is for, and the side its blocks lie along."""

    step: int
    product: str
    along: str


class Tensor(NamedTuple):
    """A tensor of the layer by rows and columns, its colour, and its two copies."""

    name: str
    rows: str
    columns: str
    colour: str
    copies: tuple[Copy, Copy]


TENSORS = (
    Tensor("X", "B", "D", "fb-c1", (Copy(1, "Y", "D"), Copy(6, "dW", "B"))),
    Tensor("W", "D", "F", "fb-c0", (Copy(1, "Y", "D"), Copy(4, "dX", "F"))),
    Tensor("dY", "B", "F", "fb-c3", (Copy(4, "dX", "F"), Copy(6, "dW", "B"))),
)


def figure() -> Figure:
    """A column for each tensor with its two copies under each other."""
    height = _HEAD + 2 * (_TALL + _NOTES)
    facts = (
        f"{tensor.name} along {first.along} for {first.product} and along {second.along} for "
        f"{second.product}"
        for tensor in TENSORS
        for first, second in [tensor.copies]
    )
    return Figure(
        f"{len(TENSORS)} products sum over {len(SIDES)} different sides, so {len(TENSORS)} tensors "
        f"need {sum(len(tensor.copies) for tensor in TENSORS)} quantised copies",
        "Three tensors with rows and columns, each drawn twice and cut into blocks: "
        f"{'; '.join(facts)}.",
        "A small bar is a block of numbers under one scale. It lies along the side that the "
        "product sums over, so the two copies of a tensor are cut across each other, and a number "
        "shares its scale with other numbers in each.",
        height,
        tuple(_columns(0, WIDTH)),
        narrow=Sheet(SHEET, height, tuple(_columns(EDGE, SHEET - EDGE))),
    )


def _columns(left: float, right: float) -> Iterator[str]:
    """The tensors beside each other between two edges."""
    wide = (right - left) / len(TENSORS)
    for number, tensor in enumerate(TENSORS):
        middle = left + wide * (number + 0.5)
        yield from titled(middle, 14, tensor.name, f"{tensor.rows} by {tensor.columns}")
        for row, copy in enumerate(tensor.copies):
            top = _HEAD + row * (_TALL + _NOTES)
            yield from _copy(tensor, copy.along, (middle, top))
            note = f"step {copy.step}, for {copy.product}"
            yield from titled(middle, top + _TALL + 16, f"along {copy.along}", note, 14)


def _copy(tensor: Tensor, along: str, place: Point) -> Iterator[str]:
    """The blocks of one copy; `place` is the middle of the upper edge of its room."""
    middle, top = place
    width, height = SIDES[tensor.columns], SIDES[tensor.rows]
    left, top = middle - width / 2, top + (_TALL - height)
    lying = along == tensor.columns
    across, down = (width / _BLOCKS, _THIN) if lying else (_THIN, height / _BLOCKS)
    for row in range(round(height / down)):
        for column in range(round(width / across)):
            x, y = left + column * across, top + row * down
            yield box(x, y, across - _GAP, down - _GAP, tensor.colour)
