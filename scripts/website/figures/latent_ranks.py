"""Which latent caches and which experts a rank holds under TP, and where each keeps its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures.drawing import WIDTH, Figure, box, labelled, words

MODEL, CHIP, LENGTH, CHIPS = "deepseek-v3", "nvidia/h200-sxm", 8192, 8
RANKS, REQUESTS, EXPERTS = 4, 8, 8  # what is drawn
LAYOUTS = {"tp": {"tp": CHIPS}, "requests": {"ep": CHIPS, "dp": CHIPS}}
_SAID = {
    "tp": "TP: a rank has all caches and a slice of every expert",
    "requests": "cut by requests: a rank has its own caches and whole experts",
}
_COLOURS = ("c0", "c1", "c2", "c3")  # of the rank that a request belongs to
_LEFT, _TOP, _ROW, _CELL, _PANEL = 84.0, 30.0, 28.0, 24.0, 104.0


class RankHoldings(NamedTuple):
    """Requests whose caches a rank has, and the experts of which it has a part, from 0."""

    requests: range
    experts: range
    part: float  # of each of these experts


def held(layout: str, rank: int) -> RankHoldings:
    """What one of `RANKS` ranks keeps; `layout` is a key of `LAYOUTS`."""
    if layout == "tp":
        return RankHoldings(range(REQUESTS), range(EXPERTS), 1 / RANKS)
    own, ours = REQUESTS // RANKS, EXPERTS // RANKS
    return RankHoldings(
        range(rank * own, (rank + 1) * own), range(rank * ours, (rank + 1) * ours), 1.0
    )


def fitting(layout: str) -> int:
    """Sequences of `LENGTH` tokens that fit on `CHIPS` chips beside the weights in fp8."""
    asked = {"model": MODEL, "chip": CHIP, "seq": LENGTH, "dtype": "fp8"}
    return int(calculate("serving", **asked, **LAYOUTS[layout])["batch_fits"])


def figure() -> Figure:
    """A panel for each layout, a column for each rank."""
    few, many = (fitting(layout) for layout in LAYOUTS)
    shapes = [
        shape
        for place, layout in enumerate(LAYOUTS)
        for shape in _panel(layout, _TOP + place * _PANEL)
    ]
    return Figure(
        f"Where a rank keeps only its own latent caches {many:,} sequences fit, not {few:,}",
        f"Caches of {REQUESTS} requests and {EXPERTS} experts on {RANKS} ranks. Under TP each rank "
        f"has all {REQUESTS} caches and a quarter of every expert; cut by requests it has "
        f"{REQUESTS // RANKS} caches and {EXPERTS // RANKS} whole experts.",
        f"{RANKS} ranks, {REQUESTS} requests (a colour for the rank that a request belongs to) and "
        f"{EXPERTS} experts; hollow is room for caches, or held by other ranks. The numbers are of "
        f"DeepSeek-V3 in fp8 on {CHIPS} {chip(CHIP).name}, with {LENGTH:,} tokens each.",
        _TOP + len(LAYOUTS) * _PANEL - 14,
        tuple(shapes),
    )


def _panel(layout: str, top: float) -> Iterator[str]:
    """The caches of each rank over its experts."""
    yield words(_LEFT, top - 10, _SAID[layout], "start", "fb-strong")
    yield words(_LEFT - 8, top + 17, "caches", "end")
    yield words(_LEFT - 8, top + _ROW + 17, "experts", "end")
    column = (WIDTH - _LEFT - 8) / RANKS
    for rank in range(RANKS):
        left, wide = _LEFT + rank * column, column - 10
        yield from _caches(held(layout, rank), left, top, wide / REQUESTS)
        yield from _experts(held(layout, rank), rank, (left, top + _ROW), wide / EXPERTS)
        yield words(left + wide / 2, top + 2 * _ROW + 12, f"rank {rank}", kind="fb-small")


def _caches(mine: RankHoldings, left: float, top: float, cell: float) -> Iterator[str]:
    """A cell for each cache, and the room that is left for more."""
    for place, request in enumerate(mine.requests):
        colour = _COLOURS[request * RANKS // REQUESTS]
        yield labelled((left + place * cell, top, cell - 1, _CELL), f"{request}", colour)
    taken = len(mine.requests)
    if taken < REQUESTS:
        yield box(left + taken * cell, top, (REQUESTS - taken) * cell, _CELL, "fb-hollow", "room")


def _experts(
    mine: RankHoldings, rank: int, corner: tuple[float, float], cell: float
) -> Iterator[str]:
    """A cell for each expert, filled as far as this rank holds it."""
    left, top = corner
    for expert in range(EXPERTS):
        x = left + expert * cell
        yield box(x, top, cell - 1, _CELL, "fb-hollow", f"expert {expert}")
        if expert in mine.experts:
            height = mine.part * _CELL
            start = top + rank * height if mine.part < 1 else top
            yield box(x, start, cell - 1, height, "fb-c4", f"expert {expert}")
