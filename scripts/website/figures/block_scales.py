"""One outlier under a scale for the whole tensor, and under a scale for each block."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import ceil, log2

from flopbook.drawing.scales import Scale
from flopbook.quantities.number_formats import number_format
from scripts.website.figures.drawing import Figure, Sheet, box, dot, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import EDGE, SHEET

FORMAT = "fp4 E2M1"
VALUES, OUTLIER, AT = 64, 60.0, 21
_TALL, _HEAD, _SHOWN = 116.0, 26.0, 3.2  # of a panel: its height, its name, what it reaches


def values() -> list[float]:
    """Normal numbers with one outlier among them, the same in every build."""
    drawn = random.Random(3)
    numbers = [drawn.gauss(0, 1) for _ in range(VALUES)]
    numbers[AT] = OUTLIER
    return numbers


def quantised(numbers: Sequence[float], size: int) -> list[float]:
    """The numbers in the format, with a power of two for each block that cuts nothing off."""
    grid = [value for value in number_format(FORMAT).values if value >= 0]
    rounded = []
    for start in range(0, len(numbers), size):
        block = numbers[start : start + size]
        scale = 2.0 ** ceil(log2(max(map(abs, block)) / max(grid)))
        for number in block:
            nearest = min(grid, key=lambda value: abs(abs(number) / scale - value))
            rounded.append(nearest * scale * (1 if number > 0 else -1))
    return rounded


def erased(size: int) -> int:
    """How many numbers become zero in the block of the outlier."""
    start = AT - AT % size
    return sum(number == 0 for number in quantised(values(), size)[start : start + size])


def figure(block: int = 16) -> Figure:
    """Two panels over the same numbers: one scale, and a scale for each block."""
    panels = (("one scale for all", VALUES), (f"a scale for each block of {block}", block))
    facts = [f"with {name} it zeroes {erased(size)}" for name, size in panels]
    sheets = []
    for left, right in ((EDGE, 640 - EDGE), (EDGE, SHEET - EDGE)):
        shapes: list[str] = []
        for number, (name, size) in enumerate(panels):
            top = number * (_TALL + _HEAD)
            text = f"{name}: the outlier erases {erased(size)}"
            shapes.append(words(left, top + 16, text, "start", "fb-strong"))
            shapes += _panel(size, Scale(-1, VALUES, left, right, log=False), top + _HEAD)
        sheets.append(tuple(shapes))
    height = 2 * (_TALL + _HEAD)
    return Figure(
        f"One outlier erases {erased(VALUES)} of {VALUES} numbers under one scale, and "
        f"{erased(block)} with a scale for each block",
        f"{VALUES} numbers, twice, quantised to {FORMAT}. One of them is {OUTLIER:g}, the others "
        f"have a deviation of 1: {'; '.join(facts)}.",
        f"A hollow bar is a number before, a dot what is left of it in {FORMAT}, whose largest "
        "value is 12 times its smallest; orange: a number that became zero. The outlier, cut off "
        "at the edge, sets the scale of everything that shares it. With blocks that ends at the "
        "dashed bounds; what is zero elsewhere lay near zero before.",
        height,
        sheets[0],
        narrow=Sheet(SHEET, height, sheets[1]),
        readings=tuple(
            FigureValue(name, f"number {place}, {number:.4g} before", after)
            for name, size in panels
            for place, (number, after) in enumerate(
                zip(values(), quantised(values(), size), strict=True), start=1
            )
        ),
    )


def _panel(size: int, x: Scale, top: float) -> Iterator[str]:
    """The numbers as bars from zero, what is left of them as dots, and bounds between blocks."""
    y = Scale(-_SHOWN, _SHOWN, top + _TALL, top, log=False)
    thin = 0.7 * (x.at(1) - x.at(0))
    yield path([(x.start, y.at(0)), (x.end, y.at(0))], "fb-grid")
    for bound in range(size, VALUES, size):
        yield path([(x.at(bound - 0.5), top), (x.at(bound - 0.5), top + _TALL)], "fb-dashed")
    kept = quantised(values(), size)
    for place, (number, after) in enumerate(zip(values(), kept, strict=True)):
        low, high = sorted((0.0, max(-_SHOWN, min(_SHOWN, number))))
        tip = f"{number:.2f} becomes {after:g}"
        corner = x.at(place) - thin / 2, y.at(high)
        yield box(*corner, thin, y.at(low) - y.at(high), "fb-hollow", tip)
        shown = max(-_SHOWN, min(_SHOWN, after))
        yield dot(x.at(place), y.at(shown), "fb-c0" if after else "fb-c1", tip, 2.6)
