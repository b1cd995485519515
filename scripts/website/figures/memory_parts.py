"""Memory of one chip in training by what it holds, for several countings of bytes per parameter."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, box, path, words

CHIP = "nvidia/h100-sxm"
LEFT, RIGHT, TOP, ROW, BAR = 168.0, 70.0, 56.0, 40.0, 24.0
PARTS = (
    ("weights", "c0"),
    ("gradients", "c3"),
    ("moments", "c2"),
    ("master copy", "c4"),
    ("activations", "c1"),
)


class Counting(NamedTuple):
    """A way to count: bytes per parameter of weights, gradients, moments and master copy."""

    name: str
    bytes: tuple[float, float, float, float]


COUNTINGS = (
    Counting("the slides", (2, 0, 8, 0)),
    Counting("with gradients", (2, 2, 8, 0)),
    Counting("with a master copy", (2, 2, 8, 4)),
    Counting("gradients in fp32", (2, 4, 8, 4)),
)


def activations(model: str, seq: int) -> float:
    """Bytes of the activations of one sequence without recomputation, output layer included."""
    found = calculate(
        "memory", model=model, seq=seq, recompute="none", attention="flash", dropout="no"
    )
    return float(found["activations"]) + float(found["logits"])


def figure(model: str = "llama-3-8b", seq: int = 2048) -> Figure:
    """A stacked bar for each counting, activations of one sequence, and the memory of a chip."""
    item = shape(model)
    live, params, memory = activations(model, seq), item.params, chip(CHIP).memory()
    rows = [(one, [params * b for b in one.bytes] + [live]) for one in COUNTINGS]
    scale = (WIDTH - LEFT - RIGHT) / max(sum(values) for _, values in rows)
    foot = TOP + ROW * len(rows)
    shapes, left = [], LEFT
    for name, colour in PARTS:
        shapes += [box(left, 8, 12, 12, f"fb-{colour}"), words(left + 17, 18, name, "start")]
        left += 30 + 6.6 * len(name)
    for number, (one, values) in enumerate(rows):
        y, x = TOP + number * ROW, LEFT
        shapes.append(
            words(LEFT - 10, y + 16, f"{one.name}, {sum(one.bytes):g} bytes", "end", "fb-small")
        )
        for value, (name, colour) in zip(values, PARTS, strict=True):
            if value:
                shapes.append(
                    box(
                        x,
                        y,
                        value * scale,
                        BAR,
                        f"fb-{colour}",
                        f"{name}: {format_quantity(value, 'byte')}",
                    )
                )
            x += value * scale
        shapes.append(words(x + 6, y + 16, format_quantity(sum(values), "byte"), "start"))
    at = LEFT + memory * scale
    shapes += [path([(at, TOP - 10), (at, foot - 8)], "fb-dashed")]
    shapes.append(
        words(at, TOP - 16, f"memory of a chip, {format_quantity(memory, 'byte')}", kind="fb-small")
    )
    facts = "; ".join(
        f"{one.name}, {sum(one.bytes):g} bytes for each parameter: "
        f"{format_quantity(sum(v), 'byte')}"
        for one, v in rows
    )
    return Figure(
        f"Memory in training {item.model.name}, by what it holds",
        f"{facts}. Activations of one sequence of {seq:,} tokens are "
        f"{format_quantity(live, 'byte')} of each.",
        f"{item.model.name}, one sequence of {seq:,} tokens, nothing computed again. Each part is "
        "drawn at its largest. The first three countings describe the same run of Adam in mixed "
        "precision and differ in what they leave out; the last one keeps wider gradients.",
        foot + 2,
        tuple(shapes),
    )
