"""A feed-forward block on many chips, its matrices cut along one side or along both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.architectures.shape import Shape, shape
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, key, path, titled
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.figures.shapes import SHEET

MODEL = "llama-3-70b"
# Parts of the width of the model and of that of the block: TP has the whole of the first.
CUTS = ((1, 64), (4, 16))
MATRICES = ("gate and up", "down")
_HEAD, _GAP, _FOOT = 38.0, 20.0, 26.0
_EDGE = "fb-stroke fb-thin"  # between two pieces


class PartialSum(NamedTuple):
    """Chips that add up partial results of a token, and how many numbers each of them has."""

    chips: int
    numbers: float


def sums(parts: tuple[int, int], llama: Shape) -> tuple[PartialSum, PartialSum]:
    """Of the hidden values, gate and up, and of the outputs."""
    across, along = parts
    return (
        PartialSum(across, 2 * llama.d_ff / along),
        PartialSum(along, llama.d_model / across),
    )


def sent(parts: tuple[int, int], llama: Shape) -> float:
    """Bytes of a token through a port in bf16: two passes of outputs, three halves of hidden."""
    hidden, outputs = sums(parts, llama)
    passed = 1.5 * hidden.numbers if hidden.chips > 1 else 0.0
    return 2 * (passed + 2 * outputs.numbers)


def figure() -> Figure:
    """A row for each cut and a panel for each matrix; both matrices lie on the chips alike."""
    llama = shape(MODEL)
    one, both = (format_quantity(sent(parts, llama), "byte", digits=2) for parts in CUTS)
    chips = CUTS[0][1]
    width = (WIDTH - _GAP - 8) / 2
    facts = "; ".join(
        f"{_cut(parts)}, {name}: {_note(added)}"
        for parts in CUTS
        for name, added in zip(MATRICES, sums(parts, llama), strict=True)
    )
    return Figure(
        f"Cut along both sides a token sends {both} through each of {chips} ports, along one side "
        f"{one}",
        f"The matrices of a feed-forward block on {chips} chips. {facts}.",
        f"The block of {llama.model.name} on {chips} chips: its {format_quantity(llama.d_ff, '1')} "
        f"hidden values run across, the {format_quantity(llama.d_model, '1')} numbers of a token "
        "down. Gate and up take sums down, so chips of one column add; the second matrix takes "
        "them across, so those of one row do. Of both matrices a chip holds the same piece.",
        2 * _tall(width, llama) + _FOOT,
        tuple(_sheet(llama, width, 2)),
        narrow=Sheet(
            SHEET, 4 * _tall(SHEET - 8, llama) + _FOOT, tuple(_sheet(llama, SHEET - 8, 1))
        ),
        readings=tuple(_readings(llama)),
    )


def _readings(llama: Shape) -> Iterator[FigureValue]:
    """Of each cut the numbers that chips add up, and what a port sends for a token."""
    for parts in CUTS:
        for name, added in zip(MATRICES, sums(parts, llama), strict=True):
            yield FigureValue(_cut(parts), f"{name}: chips that add", added.chips)
            yield FigureValue(_cut(parts), f"{name}: numbers of a sum", added.numbers)
        yield FigureValue(_cut(parts), "sent by a port for a token", sent(parts, llama), "byte")


def _tall(width: float, llama: Shape) -> float:
    """Pixels of a panel of such a width, with its head."""
    return float(round(_HEAD + width * llama.d_model / llama.d_ff + 10))


def _cut(parts: tuple[int, int]) -> str:
    across, along = parts
    return f"{across} by {along}" if across > 1 else f"{along} columns"


def _note(added: PartialSum) -> str:
    """What a sum is over, in words."""
    if added.chips == 1:
        return "whole sums on each chip"
    return f"sums of {format_quantity(added.numbers, '1')} numbers over {added.chips} chips"


def _sheet(llama: Shape, width: float, across: int) -> Iterator[str]:
    """The panels, so many side by side, with the legend below."""
    tall = _tall(width, llama)
    panels = [(parts, number) for parts in CUTS for number in range(len(MATRICES))]
    for place, (parts, number) in enumerate(panels):
        row, column = divmod(place, across)
        left, top = 4 + column * (width + _GAP), row * tall
        title = f"{_cut(parts)}: {MATRICES[number]}"
        yield from titled(left + width / 2, top + 14, title, _note(sums(parts, llama)[number]))
        yield from _panel(
            (left, top + _HEAD), width, width * llama.d_model / llama.d_ff, parts, number
        )
    foot = len(panels) // across * tall + 6
    yield from key(4, foot, "one chip", "fb-c0")
    yield from key(104, foot, "chips that it adds with", "fb-c1")


def _panel(
    corner: Point, width: float, height: float, parts: tuple[int, int], number: int
) -> Iterator[str]:
    """A matrix: its pieces, the first chip's, and those whose partial sums go with it."""
    (left, top), (rows, columns) = corner, parts
    wide, tall = width / columns, height / rows
    yield box(left, top, width, height, "fb-c8")
    if number == 0 and rows > 1:
        yield box(left, top, wide, height, "fb-c1")
    if number == 1:
        yield box(left, top, width, tall, "fb-c1")
    yield box(left, top, wide, tall, "fb-c0")
    for column in range(1, columns):
        yield path([(left + column * wide, top), (left + column * wide, top + height)], _EDGE)
    for row in range(1, rows):
        yield path([(left, top + row * tall), (left + width, top + row * tall)], _EDGE)
