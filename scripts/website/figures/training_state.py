"""The state of training in the memories of chips: one chip, copies on all, shares of one."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, box, key, titled
from scripts.website.figures.plotted import FigureValue

PARTS = (("weights", "c0"), ("gradients", "c3"), ("optimizer", "c2"))
_HEIGHT, _WIDTH, _TOP = 128.0, 50.0, 62.0  # of a memory
_STEP = _WIDTH + 8  # from one memory to the next
_LEAST = 80.0  # pixels of a group: its name is wider than one memory


def held(model: str, chips: int, sharded: bool) -> list[float]:
    """Bytes of weights, gradients and optimizer on each of the chips."""
    zero = {"zero": 3} if sharded else {}
    answer = calculate("memory", model=model, seq=1, dp=chips, **zero)
    return [float(answer[name]) for name, _ in PARTS]


def figure(model: str = "llama-3-8b", chips: int = 4) -> Figure:
    """Three groups of boxes, filled to scale.

    Raises FlopbookError for a number of chips that cannot be seen.
    """
    if not 2 <= chips <= 4:
        raise FlopbookError(f"{chips} chips are not drawn, expected 2 to 4")
    groups = (
        ("one chip", 1, held(model, 1, sharded=False)),
        (f"{chips} chips, copies", chips, held(model, chips, sharded=False)),
        (f"{chips} chips, shares", chips, held(model, chips, sharded=True)),
    )
    scale = _HEIGHT / sum(groups[0][2])
    shapes: list[str] = []
    facts = []
    x = 12.0
    for name, count, sizes in groups:
        width = max(count * _STEP - 8, _LEAST)
        on_each = f"{format_quantity(sum(sizes), 'byte')} on each"
        shapes += titled(x + width / 2, 36, name, on_each)
        start = x + (width - count * _STEP + 8) / 2
        for number in range(count):
            shapes += _memory(name, start + number * _STEP, sizes, scale)
        facts.append(f"{name}: {on_each}, {format_quantity(sum(sizes) * count, 'byte')} in all")
        x += width + 38
    for number, (name, colour) in enumerate(PARTS):
        shapes += key(12 + 96 * number, 4, name, f"fb-{colour}")
    title = shape(model).model.name
    return Figure(
        "Copies fill every chip; shares fill one chip's worth, whatever the number of chips",
        f"{title} with Adam in mixed precision. {'; '.join(facts)}.",
        f"States of {title}, to scale: weights, gradients and optimizer.",
        _TOP + _HEIGHT + 10,
        tuple(shapes),
        x - 26,
        readings=tuple(
            FigureValue(f"{name}, on each", part, size, "byte")
            for name, _, sizes in groups
            for (part, _), size in zip(PARTS, sizes, strict=True)
        ),
    )


def _memory(scheme: str, x: float, sizes: list[float], scale: float) -> list[str]:
    """The memory of one chip, filled from below."""
    y = _TOP + _HEIGHT
    shapes = [box(x, _TOP, _WIDTH, _HEIGHT, "fb-hollow")]
    for size, (name, colour) in zip(sizes, PARTS, strict=True):
        y -= size * scale
        tip = f"{scheme}, {name}: {format_quantity(size, 'byte')}"
        shapes.append(box(x, y, _WIDTH, size * scale, f"fb-{colour}", tip))
    return shapes
