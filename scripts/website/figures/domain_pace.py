"""Rate of a chip against the pace of a user, for experts on few ranks and on many."""

from __future__ import annotations

import functools
from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

MODEL, CHIP, LENGTH = "deepseek-v3", "nvidia/gb200-gpu", 4096
RANKS = (8, 64)
LOADS = (8, 64, 256, 512)  # sequences on each chip
_DOTS = ("fb-c0", "fb-c6")  # in the colours of the first two lines


class DomainPace(NamedTuple):
    """What a user and a chip get at one load, in tokens per second."""

    load: int
    user: float
    chip: float


@functools.cache
def paces(ranks: int) -> tuple[DomainPace, ...]:
    """Expected steps of a group of so many ranks, one at each load."""
    found = []
    for load in LOADS:
        answer = calculate(
            "decode",
            model=MODEL,
            chip=CHIP,
            dtype="fp8",
            tp=1,
            dp=ranks,
            ep=ranks,
            batch=load * ranks,
            seq=LENGTH,
        )
        seconds = float(answer["likely_seconds"])
        found.append(DomainPace(load, 1 / seconds, load / seconds))
    return tuple(found)


def gain(place: int) -> float:
    """How many times as fast the wide group is as the narrow one, at the load of this number."""
    few, many = (paces(ranks)[place].user for ranks in RANKS)
    return many / few


def figure() -> Figure:
    """A line for each group, with its load at every point."""
    curves = [(ranks, paces(ranks)) for ranks in RANKS]
    ends = [one for _, found in curves for one in found]
    chart = Chart(
        ChartAxis(
            "tokens a second for one user", 0, 1.15 * max(one.user for one in ends), log=False
        ),
        ChartAxis(
            "tokens a second for each chip", 0, 1.1 * max(one.chip for one in ends), log=False
        ),
    )
    shapes, facts = chart.grid(), []
    for number, (ranks, found) in enumerate(curves):
        points: list[Point] = [(one.user, one.chip) for one in found]
        shapes.append(chart.line(points, number, f"{ranks} ranks"))
        for one in found:
            shapes.append(chart.dot(one.user, one.chip, _tip(ranks, one), _DOTS[number]))
            facts.append(_tip(ranks, one))
        # the line of equal load leaves the narrow group to the right
        anchor, shift = ("end", (-12.0, 6.0)) if ranks == RANKS[0] else ("start", (9.0, 4.0))
        shapes.append(chart.words(points[0], f"{ranks} ranks", anchor, shift))
    for one in curves[-1][1]:
        above = -12 if one.load == LOADS[0] else -4  # over the name of the line
        place = (one.user, one.chip)
        shapes.append(chart.words(place, f"{one.load} on a chip", "start", (9, above)))
    for number in range(len(LOADS)):
        shapes += _joined(chart, number)
    first, last = gain(0), gain(-1)
    return Figure(
        f"A wide domain makes each user {first:.1f} times as fast where few share a chip and "
        f"{last:.1f} times where {LOADS[-1]} do",
        f"Tokens per second of a chip over those of one user. {'; '.join(facts)}. Gains at equal "
        f"load: {', '.join(f'{gain(number):.1f}' for number in range(len(LOADS)))}.",
        f"{shape(MODEL).model.name} in fp8 on {find_chip(CHIP).name}, contexts of "
        f"{format_quantity(LENGTH, 'token')}, steps as expected of a tuned engine. Each point has "
        f"a load: {', '.join(f'{load}' for load in LOADS[:-1])} and {LOADS[-1]} sequences on a "
        "chip, from the right. Dotted lines join points of one load, with the gain in pace. Going "
        "left sells more tokens to slower users, and the gain fades.",
        336,
        tuple(shapes),
        plots=(chart,),
    )


def _joined(chart: Chart, number: int) -> tuple[str, str]:
    """A line between the points of both groups at one load, and what is gained along it."""
    few, many = (paces(ranks)[number] for ranks in RANKS)
    middle = ((few.user + many.user) / 2, (few.chip + many.chip) / 2)
    is_steep = few.load > LOADS[1]
    anchor, shift = ("start", (6.0, 12.0)) if is_steep else ("middle", (-10.0, -10.0))
    line = chart.line([(few.user, few.chip), (many.user, many.chip)], 2, "the same load")
    return line, chart.words(middle, f"{gain(number):.1f} times", anchor, shift)


def _tip(ranks: int, one: DomainPace) -> str:
    return (
        f"{ranks} ranks, {one.load} sequences on a chip: {one.user:,.0f} tokens a second for a "
        f"user, {one.chip:,.0f} for the chip"
    )
