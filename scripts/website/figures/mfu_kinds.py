"""MFU of the training runs of a year, dense models apart from mixtures of experts."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.drawing.scales import Scale
from flopbook.prediction.reached import Reached
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, dot, path, words
from scripts.website.figures.mfu_years import trained
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.reached_points import MARKS, mark_number
from scripts.website.figures.shapes import SHEET

YEAR = 2026  # of which the chapter speaks
_FEWEST = 10  # runs of a kind whose middle half says something
_MOST = 70.0  # percent at the right end
_TOP, _ROW, _LEFT = 8.0, 34.0, 132.0
_FAMILIES = ("dense", "mixtures")


class MiddleHalf(NamedTuple):
    """The runs of one kind: the MFU that a quarter, a half and three quarters stay below."""

    family: str
    bits: str
    runs: int
    low: float
    middle: float
    high: float


def is_mixture(run: Reached) -> bool:
    """Whether a run trained a mixture of experts."""
    return bool(run.row.model.get("n_experts", 1) > 1)


def kinds() -> list[MiddleHalf]:
    """Every kind of the year with enough runs, dense models first, in the order of formats."""
    shares: dict[tuple[bool, int], list[float]] = defaultdict(list)
    for run in trained():
        if int(run.date) == YEAR:
            shares[is_mixture(run), mark_number(run)].append(run.rate.share or 0)
    return [
        MiddleHalf(_FAMILIES[mixed], MARKS[number][0], len(found), *statistics.quantiles(found))
        for (mixed, number), found in sorted(shares.items())
        if len(found) >= _FEWEST
    ]


def figure() -> Figure:
    """A line over the middle half of each kind, with a dot at its median."""
    rows = kinds()
    dense, mixed = (
        next(row for row in rows if (row.family, row.bits) == (family, "16 bits"))
        for family in _FAMILIES
    )
    height = _TOP + _ROW * len(rows) + 42
    facts = "; ".join(
        f"{row.family}, {row.bits}: median {percent(row.middle)} of {row.runs} runs, half of them "
        f"from {percent(row.low)} to {percent(row.high)}"
        for row in rows
    )
    return Figure(
        f"Mixtures reach about half the MFU of dense models: {percent(mixed.middle)} against "
        f"{percent(dense.middle)} in 16 bits",
        f"{facts}.",
        f"Published training runs of {YEAR}. Dot: the median of a kind; line: its middle "
        f"half. MFU counts weights that multiply and unmasked attention, over the dense peak of "
        f"the format.",
        height,
        tuple(_drawn(rows, WIDTH)),
        narrow=Sheet(SHEET, height, tuple(_drawn(rows, SHEET))),
        readings=tuple(
            FigureValue(f"{row.family}, {row.bits}", name, share)
            for row in rows
            for name, share in (("low", row.low), ("median", row.middle), ("high", row.high))
        ),
    )


def _drawn(rows: list[MiddleHalf], width: float) -> Iterator[str]:
    across = Scale(0, _MOST, _LEFT, width - 46, log=False)
    foot = _TOP + _ROW * len(rows)
    for tick in range(0, int(_MOST) + 1, 10 if width == WIDTH else 20):
        x = across.at(tick)
        yield path([(x, _TOP), (x, foot)], "fb-grid")
        yield words(x, foot + 18, f"{tick}")
    yield words((_LEFT + width - 46) / 2, foot + 36, "MFU, percent of the dense peak")
    for number, row in enumerate(rows):
        y, colour = _TOP + _ROW * (number + 0.5), 2 * _FAMILIES.index(row.family)
        ends = [across.at(100 * share) for share in (row.low, row.high)]
        tip = f"{row.family}, {row.bits}: {percent(row.middle)}, {row.runs} runs"
        yield words(_LEFT - 10, y + 4, f"{row.family}, {row.bits}", "end")
        yield box(ends[0], y - 2, ends[1] - ends[0], 4, f"fb-c{colour}", tip)
        yield dot(across.at(100 * row.middle), y, f"fb-c{colour}", tip, 6)
        yield words(ends[1] + 8, y + 4, percent(row.middle), "start", "fb-strong")
