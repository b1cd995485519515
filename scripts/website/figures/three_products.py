"""The three matrix products of one weight matrix in training: one forward, two backward."""

from __future__ import annotations

from scripts.website.figures.drawing import Figure, labelled, words

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


def figure() -> Figure:
    """One row for each product; sides of the same name have the same length."""
    shapes, top = [], 8.0
    for name, *factors in _ROWS:
        tallest = max(_SIDES[rows] for _, rows, _, _ in factors)
        middle = top + tallest / 2
        shapes.append(words(8, middle + 4, name, "start"))
        left = 200.0
        for number, (label, rows, columns, kind) in enumerate(factors):
            width, height = _SIDES[columns], _SIDES[rows]
            shapes.append(
                labelled(
                    (left, middle - height / 2, width, height),
                    f"{label}\n[{rows}, {columns}]",
                    kind,
                )
            )
            left += width + 30
            if number < 2:
                shapes.append(words(left - 15, middle + 4, "×="[number]))
        top += tallest + 18
    return Figure(
        "Three products for each weight matrix",
        "Forward: In with B rows and D columns times W with D rows and F columns gives Out. "
        "Backward for the input: dOut times W transposed gives dIn. Backward for the weights: In "
        "transposed times dOut gives dW. Each takes two operations for every B, D and F.",
        "What one weight matrix costs in training. Every product has the same three sides, so each "
        "takes 2BDF operations: once forward and twice backward. The third needs the input again, "
        "so the input must be kept.",
        top,
        tuple(shapes),
    )
