"""Additions that wait for each other, and additions that do not, cycle by cycle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scripts.website.figures.drawing import Figure, labelled, path, words
from scripts.website.figures.plotted import FigureValue

COUNT, LATENCY = 8, 2  # additions, and cycles from the start of one to its result
_LEFT, _TOP, _CELL, _ROW, _GAP = 84.0, 30.0, 33.0, 18.0, 34.0


class Addition(NamedTuple):
    """When an addition starts and when its sum is there, in cycles."""

    start: int
    end: int


def additions(sums: int) -> list[Addition]:
    """Pairs in turn over this many sums: one starts in a cycle, once its sum is there."""
    ready, done, clock = [0] * sums, list[Addition](), 0
    for number in range(COUNT):
        start = max(clock, ready[number % sums])
        ready[number % sums] = start + LATENCY
        clock = start + 1
        done.append(Addition(start, start + LATENCY))
    return done


def cycles(sums: int) -> int:
    """Until the last sum is there."""
    return max(addition.end for addition in additions(sums))


def _panel(title: str, sums: int, top: float) -> Iterator[str]:
    """A row for each addition, over the cycles in which it is under way."""
    yield words(_LEFT, top - 8, title, "start", "fb-strong")
    bottom = top + COUNT * _ROW
    for cycle in range(cycles(1) + 1):
        x = _LEFT + cycle * _CELL
        yield path([(x, top - 2), (x, bottom)], "fb-grid")
    for number, addition in enumerate(additions(sums)):
        y = top + number * _ROW
        place = (
            _LEFT + addition.start * _CELL,
            y,
            (addition.end - addition.start) * _CELL - 2,
            _ROW - 3,
        )
        yield words(_LEFT - 8, y + 12, f"pair {number + 1}", "end", "fb-small")
        yield labelled(place, "", "c0")


def _readings(group: str, sums: int) -> Iterator[FigureValue]:
    """When each addition starts and how long it takes, in cycles."""
    for number, addition in enumerate(additions(sums)):
        length = addition.end - addition.start
        yield FigureValue(group, f"pair {number + 1}", length, start=addition.start)


def figure() -> Figure:
    """One sum above, as many sums as additions below."""
    first, second = cycles(1), cycles(COUNT)
    bottom = _TOP + COUNT * _ROW
    shapes = [
        *_panel(f"one sum: {first} cycles", 1, _TOP),
        *_panel(f"{COUNT} sums: {second} cycles", COUNT, bottom + _GAP),
    ]
    return Figure(
        f"{COUNT} additions take {first} cycles in one sum and {second} in {COUNT}",
        f"Rows of additions over cycles, each {LATENCY} cycles long. In one sum each starts where "
        f"the one before ends, {first} cycles in all. In {COUNT} sums one starts in every cycle, "
        f"{second} in all.",
        f"An addition takes {LATENCY} cycles, and a new one may start in each. In one sum the next "
        "has to wait for the result; between sums nothing waits. A column is a cycle.",
        2 * bottom + _GAP - _TOP + 6,
        tuple(shapes),
        readings=(*_readings("one sum", 1), *_readings(f"{COUNT} sums", COUNT)),
    )
