"""What each stage of ZeRO leaves on a device: weights, gradients and optimizer state, as bars."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, box, path, words
from scripts.website.figures.plotted import FigureValue

LEFT, RIGHT, TOP, ROW, BAR = 150.0, 76.0, 34.0, 46.0, 26.0
PARTS = (("weights", "c0"), ("gradients", "c3"), ("optimizer", "c2"))
_LEAST = 0.3  # pixels: what is narrower cannot be seen
NAMES = (
    "plain data parallelism",
    "ZeRO-1: optimizer cut",
    "ZeRO-2: and gradients",
    "ZeRO-3: and weights",
)


def figure(model: str = "llama-3-8b", dp: int = 64, memory: float = 0.0) -> Figure:
    """Bars for stages 0 to 3 over `dp` devices; `memory` draws a line, 0 none."""
    stages = [{}, *({"zero": stage} for stage in (1, 2, 3))]
    answers = [calculate("memory", model=model, seq=1, dp=dp, **stage) for stage in stages]
    states = [[float(answer[name]) for name, _ in PARTS] for answer in answers]
    longest = max(max(map(sum, states)), float(memory))
    scale = (WIDTH - LEFT - RIGHT) / longest
    shapes = [part for stage, values in enumerate(states) for part in _bar(stage, values, scale)]
    foot = TOP + ROW * 4
    if memory:
        limit = LEFT + float(memory) * scale
        label = f"memory of a chip, {format_quantity(float(memory), 'byte')}"
        shapes.append(path([(limit, TOP - 8), (limit, foot - 8)], "fb-dashed"))
        shapes.append(words(limit, TOP - 14, label, kind="fb-small"))
    left = LEFT
    for name, colour in PARTS:
        shapes += [
            box(left, foot, 14, 14, f"fb-{colour}"),
            words(left + 20, foot + 11, name, "start"),
        ]
        left += 110
    facts = "; ".join(
        f"{name}: {format_quantity(sum(v), 'byte')}" for name, v in zip(NAMES, states, strict=True)
    )
    title = f"States of {shape(model).model.name} on each of {dp} devices"
    most, least = sum(states[0]), sum(states[-1])
    return Figure(
        f"Sharding all states over {dp} devices takes {format_quantity(most, 'byte')} down to "
        f"{format_quantity(least, 'byte')}",
        facts,
        f"{title}, without activations. Bars are to scale.",
        foot + 24,
        tuple(shapes),
        readings=tuple(
            FigureValue(stage, part, size, "byte")
            for stage, sizes in zip(NAMES, states, strict=True)
            for (part, _), size in zip(PARTS, sizes, strict=True)
        ),
    )


def _bar(stage: int, values: list[float], scale: float) -> list[str]:
    """One stage: its name, its parts one after the other, and their sum."""
    y, x = TOP + stage * ROW, LEFT
    shapes = [words(LEFT - 10, y + 17, NAMES[stage], "end", "fb-small")]
    for size, (name, colour) in zip(values, PARTS, strict=True):
        width = size * scale
        if width >= _LEAST:
            tip = f"{NAMES[stage]}, {name}: {format_quantity(size, 'byte')}"
            shapes.append(box(x, y, width, BAR, f"fb-{colour}", tip))
        x += width
    return [*shapes, words(x + 6, y + 17, format_quantity(sum(values), "byte"), "start")]
