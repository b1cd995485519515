"""The state of training in the memories of chips: one chip, copies on all, shares of one."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, box, words

PARTS = (("weights", "c0"), ("gradients", "c3"), ("optimizer", "c2"))
_TALL, _WIDE, _TOP = 128.0, 50.0, 62.0


def held(model: str, chips: int, sharded: bool) -> list[float]:
    """Bytes of weights, gradients and optimizer on each of the chips."""
    answer = calculate("memory", model=model, seq=1, dp=chips, **({"zero": 3} if sharded else {}))
    return [float(answer[name]) for name, _ in PARTS]


def figure(model: str = "llama-3-8b", chips: int = 4) -> Figure:
    """Three groups of boxes, filled to scale.

    Raises FlopbookError for a number of chips that cannot be seen.
    """
    if not 2 <= chips <= 4:
        raise FlopbookError(f"{chips} chips are not drawn, expected 2 to 4")
    groups = (
        ("one chip", 1, False),
        (f"{chips} chips, copies", chips, False),
        (f"{chips} chips, shares", chips, True),
    )
    all_bytes = sum(held(model, 1, False))
    shapes, left, told = [], 12.0, []
    for name, count, sharded in groups:
        values = held(model, count, sharded)
        wide = max(count * (_WIDE + 8) - 8, 80.0)
        facts = f"{format_quantity(sum(values), 'byte')} on each"
        shapes += [
            words(left + wide / 2, 36, name, kind="fb-strong"),
            words(left + wide / 2, 52, facts, kind="fb-small"),
        ]
        for number in range(count):
            x, y = left + (wide - count * (_WIDE + 8) + 8) / 2 + number * (_WIDE + 8), _TOP + _TALL
            shapes.append(box(x, _TOP, _WIDE, _TALL, "fb-hollow"))
            for value, (part, colour) in zip(values, PARTS, strict=True):
                tall = value / all_bytes * _TALL
                y -= tall
                shapes.append(
                    box(
                        x,
                        y,
                        _WIDE,
                        tall,
                        f"fb-{colour}",
                        f"{part}: {format_quantity(value, 'byte')}",
                    )
                )
        told.append(f"{name}: {facts}, {format_quantity(sum(values) * count, 'byte')} in all")
        left += wide + 38
    start = 12.0
    for part, colour in PARTS:
        shapes += [box(start, 4, 12, 12, f"fb-{colour}"), words(start + 17, 14, part, "start")]
        start += 96
    return Figure(
        "Training state on one chip and on several",
        f"{shape(model).model.name} with Adam in mixed precision. {'; '.join(told)}.",
        f"States of {shape(model).model.name}, to scale: weights, gradients and optimizer. Copies "
        "need the memory of one chip on every chip; shares need it once, whatever the number of "
        "chips.",
        _TOP + _TALL + 10,
        tuple(shapes),
        left - 26,
    )
