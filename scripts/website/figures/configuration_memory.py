"""What one chip must hold for Llama 3 405B as one kind of parallelism after the other is added."""

from __future__ import annotations

from typing import Any

from flopbook.drawing.scales import Scale
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, dot, path, words
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


def totals() -> list[float]:
    """Bytes on a chip after each step."""
    return [calculate("memory", **COMMON, **options)["total"] for _, options in STEPS]


def figure() -> Figure:
    """One dot for each step on a logarithmic scale, and a line at the memory of the chip."""
    held, memory = totals(), chip(CHIP).memory()
    scale = Scale(1e10, 1e13, 150, 540)
    limit = scale.at(memory)
    shapes = []
    for value in scale.round_ticks():
        x = scale.at(value)
        shapes += [
            path([(x, 26), (x, 206)], "fb-grid"),
            words(x, 222, format_quantity(value, "byte")),
        ]
    for number, ((name, _), total) in enumerate(zip(STEPS, held, strict=True)):
        top = 32 + number * 35
        fits = total <= memory
        shapes.append(words(142, top + 17, name, "end"))
        # Dots, for the length of a bar means nothing on a logarithmic scale.
        kind, place = "fb-c0" if fits else "fb-c6", scale.at(total)
        shapes += [
            path([(150, top + 12), (place, top + 12)], "fb-grid"),
            dot(place, top + 12, kind, f"{name}: {format_quantity(total, 'byte')}", 7),
        ]
        # a label must not lie under the line of the memory, nor on the dot
        after = max(place + 7, limit) + 6
        text = format_quantity(total, "byte")
        if number:
            text += f", {held[number - 1] / total:.1f} times less"
        shapes.append(words(after, top + 17, text, "start"))
    shapes += [
        path([(limit, 20), (limit, 206)], "fb-line0"),
        words(limit, 14, f"a chip has {format_quantity(memory, 'byte')}"),
    ]
    facts = "; ".join(
        f"{name}: {format_quantity(t, 'byte')}" for (name, _), t in zip(STEPS, held, strict=True)
    )
    return Figure(
        f"TP 8 and PP 16 cut memory per GPU {held[0] / held[2]:.0f} times, sharding over replicas "
        f"{held[2] / held[4]:.1f} times more, and only then it fits",
        f"Training Llama 3 405B at {SEQ:,} tokens, no recomputation. {facts}. A chip has "
        f"{format_quantity(memory, 'byte')}.",
        "Each line adds one division to the one above it. ZeRO-1 shards the optimizer over 128 "
        "replicas, ZeRO-2 gradients as well, as soon as a chunk has them; added up whole first, "
        "they leave what ZeRO-1 does. They gain so little because they shard states, and by "
        "then most of what is left is activations. The scale is logarithmic: every labelled "
        "line is ten times the one before.",
        232,
        tuple(shapes),
        readings=tuple(
            FigureValue(MODEL, name, total, "byte")
            for (name, _), total in zip(STEPS, held, strict=True)
        ),
    )
