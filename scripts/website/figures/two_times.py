"""Arithmetic and transfer of one piece of work: in turn, in tiles, and fully overlapped."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.errors import FlopbookError
from scripts.website.figures.drawing import WIDTH, Figure, labelled, path, words
from scripts.website.figures.plotted import FigureValue

LEFT, RIGHT, TOP, LANE, GAP = 132.0, 16.0, 10.0, 22.0, 26.0


class Interval(NamedTuple):
    """Time on a lane: 0 is the bus, 1 the arithmetic."""

    lane: int
    start: float
    end: float


def schedule(compute: float, memory: float, tiles: int) -> list[Interval]:
    """Each tile is fetched, then computed while the next is fetched; one tile is no overlap."""
    bars, wire, core = [], 0.0, 0.0
    for _ in range(tiles):
        bars.append(Interval(0, wire, wire + memory / tiles))
        wire += memory / tiles
        start = max(wire, core)
        core = start + compute / tiles
        bars.append(Interval(1, start, core))
    return bars


def total(bars: list[Interval]) -> float:
    """When the last bar ends."""
    return max(bar.end for bar in bars)


def figure(
    compute: float = 3.0, memory: float = 5.0, tiles: tuple[int, ...] = (1, 4, 32)
) -> Figure:
    """The same work in so many tiles, with lines at the larger time and at the sum.

    Raises FlopbookError for times that are not above zero or a number of tiles that cannot be seen.
    """
    if min(compute, memory) <= 0 or not all(1 <= n <= 64 for n in tiles):
        raise FlopbookError("times above zero and 1 to 64 tiles are drawn")
    scale = (WIDTH - LEFT - RIGHT) / (compute + memory)
    shapes: list[str] = []
    facts = []
    top = TOP + 16
    foot = top + len(tiles) * (2 * LANE + GAP) - GAP + 6
    for time, name in ((max(compute, memory), "the larger"), (compute + memory, "the sum")):
        x = LEFT + time * scale
        anchor = "end" if time > memory else "middle"
        shapes.append(path([(x, TOP + 6), (x, foot)], "fb-dashed"))
        shapes.append(words(x, TOP, name, anchor))
    for count in tiles:
        bars = schedule(compute, memory, count)
        # one tile is no overlap, and its two bars are long enough for words
        name, labels = f"in {count} tiles", ("", "")
        if count == 1:
            name, labels = "one after the other", ("bytes", "FLOP")
        shapes.append(words(LEFT - 10, top + LANE + 4, name, "end", "fb-strong"))
        for lane, start, stop in bars:
            place = (LEFT + start * scale, top + lane * LANE, (stop - start) * scale, LANE - 3)
            shapes.append(labelled(place, labels[lane], ("c1", "c0")[lane]))
        facts.append(f"{name}: {total(bars):.3g}")
        top += 2 * LANE + GAP
    return Figure(
        f"In {tiles[-1]} tiles the shorter of the two times hides behind the longer",
        f"Moving the bytes takes {memory:g} units of time and computing {compute:g}. "
        f"{'; '.join(facts)}. The larger of the two is {max(compute, memory):g}, the sum "
        f"{compute + memory:g}.",
        "Upper bars of each pair: the bus. Lower bars: the arithmetic. The next tile loads while "
        "this one is multiplied, so the total falls from the sum towards the larger time, and "
        "never below it.",
        foot + 8,
        tuple(shapes),
        readings=tuple(
            FigureValue(
                f"tiles: {count}, {('bytes', 'arithmetic')[bar.lane]}",
                f"tile {number // 2 + 1}",
                bar.end - bar.start,
                start=bar.start,
            )
            for count in tiles
            for number, bar in enumerate(schedule(compute, memory, count))
        ),
    )
