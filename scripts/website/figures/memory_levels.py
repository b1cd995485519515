"""The levels of memory of a GPU by size and by rate, from its entry."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import load_entry
from flopbook.drawing.scales import Scale
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, box, words

CHIP = "nvidia/h100-sxm"


class Level(NamedTuple):
    """A place for data: its name, how much all of it holds, and the fill of its bar."""

    name: str
    bytes: float
    kind: str


def _named(entry: Entry, name: str) -> float:
    return next(c.si_value for c in entry.claims if c.name == name and c.si_value is not None)


def levels() -> list[Level]:
    """From the registers to the nodes that a fast network joins."""
    entry, device = load_entry(CHIP), chip(CHIP)
    cores = _named(entry, "streaming multiprocessors")
    domain = device.pick_scaleup_domain()
    chips = domain.value if domain else 1
    return [
        Level("registers", cores * _named(entry, "register file, per SM"), "fb-c0"),
        Level("shared memory", cores * _named(entry, "shared memory, per SM"), "fb-c0"),
        Level("second-level cache", _named(entry, "L2"), "fb-c2"),
        Level("memory of the chip", device.memory(), "fb-c4"),
        Level("memory of the node", device.memory() * chips, "fb-c1"),
    ]


def figure() -> Figure:
    """One bar for each level on a logarithmic scale."""
    scale = Scale(1e6, 1e12, 150, 560)
    shapes, facts = [], []
    for number, level in enumerate(levels()):
        top, x = 10 + number * 30, scale.at(level.bytes)
        size = format_quantity(level.bytes, "byte")
        shapes.append(words(142, top + 15, level.name, "end"))
        shapes.append(box(150, top, x - 150, 21, level.kind))
        shapes.append(words(x + 6, top + 15, size, "start"))
        facts.append(f"{level.name}: {size}")
    return Figure(
        "Levels of memory",
        f"{chip(CHIP).name}, on a logarithmic scale, all cores together. {'; '.join(facts)}.",
        "All cores together, from near to far. What is on the chip is of like size, registers "
        "included; between the cache and the memory of the chip lies the largest step, more than a "
        "factor of a thousand. The scale is logarithmic.",
        168,
        tuple(shapes),
    )
