"""A TPU core: which unit does what, where the data lie, and the sizes of each generation."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.claims import Claim
from flopbook.data.library import load_entry
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, arrow, labelled, path, words

CHIPS = ("tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x")
_HEADS = ("chip", "cores", "matrix units (MXU)", "VMEM", "HBM", "HBM rate", "peak, bf16")
_AT = (6.0, 84.0, 132.0, 268.0, 348.0, 432.0, 526.0)
_PLACES = {
    "main memory\n(HBM)": (20, 44, 96, 96, "c5"),
    "memory on the\nchip (VMEM)": (196, 62, 104, 78, "c2"),
    "vector unit\n(VPU)": (400, 44, 110, 44, "c1"),
    "matrix units\n(MXU)": (400, 98, 110, 44, "c0"),
    "scalar unit": (196, 14, 104, 28, "c4"),
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
    vmem = _chosen([c for c in claims if c.field == "sram" and c.name == "VMEM"])
    return Generation(
        name.partition("/tpu-")[2],
        f"{cores.si_value:g}" if cores else "",
        f"{arrays.si_value:g} × {arrays.name[5:-1].replace('x', ' × ')}" if arrays else "",
        format_quantity(float(vmem.si_value or 0), "byte") if vmem else "",
        format_quantity(device.memory(), "byte"),
        format_quantity(device.memory_bandwidth(), "byte/s"),
        format_quantity(device.peak("bf16"), "FLOP/s"),
    )


def _chosen(claims: list[Claim]) -> Claim | None:
    """The first claim of these that is no known error and has a number."""
    return next((c for c in claims if not c.known_error and c.si_value is not None), None)


def figure() -> Figure:
    """The units above, the table of generations below."""
    rows = generations()
    shapes = [
        labelled((x, y, wide, high), text, kind)
        for text, (x, y, wide, high, kind) in _PLACES.items()
    ]
    shapes += [path([(180, 4), (180, 152), (526, 152), (526, 4), (180, 4)], "fb-dashed")]
    shapes += [words(519, 166, "TensorCore", "end", "fb-small")]
    shapes += [
        arrow((116, 92), (196, 92)),
        arrow((196, 110), (116, 110)),
        words(150, 84, "HBM rate", kind="fb-small"),
    ]
    for y in (66, 120):
        shapes += [arrow((300, y + 6), (400, y - 2)), arrow((400, y + 10), (300, y + 14))]
    shapes += [arrow((300, 26), (452, 44), "fb-dashed"), words(392, 22, "orders", kind="fb-small")]
    shapes += [
        words(x, 192, text, "start", "fb-small") for x, text in zip(_AT, _HEADS, strict=True)
    ]
    shapes.append(path([(4, 198), (636, 198)], "fb-grid"))
    for number, row in enumerate(rows):
        top = 214 + 18 * number
        shapes += [words(x, top, text or "–", "start") for x, text in zip(_AT, row, strict=True)]
    facts = "; ".join(
        f"{row.name}: {row.cores} TensorCores, MXU {row.arrays}, HBM {row.hbm} at {row.rate}, "
        f"{row.peak}"
        for row in rows
    )
    return Figure(
        "A TPU core and its generations",
        "Main memory exchanges data with a memory on the chip, which feeds a vector unit and the "
        f"matrix units; a scalar unit gives orders to both. Per chip: {facts}.",
        "Solid arrows are data, dashed ones orders. Below, numbers of the whole chip; a dash is "
        "where no number is recorded. The matrix units make the peak; the rate of the main memory "
        "says how fast they can be fed.",
        224 + 18 * len(rows),
        tuple(shapes),
    )
