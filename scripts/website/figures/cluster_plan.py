"""A training cluster to scale: where its power goes, and the floor that its racks cover."""

from __future__ import annotations

import math
from collections.abc import Iterator

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, box, words

CHIP, NODE, CHIPS, PUE, A_RACK = "nvidia/h100-sxm", "nvidia/dgx-h100", 16384, 1.1, 16
COURT = (28.0, 15.0)  # metres, by the ledger's row slides-basketball
AISLES = 2.5  # floor of a hall over that of its racks: our assumption
_A_SERVER = 8  # chips
_SCALE = 5.2  # pixels to a metre
_LEFT, _WIDTH = 8.0, 620
_LONG = 1.6  # length over breadth of a floor that is not the court
_ROWS = 8  # of racks in a hall


def power() -> list[tuple[str, float]]:
    """Parts of the power in W: chips, the rest of the servers, cooling and losses."""
    device = chip(CHIP).power()
    server = next(claim for claim in load_entry(NODE).claims if claim.field == "power")
    rest_of_server = float(server.si_value or 0) / _A_SERVER - device
    cluster = calculate(
        "cluster-power", power=device, chips=CHIPS, pue=PUE, overhead=rest_of_server
    )
    return [
        ("chips", CHIPS * device),
        ("rest of the servers", CHIPS * rest_of_server),
        ("cooling and losses", float(cluster["watts"]) - float(cluster["it_watts"])),
    ]


def floors() -> list[tuple[str, float]]:
    """Areas in square metres: a basketball court, racks side by side, racks with aisles."""
    return [
        ("basketball court", math.prod(COURT)),
        ("racks alone", _hall(1)),
        ("racks with aisles", _hall(AISLES)),
    ]


def _hall(factor: float) -> float:
    """Square metres of the racks, times a factor for what is around them."""
    racks = {"chips_per_rack": A_RACK, "floor_factor": factor}
    return float(
        calculate("cluster-power", chip=CHIP, chips=CHIPS, pue=PUE, **racks)["square_metres"]
    )


def figure() -> Figure:
    """A bar of power above, three floors drawn to scale below."""
    shares, areas = power(), floors()
    facts = [f"{name} {format_quantity(watts, 'W')}" for name, watts in shares]
    facts += [f"{name} {area:,.0f} m²" for name, area in areas]
    return Figure(
        f"Power and floor of {CHIPS:,} GPUs",
        f"{'; '.join(facts)}.",
        f"{CHIPS:,} {chip(CHIP).name} in servers of eight, two servers to a rack, a tenth on top "
        f"for cooling and losses. With aisles a hall takes {AISLES:g} times the floor of its racks "
        "here, which is our assumption.",
        374,
        (*_power_bar(shares), *_floors(areas)),
    )


def _power_bar(shares: list[tuple[str, float]]) -> Iterator[str]:
    """One bar, its parts named below it."""
    total = sum(watts for _, watts in shares)
    yield words(_LEFT, 18, f"power: {format_quantity(total, 'W')}", "start", "fb-strong")
    x = _LEFT
    for number, (name, watts) in enumerate(shares):
        width = _WIDTH * watts / total
        label = f"{name}, {format_quantity(watts, 'W')}"
        yield box(x, 28, width, 30, f"fb-c{number}", label)
        baseline = 74 + 15 * (number % 2)
        if number < len(shares) - 1:
            yield words(x + 4, baseline, label, "start", "fb-small")
        else:  # its words would leave the picture on the right
            yield words(_LEFT + _WIDTH, baseline, label, "end", "fb-small")
        x += width


def _floors(areas: list[tuple[str, float]]) -> Iterator[str]:
    """The floors beside each other, on one line."""
    yield words(_LEFT, 118, "floor, to one scale", "start", "fb-strong")
    x, bottom = _LEFT, 330.0
    kinds = ("fb-c4", "fb-c5", "fb-hollow")
    for number, ((name, area), kind) in enumerate(zip(areas, kinds, strict=True)):
        length, breadth = math.sqrt(area * _LONG), math.sqrt(area / _LONG)
        if number == 0:
            length, breadth = COURT
        width, height = length * _SCALE, breadth * _SCALE
        yield box(x, bottom - height, width, height, kind)
        if kind == "fb-hollow":
            yield from _racks(x, bottom, width, height)
        yield words(x, bottom + 16, name, "start")
        yield words(x, bottom + 31, f"{area:,.0f} m²", "start", "fb-small")
        x += width + 20


def _racks(left: float, bottom: float, width: float, height: float) -> Iterator[str]:
    """Rows of racks with aisles between: of the floor one part in AISLES is racks."""
    step = height / _ROWS
    depth = step / AISLES
    for number in range(_ROWS):
        top = bottom - (number + 1) * step + (step - depth) / 2
        yield box(left + 3, top, width - 6, depth, "fb-c5")
