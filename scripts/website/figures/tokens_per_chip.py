"""The smallest batch per chip of fully sharded training, chip by chip, as bars."""

from __future__ import annotations

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, box, words

LEFT, RIGHT, TOP, ROW, BAR = 204.0, 92.0, 8.0, 30.0, 20.0
CHIPS = "tpu-v5p, tpu-v5e, a100-sxm-80gb, h100-sxm, tpu-v6e, b200, gb200-gpu, mi300x"
LIMITS = {"dp-limit": "plain data parallelism", "fsdp-limit": "fully sharded training"}


def figure(chips: str = CHIPS, limit: str = "fsdp-limit", dtype: str = "bf16") -> Figure:
    """Bars for chips, named with commas between them, each on all axes of its scale-up network."""
    names = [name.strip() for name in chips.split(",")]
    limits = [
        (chip(name), calculate(limit, chip=name, dtype=dtype)["tokens_per_chip"]) for name in names
    ]
    scale = (WIDTH - LEFT - RIGHT) / max(tokens for _, tokens in limits)
    shapes, facts = [], []
    for number, (device, tokens) in enumerate(limits):
        y, text = TOP + number * ROW, format_quantity(tokens, "token")
        shapes += [
            words(LEFT - 10, y + 15, device.name, "end"),
            box(LEFT, y, tokens * scale, BAR, "fb-c0", text),
        ]
        shapes += [words(LEFT + tokens * scale + 6, y + 15, text, "start")]
        facts.append(f"{device.name} {text}")
    title = f"Smallest batch per chip for {LIMITS[limit]}, {dtype}"
    return Figure(
        title,
        "; ".join(facts),
        f"{title}, inside the scale-up network of each chip, from printed peaks and links. Shorter "
        "is easier.",
        TOP + ROW * len(limits) + 4,
        tuple(shapes),
    )
