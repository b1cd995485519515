"""The three matrix products of one weight matrix in training: one forward, two backward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scripts.website.figures.drawing import Figure, Sheet, labelled, words
from scripts.website.figures.plotted import Point
from scripts.website.figures.shapes import EDGE, SHEET

_B, _D, _F = 44, 70, 110  # pixels for the sides B, D and F
_ROWS = (
    ("forward", ("In", "B", "D", "c2"), ("W", "D", "F", "c0"), ("Out", "B", "F", "c2")),
    (
        "backward, for the input",
        ("dOut", "B", "F", "c1"),
        ("Wᵀ", "F", "D", "c0"),
        ("dIn", "B", "D", "c1"),
    ),
    (
        "backward, for the weights",
        ("Inᵀ", "D", "B", "c2"),
        ("dOut", "B", "F", "c1"),
        ("dW", "D", "F", "c3"),
    ),
)
_SIDES = {"B": _B, "D": _D, "F": _F}
Factor = tuple[str, str, str, str]  # its name, its rows and columns, and its colour


def figure() -> Figure:
    """One row for each product; sides of the same name have the same length."""
    shapes, top = list[str](), 8.0
    for name, *factors in _ROWS:
        tall = _tall(factors)
        shapes.append(words(8, top + tall / 2 + 4, name, "start"))
        shapes += _product(factors, (200, top + tall / 2), 30)
        top += tall + 18
    phone, foot = list[str](), 0.0
    for name, *factors in _ROWS:
        tall = _tall(factors)
        phone.append(words(EDGE, foot + 14, name, "start"))
        phone += _product(factors, (EDGE, foot + 22 + tall / 2), 22)
        foot += tall + 40
    return Figure(
        "A weight matrix costs one product going forward and two going back",
        "Forward: In with B rows and D columns times W with D rows and F columns gives Out. "
        "Backward for the input: dOut times W transposed gives dIn. Backward for the weights: In "
        "transposed times dOut gives dW. Each takes two operations for every B, D and F.",
        "What one weight matrix costs in training. Every product has the same three sides, so each "
        "takes 2BDF operations: once forward and twice backward. The third needs the input again, "
        "so the input must be kept.",
        top,
        tuple(shapes),
        narrow=Sheet(SHEET, foot - 10, tuple(phone)),
    )


def _tall(factors: Sequence[Factor]) -> float:
    """The height of a row."""
    return max(_SIDES[rows] for _, rows, _, _ in factors)


def _product(factors: Sequence[Factor], start: Point, gap: float) -> Iterator[str]:
    """Two factors and what they give; `start` is the middle of the left edge."""
    left, middle = start
    for number, (label, rows, columns, kind) in enumerate(factors):
        width, height = _SIDES[columns], _SIDES[rows]
        place = (left, middle - height / 2, width, height)
        yield labelled(place, f"{label}\n[{rows}, {columns}]", kind)
        left += width + gap
        if number < 2:
            yield words(left - gap / 2, middle + 4, "×="[number])
