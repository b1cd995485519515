"""In how many years quantities of server chips double, with the band that their scatter leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.drawing.scales import Scale
from scripts.website.figures.drawing import Figure, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.scatter import mark
from scripts.website.pages.explorer import items
from scripts.website.pages.growth import Growth
from scripts.website.pages.landscape import FITTED, trend_growth

QUANTITIES = (
    ("peak", "peak, dense 16 bits"),
    ("transistors", "transistors"),
    ("memory_bandwidth", "memory bandwidth"),
    ("memory", "memory"),
    ("scaleup_bandwidth", "scale-up bandwidth"),
    ("power", "power"),
    ("efficiency", "peak for each watt"),
    ("links", "FLOP for a link byte"),
    ("wall", "ridge point"),
)
_LEFT, _ROW, _MOST = 176, 36, 24.0
_LONG = 1000.0  # years: a band that goes as far says nothing of growth


class GrowthRow(NamedTuple):
    """A quantity with its growth over all server chips with DRAM, and over GPUs alone."""

    label: str
    every: Growth
    gpus: Growth


def rows() -> list[GrowthRow]:
    """The quantities, fastest first."""
    chips = items()
    fits = [
        GrowthRow(label, trend_growth(chips, name, FITTED), trend_growth(chips, name, ("gpu",)))
        for name, label in QUANTITIES
    ]
    return sorted(fits, key=lambda row: row.every.doubling)


def figure() -> Figure:
    """Two bands for each quantity on a logarithmic axis of years."""
    x = Scale(1, _MOST, _LEFT, 616)
    shown = rows()
    bottom = 12 + _ROW * len(shown)
    shapes = []
    for years in (1, 2, 3, 5, 10, 20):
        shapes += [
            path([(x.at(years), 8), (x.at(years), bottom)], "fb-grid"),
            words(x.at(years), bottom + 16, f"{years}"),
        ]
    for number, row in enumerate(shown):
        top = 12 + _ROW * number
        shapes.append(words(_LEFT - 10, top + 21, row.label, "end"))
        shapes += [*_band(x, row.every, top + 11, 0), *_band(x, row.gpus, top + 22, 1)]
    shapes.append(words((x.start + x.end) / 2, bottom + 36, "years to double"))
    for number, (left, name) in enumerate(
        ((60, "all server chips with DRAM"), (290, "GPUs for servers"))
    ):
        shapes += [path([(left, bottom + 54), (left + 28, bottom + 54)], f"fb-line{number}")]
        shapes += [
            mark(number, (left + 14, bottom + 54)),
            words(left + 36, bottom + 58, name, "start"),
        ]
    facts = "; ".join(f"{row.label} {_years(row.every)}, GPUs {_years(row.gpus)}" for row in shown)
    first, last = shown[0], shown[-1]
    doubt = "" if last.every.slow < _LONG else ", if at all"
    return Figure(
        f"The {first.label.partition(',')[0]} doubles in {first.every.doubling:.1f} years, the "
        f"{last.label} in {last.every.doubling:.0f}{doubt}",
        f"Points with bands on a logarithmic axis of years. {facts}.",
        "Dots: least squares through the logarithms of all dated chips. Bars: two standard errors "
        f"of the rate either way, cut at {_MOST:g} years. They say how well the line is known, not "
        "how far chips lie from it.",
        bottom + 66,
        tuple(shapes),
        readings=tuple(_readings(shown)),
    )


def _readings(shown: list[GrowthRow]) -> Iterator[FigureValue]:
    """Years to double of each quantity, and where their band begins and ends."""
    for row in shown:
        for group, fit in (("all server chips with DRAM", row.every), ("GPUs", row.gpus)):
            name = f"{row.label}, years to double"
            yield FigureValue(group, name, fit.doubling)
            yield FigureValue(group, f"{name}, at the fastest", fit.fast)
            if math.isfinite(fit.slow):
                yield FigureValue(group, f"{name}, at the slowest", fit.slow)


def _band(x: Scale, fit: Growth, middle: float, number: int) -> list[str]:
    tip = (
        f"{_years(fit)}, {fit.count} chips; a chip lies off the line by a factor of "
        f"{fit.scatter:.2f}"
    )
    start, end = x.at(fit.fast), x.at(min(fit.slow, _MOST))
    at = x.at(min(fit.doubling, _MOST))
    return [
        path([(start, middle), (end, middle)], f"fb-line{number}"),
        mark(number, (at, middle), tip),
    ]


def _years(fit: Growth) -> str:
    slow = f"{fit.slow:.1f}" if math.isfinite(fit.slow) else "never"
    return f"{fit.doubling:.1f} years ({fit.fast:.1f} to {slow})"
