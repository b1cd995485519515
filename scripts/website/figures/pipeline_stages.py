"""The layers of a model dealt out to stages: activations go forward, gradients come back."""

from __future__ import annotations

from flopbook.errors import FlopbookError
from scripts.website.figures.drawing import WIDTH, Figure, arrow, box, labelled, words

_TOP, _TALL, _GAP = 44.0, 26.0, 60.0
MOST = 5


def dealt(layers: int, stages: int) -> list[list[int]]:
    """The layers of each stage, counted from 1; the first stages have one more where any has."""
    each, more = divmod(layers, stages)
    found, first = [], 1
    for stage in range(stages):
        count = each + (stage < more)
        found.append(list(range(first, first + count)))
        first += count
    return found


def figure(layers: int = 12, stages: int = 4) -> Figure:
    """A box for each stage with its layers.

    Raises FlopbookError for numbers that cannot be drawn.
    """
    if not 2 <= stages <= MOST or not stages <= layers <= 6 * stages:
        raise FlopbookError(f"2 to {MOST} stages of 1 to 6 layers each are drawn")
    found = dealt(layers, stages)
    wide = (WIDTH - 16 - _GAP * (stages - 1)) / stages
    tall = max(map(len, found)) * (_TALL + 4) + 12
    shapes = []
    for number, mine in enumerate(found):
        x = 8 + number * (wide + _GAP)
        shapes += [
            words(x + wide / 2, 20, f"stage {number + 1}", kind="fb-strong"),
            box(x, _TOP - 12, wide, tall, "fb-hollow"),
        ]
        shapes += [
            labelled((x + 8, _TOP - 4 + n * (_TALL + 4), wide - 16, _TALL), f"layer {layer}", "c0")
            for n, layer in enumerate(mine)
        ]
        if number + 1 < stages:
            y = _TOP - 12 + tall / 2
            shapes += [
                arrow((x + wide + 4, y - 10), (x + wide + _GAP - 4, y - 10)),
                arrow((x + wide + _GAP - 4, y + 10), (x + wide + 4, y + 10), "fb-dashed"),
            ]
    y = _TOP + tall + 12
    shapes += [
        arrow((8, y - 4), (40, y - 4)),
        words(48, y, "activations, forward", "start", "fb-small"),
    ]
    shapes += [
        arrow((252, y - 4), (220, y - 4), "fb-dashed"),
        words(260, y, "their gradients, backward", "start", "fb-small"),
    ]
    counts = ", ".join(str(len(mine)) for mine in found)
    return Figure(
        f"{layers} layers on {stages} stages",
        f"Stages hold {counts} layers, in order. Activations pass from each stage to the next, "
        "gradients pass back.",
        "A chip, or a group of them, is one stage. Only what lies between two layers crosses from "
        "one stage to the next: a row of numbers for each token.",
        y + 14,
        tuple(shapes),
    )
