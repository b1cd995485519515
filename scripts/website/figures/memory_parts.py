"""Memory of one chip in training by what it holds, for several countings of bytes per parameter."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, box, key, path, words
from scripts.website.figures.plotted import FigureValue

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

    @property
    def label(self) -> str:
        """Its name with the sum."""
        return f"{self.name}, {sum(self.bytes):g} bytes"


COUNTINGS = (
    Counting("the least", (2, 0, 8, 0)),
    Counting("with gradients", (2, 2, 8, 0)),
    Counting("with a master copy", (2, 2, 8, 4)),
    Counting("gradients in fp32", (2, 4, 8, 4)),
)


def activations(model: str, seq: int) -> float:
    """Bytes of the activations of one sequence without recomputation, output layer included."""
    memory = calculate(
        "memory", model=model, seq=seq, recompute="none", attention="flash", dropout="no"
    )
    return float(memory["activations"]) + float(memory["logits"])


def figure(model: str = "llama-3-8b", seq: int = 2048) -> Figure:
    """A stacked bar for each counting, activations of one sequence, and the memory of a chip."""
    params, name = shape(model).params, shape(model).model.name
    live, memory = activations(model, seq), chip(CHIP).memory()
    rows = [[params * size for size in counting.bytes] + [live] for counting in COUNTINGS]
    scale = (WIDTH - LEFT - RIGHT) / max(map(sum, rows))
    shapes = _legend()
    facts = []
    for number, (counting, sizes) in enumerate(zip(COUNTINGS, rows, strict=True)):
        shapes += _bar(TOP + number * ROW, counting, sizes, scale)
        facts.append(f"{counting.label} for each parameter: {format_quantity(sum(sizes), 'byte')}")
    foot = TOP + ROW * len(rows)
    limit = LEFT + memory * scale
    label = f"memory of a chip, {format_quantity(memory, 'byte')}"
    shapes.append(path([(limit, TOP - 10), (limit, foot - 8)], "fb-dashed"))
    shapes.append(words(limit, TOP - 16, label, kind="fb-small"))
    return Figure(
        f"One run takes {format_quantity(sum(rows[0]), 'byte')} or "
        f"{format_quantity(sum(rows[2]), 'byte')}: it depends on what is counted",
        f"{'; '.join(facts)}. Activations of one sequence of {seq:,} tokens are "
        f"{format_quantity(live, 'byte')} of each.",
        f"{name}, one sequence of {seq:,} tokens, no recomputation. Each part is drawn at its "
        "largest. The first three countings describe the same run of Adam in mixed precision "
        "and differ in what they leave out; the last one keeps wider gradients.",
        foot + 2,
        tuple(shapes),
        readings=tuple(
            FigureValue(counting.label, part, size, "byte")
            for counting, sizes in zip(COUNTINGS, rows, strict=True)
            for (part, _), size in zip(PARTS, sizes, strict=True)
        ),
    )


def _legend() -> list[str]:
    shapes: list[str] = []
    x = LEFT
    for name, colour in PARTS:
        shapes += key(x, 8, name, f"fb-{colour}")
        x += 30 + 6.6 * len(name)
    return shapes


def _bar(y: float, counting: Counting, sizes: list[float], scale: float) -> list[str]:
    """One counting: its name, its parts one after the other, and their sum."""
    shapes = [words(LEFT - 10, y + 16, counting.label, "end", "fb-small")]
    x = LEFT
    for size, (name, colour) in zip(sizes, PARTS, strict=True):
        tip = f"{counting.label}, {name}: {format_quantity(size, 'byte')}"
        if size:
            shapes.append(box(x, y, size * scale, BAR, f"fb-{colour}", tip))
        x += size * scale
    return [*shapes, words(x + 6, y + 16, format_quantity(sum(sizes), "byte"), "start")]
