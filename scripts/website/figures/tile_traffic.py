"""Bytes that a product of matrices moves by the side of its tiles, and what fits on chips."""

from __future__ import annotations

import math
from typing import NamedTuple

from flopbook.data.library import load_entry
from flopbook.errors import FlopbookError
from flopbook.formulas import tile_traffic
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

SIDE, SMALLEST = 8192, 8
CHIP = "nvidia/h100-sxm"
# The memory that one tile has for itself: its chip, its name in the entry, and how the figure calls
# it.
NEAR = (
    ("amd/mi300x", "LDS, per compute unit", "a compute unit of MI300X"),
    (CHIP, "shared memory, per SM", "an SM of H100"),
    ("google/tpu-v5p", "VMEM per TensorCore", "a core of TPU v5p"),
)
# Where the label of each point stands, so that none touches another.
LABELS = (("start", (9, -4)), ("start", (9, -4)), ("end", (-9, 20)), ("end", (-9, 10)))


class Mark(NamedTuple):
    """A point on the line: whose memory it is, its bytes, and the side of the largest tile."""

    name: str
    memory: float
    tile: float


def largest_tile(memory: float) -> float:
    """The largest power of two that is the side of a tile in so many bytes, in bf16.

    Kernels mostly take a power of two. Raises FlopbookError where not even one element fits.
    """
    fits = tile_traffic(m=1, n=1, k=1, tile=1, near_memory=memory)["largest_tile"]
    if fits < 1:
        raise FlopbookError(f"no tile fits into {memory:,.0f} bytes")
    return 2.0 ** math.floor(math.log2(fits))


def marks() -> list[Mark]:
    """The largest tile in the near memory of each chip."""
    points = []
    for name, memory, words in NEAR:
        size = next(
            c.si_value
            for c in load_entry(name).claims
            if c.name == memory and c.si_value is not None
        )
        points.append(Mark(words, size, largest_tile(size)))
    return points


def shared() -> Mark:
    """All tiles that the GPU works on at once: through the cache they fetch as one tile."""
    claims = {c.name: c.si_value for c in load_entry(CHIP).claims if c.si_value is not None}
    tile = largest_tile(claims["shared memory, per SM"])
    return Mark(
        "all SMs of H100",
        claims["L2"],
        tile * claims["streaming multiprocessors"] ** 0.5,
    )


def allowed() -> float:
    """Bytes that the chip's memory delivers while its arithmetic makes the product at peak."""
    device = chip(CHIP)
    return 2 * SIDE**3 / device.peak("bf16") * device.memory_bandwidth()


def figure() -> Figure:
    """One falling line, a level for what the memory can deliver, and a point for each chip."""
    tiles = [float(SMALLEST * 2**n) for n in range((SIDE // SMALLEST).bit_length())]
    points, level = [(tile, _moved(tile)) for tile in tiles], allowed()
    chart = Chart(
        ChartAxis("side of a tile, elements", SMALLEST, SIDE),
        ChartAxis("bytes moved", 2e8, points[0][1] * 1.3, "byte"),
    )
    shapes = [
        *chart.grid(),
        chart.line(points, name="side of the tile"),
        chart.line([(SMALLEST, level), (SIDE, level)], 1),
    ]
    shapes.append(
        chart.words((SMALLEST, level), "what the memory of H100 delivers meanwhile", shift=(6, -6))
    )
    facts = []
    for number, mark in enumerate((*marks(), shared())):
        moved = _moved(mark.tile)
        text = (
            f"{mark.name}, {format_quantity(mark.memory, 'byte')}: {mark.tile:,.0f} by "
            f"{mark.tile:,.0f}"
        )
        shapes.append(
            chart.dot(mark.tile, moved, f"{text}, {format_quantity(moved, 'byte')} moved")
        )
        anchor, shift = LABELS[number]
        label = f"{mark.name}: {mark.tile:,.0f}"
        shapes.append(chart.words((mark.tile, moved), label, anchor, shift))
        facts.append(f"{text}, {format_quantity(moved, 'byte')} moved")
    return Figure(
        "Twice the side of a tile halves the bytes",
        f"A product of matrices of {SIDE:,} by {SIDE:,} in bf16; both axes logarithmic. The "
        "largest tiles that are powers of two, and the tiles of a whole chip together: "
        f"{'; '.join(facts)}. The memory of H100 delivers {format_quantity(level, 'byte')} in the "
        "time of the arithmetic.",
        f"A product of two matrices of side {SIDE:,}. The dashed line is what the memory of H100 "
        "brings in the time of its arithmetic: above it memory sets the pace, below it arithmetic. "
        "A number beside a point is the side of its tile. One tile on one processor of a GPU stays "
        "above; all its tiles together, which share strips through the cache, get below.",
        336,
        tuple(shapes),
        plots=(chart,),
    )


def _moved(tile: float) -> float:
    moved: float = tile_traffic(m=SIDE, n=SIDE, k=SIDE, tile=tile)["bytes"]
    return moved
