"""A training cluster to scale: where its power goes, and the floor that its racks cover."""

from __future__ import annotations

import math

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_row
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, box, words

CHIP, NODE, CHIPS, PUE, A_RACK = "nvidia/h100-sxm", "nvidia/dgx-h100", 16384, 1.1, 16
COURT, AISLES = (
    (28.0, 15.0),
    2.5,
)  # metres, by the ledger's row slides-basketball; floor of a hall over its racks
_SCALE = 5.2  # pixels to a metre


def power() -> list[tuple[str, float]]:
    """Parts of the power in W: chips, the rest of the servers, cooling and losses."""
    device = chip(CHIP).power()
    server = next(c for c in load_entry(NODE).claims if c.field == "power")
    rest_of_server = float(server.si_value or 0) / 8 - device
    cluster = calculate("cluster-power", chip=CHIP, chips=CHIPS, pue=PUE, overhead=rest_of_server)
    return [
        ("chips", CHIPS * device),
        ("rest of the servers", CHIPS * rest_of_server),
        ("cooling and losses", float(cluster["watts"]) - float(cluster["it_watts"])),
    ]


def floors() -> list[tuple[str, float]]:
    """Areas in square metres: a basketball court, racks side by side, racks with aisles."""

    def racks(factor: float) -> float:
        return float(
            calculate(
                "cluster-power",
                chip=CHIP,
                chips=CHIPS,
                pue=PUE,
                chips_per_rack=A_RACK,
                floor_factor=factor,
            )["square_metres"]
        )

    return [
        ("basketball court", math.prod(COURT)),
        ("racks alone", racks(1)),
        ("racks with aisles", racks(AISLES)),
    ]


def figure() -> Figure:
    """A bar of power above, three floors drawn to scale below."""
    shares, areas = power(), floors()
    total = sum(value for _, value in shares)
    shapes, left = (
        [words(8, 18, f"power: {format_quantity(total, 'W')}", "start", "fb-strong")],
        8.0,
    )
    for number, (name, value) in enumerate(shares):
        wide, facts = 620 * value / total, f"{name}, {format_quantity(value, 'W')}"
        shapes.append(box(left, 28, wide, 30, f"fb-c{number}", facts))
        last = number == len(shares) - 1  # its words would leave the picture on the right
        place = (628.0, "end") if last else (left + 4, "start")
        shapes.append(words(place[0], 74 + 15 * (number % 2), facts, place[1], "fb-small"))
        left += wide
    shapes.append(words(8, 118, "floor, to one scale", "start", "fb-strong"))
    x, bottom = 8.0, 330.0
    for number, (name, area) in enumerate(areas):
        wide, high = COURT if not number else (math.sqrt(area * 1.6), math.sqrt(area / 1.6))
        shapes.append(
            box(
                x,
                bottom - high * _SCALE,
                wide * _SCALE,
                high * _SCALE,
                ("fb-c4", "fb-c5", "fb-hollow")[number],
            )
        )
        if number == 2:
            shapes += _rows(x, bottom, wide, high)
        shapes += [
            words(x, bottom + 16, name, "start"),
            words(x, bottom + 31, f"{area:,.0f} m²", "start", "fb-small"),
        ]
        x += wide * _SCALE + 20
    stated = ledger_row("slides-llama3-floor-area").stated.value
    told = "; ".join(
        [
            *(f"{name} {format_quantity(value, 'W')}" for name, value in shares),
            *(f"{name} {area:,.0f} m²" for name, area in areas),
        ]
    )
    return Figure(
        f"Power and floor of {CHIPS:,} GPUs",
        f"{told}. The slides say {stated:g} m².",
        f"{CHIPS:,} {chip(CHIP).name} in servers of eight, two servers to a rack, a tenth on top "
        f"for cooling and losses. With aisles a hall takes {AISLES:g} times the floor of its racks "
        "here, which is our assumption.",
        374,
        tuple(shapes),
    )


def _rows(left: float, bottom: float, wide: float, high: float) -> list[str]:
    """Rows of racks with aisles between: of the floor one part in AISLES is racks."""
    number, tall = 8, high * _SCALE
    step, rack = tall / number, tall / number / AISLES
    tops = [bottom - (n + 1) * step + (step - rack) / 2 for n in range(number)]
    return [box(left + 3, top, wide * _SCALE - 6, rack, "fb-c5") for top in tops]
