"""A training cluster to scale: where its power goes, and the floor that its racks cover."""

from __future__ import annotations

import math
from collections.abc import Iterator

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import Figure, Sheet, box, key, words
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.figures.shapes import EDGE, SHEET

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
        f"{percent(shares[0][1] / sum(watts for _, watts in shares))} of the power goes to the "
        "GPUs themselves, and aisles take more floor than racks",
        f"{'; '.join(facts)}.",
        f"{CHIPS:,} {chip(CHIP).name} in servers of eight, two servers to a rack, plus a tenth "
        f"for cooling and losses. With aisles a hall takes {AISLES:g} times the floor of its "
        "racks here, which is our assumption.",
        374,
        (*_power_bar(shares), *_names_below(shares), *_floors(areas)),
        narrow=Sheet(SHEET, 526, tuple(_phone(shares, areas))),
        readings=(
            *(FigureValue("power", name, watts, "W") for name, watts in shares),
            *(FigureValue("floor", f"{name}, m²", area) for name, area in areas),
        ),
    )


def _phone(shares: list[tuple[str, float]], areas: list[tuple[str, float]]) -> Iterator[str]:
    """The bar on the width of a phone with a legend, the largest floor below the others."""
    yield from _power_bar(shares, EDGE, SHEET - 2 * EDGE)
    for number, part in enumerate(shares):
        yield from key(EDGE, 68 + 18 * number, _label(*part), f"fb-c{number}")
    yield words(EDGE, 146, "floor, to one scale", "start", "fb-strong")
    court, racks, hall = areas
    beside = EDGE + COURT[0] * _SCALE + 20
    yield from _floor(court, (EDGE, 270), "fb-c4")
    yield from _floor(racks, (beside, 270), "fb-c5")
    yield from _floor(hall, (EDGE, 486), "fb-hollow")


def _label(name: str, watts: float) -> str:
    return f"{name}, {format_quantity(watts, 'W')}"


def _power_bar(
    shares: list[tuple[str, float]], left: float = _LEFT, whole: float = _WIDTH
) -> Iterator[str]:
    """One bar below its sum."""
    total = sum(watts for _, watts in shares)
    yield words(left, 18, f"power: {format_quantity(total, 'W')}", "start", "fb-strong")
    x = left
    for number, (name, watts) in enumerate(shares):
        width = whole * watts / total
        yield box(x, 28, width, 30, f"fb-c{number}", f"{name}: {format_quantity(watts, 'W')}")
        x += width


def _names_below(shares: list[tuple[str, float]]) -> Iterator[str]:
    """The parts of the bar, named below it."""
    total, x = sum(watts for _, watts in shares), _LEFT
    for number, (name, watts) in enumerate(shares):
        baseline = 74 + 15 * (number % 2)
        if number < len(shares) - 1:
            yield words(x + 4, baseline, _label(name, watts), "start", "fb-small")
        else:  # its words would leave the picture on the right
            yield words(_LEFT + _WIDTH, baseline, _label(name, watts), "end", "fb-small")
        x += _WIDTH * watts / total


def _floors(areas: list[tuple[str, float]]) -> Iterator[str]:
    """The floors beside each other, on one line."""
    yield words(_LEFT, 118, "floor, to one scale", "start", "fb-strong")
    x = _LEFT
    for area, kind in zip(areas, ("fb-c4", "fb-c5", "fb-hollow"), strict=True):
        yield from _floor(area, (x, 330), kind)
        x += _sides(area)[0] + 20


def _sides(floor: tuple[str, float]) -> Point:
    """Pixels of a floor from left to right, and from back to front."""
    name, area = floor
    is_court = name == "basketball court"
    length, breadth = COURT if is_court else (math.sqrt(area * _LONG), math.sqrt(area / _LONG))
    return length * _SCALE, breadth * _SCALE


def _floor(floor: tuple[str, float], corner: Point, kind: str) -> Iterator[str]:
    """A floor, its lower left corner given, with its name and area below it."""
    (x, bottom), (width, height) = corner, _sides(floor)
    name, area = floor
    yield box(x, bottom - height, width, height, kind)
    if kind == "fb-hollow":
        yield from _racks(x, bottom, width, height)
    yield words(x, bottom + 16, name, "start")
    yield words(x, bottom + 31, f"{area:,.0f} m²", "start", "fb-small")


def _racks(left: float, bottom: float, width: float, height: float) -> Iterator[str]:
    """Rows of racks with aisles between: of the floor one part in AISLES is racks."""
    step = height / _ROWS
    depth = step / AISLES
    for number in range(_ROWS):
        top = bottom - (number + 1) * step + (step - depth) / 2
        yield box(left + 3, top, width - 6, depth, "fb-c5")
