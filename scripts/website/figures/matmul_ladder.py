"""What each idea adds to a kernel that multiplies matrices, as its authors publish it."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.drawing.scales import Scale
from flopbook.errors import FlopbookError
from flopbook.ledger.rows import ledger_row
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, box, path, words
from scripts.website.figures.plotted import FigureValue

_LEFT, _TOP, _ROW = 216.0, 12.0, 27.0
# Rows of the ledger, and what the version of the kernel adds to the one above it.
VERSIONS = (
    ("blackwell-basic", "a pipeline of copies and products"),
    ("blackwell-warps", "+ specialised warps"),
    ("blackwell-epilogue", "+ epilogue in strips"),
    ("blackwell-pair", "+ two SMs multiply together"),
    ("blackwell-persistent", "+ persistent blocks"),
    ("blackwell-warpgroup", "+ warps for the epilogue"),
    ("blackwell-order", "+ order of tiles"),
    ("blackwell-cublas", "cuBLAS"),
    ("blackwell-cutlass", "CUTLASS, its best kernel"),
)
_LIBRARIES = 2


class KernelVersion(NamedTuple):
    """A version of the kernel: what it adds, and its share of the peak."""

    name: str
    share: float


def versions() -> list[KernelVersion]:
    """The versions in their order, then the libraries. Raises FlopbookError for a lost row."""
    timed = []
    for row_id, name in VERSIONS:
        share = ledger_row(row_id).stated.si_value
        if share is None:
            raise FlopbookError(f"{row_id} states no share")
        timed.append(KernelVersion(name, share))
    return timed


def figure() -> Figure:
    """A bar for each version, and a line at the library's rate."""
    scale = Scale(0, 1, _LEFT, 600, log=False)
    timed = versions()
    shapes, library = [], timed[-_LIBRARIES]
    for number, version in enumerate(timed):
        is_library = number >= len(timed) - _LIBRARIES
        top = _TOP + _ROW * number + (10 if is_library else 0)
        x = scale.at(version.share)
        tip = f"{version.name}: {percent(version.share, 1)} of the peak"
        shapes.append(words(_LEFT - 8, top + 14, version.name, "end"))
        shapes.append(box(_LEFT, top, x - _LEFT, 19, "fb-c2" if is_library else "fb-c0", tip))
        ink = "fb-on2" if is_library else "fb-on0"
        shapes.append(words(_LEFT + 8, top + 14, percent(version.share), "start", ink))
    bottom = _TOP + _ROW * len(timed) + 10
    level = scale.at(library.share)
    shapes.append(path([(level, _TOP - 6), (level, bottom)], "fb-dashed"))
    first, last = timed[0], timed[-_LIBRARIES - 1]
    shares = "; ".join(f"{version.name} {percent(version.share, 1)}" for version in timed)
    return Figure(
        f"Seven versions of one kernel, from {percent(first.share)} to {percent(last.share)} of "
        "the peak",
        f"Share of the tensor cores' peak on Blackwell, each version with all above it: {shares}.",
        "A product of 4,096 by 4,096 by 8,192 in fp16 on Blackwell, on normally distributed "
        "numbers. Each bar has what all bars above it have. Dashed: cuBLAS.",
        bottom + 8,
        tuple(shapes),
        source="jax2026blackwell",
        readings=tuple(
            FigureValue("share of the peak", version.name, version.share, "percent")
            for version in timed
        ),
    )
