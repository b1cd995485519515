"""The smallest batch per chip of fully sharded training, chip by chip, as bars."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import Chip, chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, words
from scripts.website.figures.narrow import WIDTH as PHONE
from scripts.website.figures.plotted import FigureValue

LEFT, RIGHT, TOP, ROW, BAR = 204.0, 92.0, 8.0, 30.0, 20.0
CHIPS = "tpu-v5p, tpu-v5e, a100-sxm-80gb, h100-sxm, tpu-v6e, b200, gb200-gpu, mi300x"
LIMITS = {"dp-limit": "plain data parallelism", "fsdp-limit": "fully sharded training"}


def figure(chips: str = CHIPS, limit: str = "fsdp-limit", dtype: str = "bf16") -> Figure:
    """Bars for chips, named with commas between them, each on all axes of its scale-up network."""
    names = [name.strip() for name in chips.split(",")]
    limits = [
        (chip(name), calculate(limit, chip=name, dtype=dtype)["tokens_per_chip"]) for name in names
    ]
    facts = [f"{device.name} {format_quantity(tokens, 'token')}" for device, tokens in limits]
    title = f"Smallest batch per chip for {LIMITS[limit]}, {dtype}"
    return Figure(
        f"{_least(limits)} needs the fewest tokens per chip for {LIMITS[limit]}",
        "; ".join(facts),
        f"{title}, inside the scale-up network of each chip, from printed peaks and links. "
        "Shorter is better.",
        TOP + ROW * len(limits) + 4,
        tuple(_bars(limits)),
        narrow=Sheet(PHONE, 2 * ROW * len(limits), tuple(_phone_bars(limits))),
        readings=tuple(
            FigureValue(limit, device.name, tokens, "token") for device, tokens in limits
        ),
    )


def _least(limits: list[tuple[Chip, float]]) -> str:
    return min(limits, key=lambda pair: pair[1])[0].name


def _bars(limits: list[tuple[Chip, float]]) -> Iterator[str]:
    """A bar for each chip, its name to the left."""
    scale = (WIDTH - LEFT - RIGHT) / max(tokens for _, tokens in limits)
    for number, (device, tokens) in enumerate(limits):
        y, text = TOP + number * ROW, format_quantity(tokens, "token")
        yield words(LEFT - 10, y + 15, device.name, "end")
        yield box(LEFT, y, tokens * scale, BAR, "fb-c0", f"{device.name}: {text}")
        yield words(LEFT + tokens * scale + 6, y + 15, text, "start")


def _phone_bars(limits: list[tuple[Chip, float]]) -> Iterator[str]:
    """The same with the names above their bars."""
    scale = (PHONE - RIGHT) / max(tokens for _, tokens in limits)
    for number, (device, tokens) in enumerate(limits):
        y, text = 2 * number * ROW + 14, format_quantity(tokens, "token")
        yield words(0, y, device.name, "start")
        yield box(0, y + 6, tokens * scale, BAR, "fb-c0", f"{device.name}: {text}")
        yield words(tokens * scale + 6, y + 21, text, "start")
