"""What one chip must hold for Llama 3 405B as one kind of parallelism after the other is added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity, two_digits
from scripts.website.figures.drawing import Figure, box, key, path, words
from scripts.website.figures.plotted import FigureValue

MODEL, CHIP, SEQ = "llama-3-405b", "nvidia/h100-sxm", 8192
COMMON: dict[str, Any] = {
    "model": MODEL,
    "chip": CHIP,
    "seq": SEQ,
    "microbatches": 16,
    "recompute": "none",
    "attention": "flash",
    "dropout": "no",
    "grad_bytes": 4,
}
_TENSOR = {"tp": 8, "sequence_parallel": "yes"}
_STAGES = _TENSOR | {"pp": 16, "schedule": "interleaved", "virtual": 8}
STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("one chip", {}),
    ("TP 8", _TENSOR),
    ("PP 16", _STAGES),
    ("ZeRO-1", _STAGES | {"dp": 128, "zero": 1}),
    ("ZeRO-2", _STAGES | {"dp": 128, "zero": 2, "grad_accumulation": "sharded"}),
)


# What the calculator names, and how it is drawn; the rest are embedding, logits and buffers.
PARTS = (
    ("weights", "c0"),
    ("gradients", "c3"),
    ("optimizer", "c2"),
    ("activations", "c1"),
    ("the rest", "c4"),
)
DRAWN = 3  # of the steps, the last: the others are beyond the scale
_LEFT, _TOP, _ROW, _BAR, _SCALE = 132.0, 58.0, 44.0, 26.0, 3.1e-9  # pixels, and those of a byte


def held() -> list[dict[str, float]]:
    """Bytes on a chip after each step, by what they are."""
    return [_parts(calculate("memory", **COMMON, **options)) for _, options in STEPS]


def _parts(memory: Mapping[str, Any]) -> dict[str, float]:
    named = {name: float(memory[name]) for name, _ in PARTS[:-1]}
    return named | {"the rest": float(memory["total"]) - sum(named.values())}


def totals() -> list[float]:
    """Bytes on a chip after each step."""
    return [sum(parts.values()) for parts in held()]


def figure() -> Figure:
    """Stacked bars of the last steps on a linear scale, and a line at the memory of the chip."""
    parts, memory = held(), chip(CHIP).memory()
    sums = [sum(one.values()) for one in parts]
    shapes = list(_legend())
    for number, ((name, _), one) in enumerate(list(zip(STEPS, parts, strict=True))[-DRAWN:]):
        shapes += _bar(_TOP + number * _ROW, name, one)
    limit, foot = _LEFT + memory * _SCALE, _TOP + DRAWN * _ROW
    shapes += [
        path([(limit, _TOP - 10), (limit, foot - 8)], "fb-dashed"),
        words(limit, _TOP - 16, f"a chip has {format_quantity(memory, 'byte')}", kind="fb-small"),
    ]
    facts = "; ".join(
        f"{name}: {format_quantity(total, 'byte')}"
        for (name, _), total in zip(STEPS, sums, strict=True)
    )
    one_chip, tensor = (two_digits(total, "byte") for total in sums[:2])
    return Figure(
        f"TP 8 and PP 16 cut memory per GPU {sums[0] / sums[2]:.0f} times, sharding over replicas "
        f"{sums[2] / sums[4]:.1f} times more, and only then it fits",
        f"Training Llama 3 405B at {SEQ:,} tokens, no recomputation. {facts}. A chip has "
        f"{format_quantity(memory, 'byte')}.",
        f"One chip would hold {one_chip}, and {tensor} with TP 8 alone. From PP 16 on each bar "
        "adds one division to the one above: ZeRO-1 shards the optimizer over 128 replicas, ZeRO-2 "
        "gradients as well, as soon as a chunk has them; added up whole first, they leave what "
        "ZeRO-1 does. Sharding takes states away and leaves activations, which are most of it.",
        foot + 2,
        tuple(shapes),
        readings=tuple(
            FigureValue(name, part, size, "byte")
            for (name, _), one in zip(STEPS, parts, strict=True)
            for part, size in one.items()
        ),
    )


def _legend() -> Iterator[str]:
    x = 8.0
    for name, colour in PARTS:
        yield from key(x, 8, name, f"fb-{colour}")
        x += 34 + 6.6 * len(name)


def _bar(top: float, name: str, parts: Mapping[str, float]) -> Iterator[str]:
    """The name of a step, what it leaves on a chip side by side, and the sum."""
    yield words(_LEFT - 8, top + _BAR - 8, name, "end")
    x = _LEFT
    for part, colour in PARTS:
        width = parts[part] * _SCALE
        tip = f"{name}, {part}: {format_quantity(parts[part], 'byte')}"
        yield box(x, top, width, _BAR, f"fb-{colour}", tip)
        if part == "activations":
            ink = f"fb-small fb-on{colour[1:]}"
            yield words(x + width / 2, top + _BAR - 8, two_digits(parts[part], "byte"), kind=ink)
        x += width
    yield words(x + 6, top + _BAR - 8, two_digits(sum(parts.values()), "byte"), "start")
