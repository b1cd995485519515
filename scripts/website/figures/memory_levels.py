"""The levels of memory of a GPU by size and by rate, from its entry."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import load_entry
from flopbook.drawing.scales import Scale
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, arrow, dot, path, words
from scripts.website.figures.plotted import FigureValue

CHIP = "nvidia/h100-sxm"
MAIN = "memory of the chip"
_SAME = 2  # a level of less than this factor is of like size


class Level(NamedTuple):
    """A place for data: its name, and how many bytes all of it holds."""

    name: str
    bytes: float


def _named(entry: Entry, name: str) -> float:
    return next(c.si_value for c in entry.claims if c.name == name and c.si_value is not None)


def levels() -> list[Level]:
    """From the registers to the nodes that a fast network joins."""
    entry, device = load_entry(CHIP), chip(CHIP)
    cores = _named(entry, "streaming multiprocessors")
    domain = device.pick_scaleup_domain()
    chips = domain.value if domain else 1
    return [
        Level("registers", cores * _named(entry, "register file, per SM")),
        Level("shared memory", cores * _named(entry, "shared memory, per SM")),
        Level("second-level cache", _named(entry, "L2")),
        Level(MAIN, device.memory()),
        Level("memory of the node", device.memory() * chips),
    ]


def figure() -> Figure:
    """One dot for each level on a logarithmic scale, with the step from the level before.

    No bars: their lengths would say nothing where the scale has no zero.
    """
    scale = Scale(1e6, 1e12, 150, 415)
    found = levels()
    bottom = 14 + 30 * len(found)
    shapes: list[str] = []
    for power in (6, 9, 12):
        x = scale.at(10.0**power)
        top = 8 if power > 6 else bottom - 6  # a line at the edge would cross names on a phone
        shapes.append(path([(x, top), (x, bottom)], "fb-grid"))
        shapes.append(words(x, bottom + 14, format_quantity(10.0**power, "byte"), kind="fb-small"))
    facts = []
    for number, level in enumerate(found):
        top, x = 14 + number * 30, scale.at(level.bytes)
        size = format_quantity(level.bytes, "byte")
        step = level.bytes / found[number - 1].bytes
        grown = f", {step:,.0f} times the level above" if number and step > _SAME else ""
        shapes.append(words(142, top + 15, level.name, "end"))
        if grown:
            before = scale.at(found[number - 1].bytes)
            shapes.append(arrow((before, top + 11), (x - 7, top + 11)))
        shapes.append(dot(x, top + 11, "fb-c1", radius=5))
        shapes.append(words(x + 10, top + 15, f"{size}{grown}", "start"))
        facts.append(f"{level.name}: {size}")
    main = next(number for number, level in enumerate(found) if level.name == MAIN)
    ratio = found[main].bytes / found[main - 1].bytes
    return Figure(
        f"The largest step is from cache to main memory: {float(f'{ratio:.2g}'):,.0f} times the "
        "bytes",
        f"{chip(CHIP).name}, on a logarithmic scale, all cores together. {'; '.join(facts)}.",
        "All cores together, from near to far, on a logarithmic scale; an arrow starts at the "
        "size of the level above. The levels on the chip are of similar size, registers "
        "included.",
        bottom + 22,
        tuple(shapes),
        readings=tuple(
            FigureValue(chip(CHIP).name, level.name, level.bytes, "byte") for level in found
        ),
    )
