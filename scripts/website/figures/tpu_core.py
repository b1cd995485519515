"""A TPU core: which unit does what, where the data lie, and the sizes of each generation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.data.claims import Claim
from flopbook.data.library import load_entry
from flopbook.hardware.chip import chip
from flopbook.hardware.picked import pick_of
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, Sheet, arrow, labelled, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import EDGE, SHEET

CHIPS = ("tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x")
_HEADS = ("chip", "cores", "matrix units (MXU)", "VMEM", "HBM", "HBM rate", "peak, bf16")
_AT = (6.0, 84.0, 132.0, 268.0, 348.0, 432.0, 526.0)
_PHONE_AT = ((4.0, 56.0, 108.0, 246.0), (4.0, 56.0, 142.0, 244.0))  # two tables of four columns
_LABEL = 60.0  # pixels between two boxes that leave room for words
Place = tuple[float, float, float, float, str]
_PLACES: dict[str, Place] = {
    "main memory\n(HBM)": (20, 44, 96, 96, "c5"),
    "memory on the\nchip (VMEM)": (196, 62, 104, 78, "c2"),
    "vector unit\n(VPU)": (400, 44, 110, 44, "c1"),
    "matrix units\n(MXU)": (400, 98, 110, 44, "c0"),
    "scalar unit": (196, 14, 104, 28, "c4"),
}
_PHONE_PLACES: dict[str, Place] = {
    "main memory\n(HBM)": (2, 44, 82, 96, "c5"),
    "memory on the\nchip (VMEM)": (118, 62, 90, 78, "c2"),
    "vector unit\n(VPU)": (240, 44, 84, 44, "c1"),
    "matrix units\n(MXU)": (240, 98, 84, 44, "c0"),
    "scalar unit": (118, 14, 90, 28, "c4"),
}


class Generation(NamedTuple):
    """A row of the table: what the core of a chip has; empty where it is not published."""

    name: str
    cores: str
    arrays: str
    vmem: str
    hbm: str
    rate: str
    peak: str


def generations() -> list[Generation]:
    """One row for each chip, from its entry."""
    return [_generation(f"google/{name}") for name in CHIPS]


def _generation(name: str) -> Generation:
    device, claims = chip(name), load_entry(name).claims
    arrays = _chosen([c for c in claims if c.field == "cores" and c.name.startswith("MXU")])
    cores = _chosen([c for c in claims if c.field == "cores" and c.name == "TensorCore"])
    vmem = _vmem(name)
    picked_vmem = pick_of(vmem) if vmem else None
    return Generation(
        name.partition("/tpu-")[2],
        f"{cores.si_value:g}" if cores else "",
        f"{arrays.si_value:g} × {arrays.name[5:-1].replace('x', ' × ')}" if arrays else "",
        picked_vmem.words if picked_vmem else "",
        device.pick_memory().words,
        format_quantity(device.memory_bandwidth(), "byte/s"),
        format_quantity(device.peak("bf16"), "FLOP/s"),
    )


def _grown() -> str:
    """What the oldest and the newest of the table differ by: peak, and rate of the memory."""
    oldest, newest = chip(CHIPS[0]), chip(CHIPS[-1])
    peak = newest.peak("bf16") / oldest.peak("bf16")
    rate = newest.memory_bandwidth() / oldest.memory_bandwidth()
    return (
        f"Since v3 the matrix units of a TPU became {peak:.0f} times as fast, "
        f"the memory that feeds them {rate:.0f}"
    )


def _chosen(claims: list[Claim]) -> Claim | None:
    """The first claim of these that is no known error and has a number."""
    return next((c for c in claims if not c.known_error and c.si_value is not None), None)


def figure() -> Figure:
    """The units above, the table of generations below."""
    rows = generations()
    shapes = [*_units(_PLACES), *_table(rows, _AT, (0, 1, 2, 3, 4, 5, 6), 192, 636)]
    below = 192 + 30 + 18 * len(rows)
    phone = [
        *_units(_PHONE_PLACES),
        *_table(rows, _PHONE_AT[0], (0, 1, 2, 3), 192, SHEET - EDGE),
        *_table(rows, _PHONE_AT[1], (0, 4, 5, 6), below, SHEET - EDGE),
    ]
    facts = "; ".join(
        f"{row.name}: {row.cores} TensorCores, MXU {row.arrays}, HBM {row.hbm} at {row.rate}, "
        f"{row.peak}"
        for row in rows
    )
    return Figure(
        _grown(),
        "Main memory exchanges data with a memory on the chip, which feeds a vector unit and the "
        f"matrix units; a scalar unit gives orders to both. Per chip: {facts}.",
        "Solid arrows are data, dashed ones orders. Below, numbers of the whole chip; a dash is "
        "where no number is recorded. The matrix units make the peak; the rate of the main memory "
        "says how fast they can be fed. "
        "For v6e another page of Google's has four arrays; two would need about twice the clock of "
        "v5p to reach the peak.",
        224 + 18 * len(rows),
        tuple(shapes),
        narrow=Sheet(SHEET, below + 32 + 18 * len(rows), tuple(phone)),
        readings=tuple(value for name in CHIPS for value in _readings(f"google/{name}")),
    )


def _readings(name: str) -> Iterator[FigureValue]:
    """The sizes and rates of a row of the table in SI units."""
    device = chip(name)
    vmem = _vmem(name)
    if vmem and vmem.si_value:
        yield FigureValue(device.name, "VMEM", vmem.si_value, "byte")
    yield FigureValue(device.name, "HBM", device.memory(), "byte")
    yield FigureValue(device.name, "HBM rate", device.memory_bandwidth(), "byte/s")
    yield FigureValue(device.name, "peak, bf16", device.peak("bf16"), "FLOP/s")


def _vmem(name: str) -> Claim | None:
    """The memory of the chip that programs fill, if its size is published."""
    sizes = [c for c in load_entry(name).claims if c.field == "sram" and c.name == "VMEM"]
    return _chosen(sizes)


def _units(places: dict[str, Place]) -> Iterator[str]:
    """The boxes of memories and units, what they exchange, and the core around them."""
    for text, (x, y, wide, high, kind) in places.items():
        yield labelled((x, y, wide, high), text, kind)
    hbm, vmem, vector = (places[name] for name in list(places)[:3])
    out, into = hbm[0] + hbm[2], vmem[0]
    edge, end = into - 16, vector[0] + vector[2] + 16
    is_wide = into - out > _LABEL
    yield path([(edge, 4), (edge, 152), (end, 152), (end, 4), (edge, 4)], "fb-dashed")
    yield words(end - 7, 166, "TensorCore", "end", "fb-small")
    yield arrow((out, 92), (into, 92))
    yield arrow((into, 110), (out, 110))
    middle = ((out + edge) / 2, 84) if is_wide else (out - 24, 36)
    yield words(*middle, "HBM rate", kind="fb-small")
    side, units = into + vmem[2], vector[0]
    for y in (66, 120):
        yield arrow((side, y + 6), (units, y - 2))
        yield arrow((units, y + 10), (side, y + 14))
    yield arrow((side, 26), (units + 52 if is_wide else units + 24, 44), "fb-dashed")
    yield words(units - 8 if is_wide else units + 12, 22, "orders", kind="fb-small")


def _table(
    rows: list[Generation],
    places: tuple[float, ...],
    columns: tuple[int, ...],
    top: float,
    end: float,
) -> Iterator[str]:
    """Some columns of the table of generations, their heads at `top`."""
    for x, column in zip(places, columns, strict=True):
        yield words(x, top, _HEADS[column], "start", "fb-small")
    yield path([(4, top + 6), (end, top + 6)], "fb-grid")
    for number, row in enumerate(rows):
        for x, column in zip(places, columns, strict=True):
            yield words(x, top + 22 + 18 * number, row[column] or "–", "start")
