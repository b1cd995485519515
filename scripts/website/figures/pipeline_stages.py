"""The layers of a model dealt out to stages: activations go forward, gradients come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flopbook.errors import FlopbookError
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, arrow, box, labelled, words
from scripts.website.figures.shapes import SHEET

_TOP, _TALL, _GAP = 44.0, 26.0, 60.0
_DOWN = 42.0  # pixels between two stages that lie below each other
_WORDS = 5  # layers side by side on a phone whose boxes have room for a word
MOST = 5


def dealt(layers: int, stages: int) -> list[list[int]]:
    """The layers of each stage, counted from 1; the first stages have one more where any has."""
    each, surplus = divmod(layers, stages)
    by_stage, first = [], 1
    for stage in range(stages):
        count = each + (stage < surplus)
        by_stage.append(list(range(first, first + count)))
        first += count
    return by_stage


def figure(layers: int = 12, stages: int = 4) -> Figure:
    """A box for each stage with its layers.

    Raises FlopbookError for numbers that cannot be drawn.
    """
    if not 2 <= stages <= MOST or not stages <= layers <= 6 * stages:
        raise FlopbookError(f"2 to {MOST} stages of 1 to 6 layers each are drawn")
    by_stage = dealt(layers, stages)
    width = (WIDTH - 16 - _GAP * (stages - 1)) / stages
    height = max(map(len, by_stage)) * (_TALL + 4) + 12
    shapes: list[str] = []
    for number, own_layers in enumerate(by_stage):
        x = 8 + number * (width + _GAP)
        shapes.append(words(x + width / 2, 20, f"stage {number + 1}", kind="fb-strong"))
        shapes.append(box(x, _TOP - 12, width, height, "fb-hollow"))
        for n, layer in enumerate(own_layers):
            place = (x + 8, _TOP - 4 + n * (_TALL + 4), width - 16, _TALL)
            shapes.append(labelled(place, f"layer {layer}", "c0"))
        if number + 1 < stages:
            shapes += _exchange(x + width + 4, _TOP - 12 + height / 2)
    foot = _TOP + height + 12
    shapes += _legend(foot)
    counts = ", ".join(str(len(own_layers)) for own_layers in by_stage)
    return Figure(
        "Only a row of numbers for each token crosses from stage to stage",
        f"Stages hold {counts} layers, in order. Activations pass from each stage to the next, "
        "gradients pass back.",
        f"{layers} layers on {stages} stages, each of them a chip or a group of chips. Weights "
        "stay where they are; activations go forward and their gradients come back.",
        foot + 14,
        tuple(shapes),
        narrow=_narrow(by_stage),
    )


def _narrow(by_stage: Sequence[Sequence[int]]) -> Sheet:
    """The stages below each other, layers side by side, and the arrows down and up."""
    shapes: list[str] = []
    most = max(map(len, by_stage))
    width = (SHEET - 20 - 4 * (most - 1)) / most
    step = _TALL + 16 + _DOWN
    for number, own_layers in enumerate(by_stage):
        top = 20 + step * number
        shapes.append(words(2, top - 6, f"stage {number + 1}", "start", "fb-strong"))
        shapes.append(box(2, top, SHEET - 4, _TALL + 16, "fb-hollow"))
        for n, layer in enumerate(own_layers):
            place = (10 + n * (width + 4), top + 8, width, _TALL)
            shapes.append(labelled(place, f"layer {layer}" if most <= _WORDS else f"{layer}", "c0"))
        if number + 1 < len(by_stage):
            foot = top + _TALL + 16
            left, right = SHEET / 2 - 10, SHEET / 2 + 10
            shapes.append(arrow((left, foot + 4), (left, foot + _DOWN - 4)))
            shapes.append(arrow((right, foot + _DOWN - 4), (right, foot + 4), "fb-dashed"))
    foot = 20 + step * len(by_stage) - _DOWN
    shapes += _legend(foot + 22, 180)
    return Sheet(SHEET, foot + 30, tuple(shapes))


def _exchange(x: float, y: float) -> Iterator[str]:
    """Two arrows between neighbours: activations forward, gradients back."""
    far = x + _GAP - 8
    yield arrow((x, y - 10), (far, y - 10))
    yield arrow((far, y + 10), (x, y + 10), "fb-dashed")


def _legend(y: float, second: float = 220) -> Iterator[str]:
    """What the arrows carry, in one line; `second` is where its second half begins."""
    yield arrow((8, y - 4), (40, y - 4))
    yield words(48, y, "activations, forward", "start", "fb-small")
    yield arrow((second + 32, y - 4), (second, y - 4), "fb-dashed")
    yield words(second + 40, y, "their gradients, backward", "start", "fb-small")
