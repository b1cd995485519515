"""A network of several planes: each card of a node has a fat tree of two levels of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, key, path, words
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.figures.shapes import EDGE, SHEET

PORTS, PLANES = 4, 2  # of the drawing
REAL_PORTS, REAL_PLANES = 64, 8  # of the table, as DeepSeek had them
End = tuple[str, int, int]  # a row, its plane, its number there
_LEFT, _TALL = 46.0, 18.0
# Heights of the rows of each plane; the nodes are between them.
_ROWS = {"spine": (8.0, 236.0), "leaf": (64.0, 180.0), "card": (124.0, 124.0)}
_TABLE = 304.0


class NetworkSize(NamedTuple):
    """What a network joins, with how many switches, and how many of them lie on a way."""

    name: str
    gpus: int
    switches: int
    passed: int


def links(ports: int = PORTS, planes: int = PLANES) -> list[tuple[End, End]]:
    """Each link as its upper and its lower end; a leaf has half of its ports down."""
    half = ports // 2
    found: list[tuple[End, End]] = []
    for plane in range(planes):
        for leaf in range(ports):
            found += [(("spine", plane, spine), ("leaf", plane, leaf)) for spine in range(half)]
            cards = range(leaf * half, (leaf + 1) * half)
            found += [(("leaf", plane, leaf), ("card", plane, card)) for card in cards]
    return found


def sizes(ports: int = REAL_PORTS, planes: int = REAL_PLANES) -> list[NetworkSize]:
    """One tree of two levels, as many planes of them, and one tree of three levels."""
    small = NetworkSize("2 levels, 1 plane", ports**2 // 2, 3 * ports // 2, 3)
    wide = NetworkSize(
        f"2 levels, {planes} planes", planes * small.gpus, planes * small.switches, 3
    )
    return [small, wide, NetworkSize("3 levels, 1 plane", ports**3 // 4, 5 * ports**2 // 4, 5)]


def figure() -> Figure:
    """One plane above the nodes, one below them, and the sizes of real ones as a table."""
    nodes = PORTS**2 // 2
    small, wide, tall = sizes()
    facts = "; ".join(
        f"{one.name}: {one.gpus:,} GPUs, {one.switches:,} switches, {one.passed} on the longest way"
        for one in sizes()
    )
    height = _TABLE + 16 + 18 * len(sizes())
    return Figure(
        f"Two levels of {REAL_PORTS}-port switches join {small.gpus:,} GPUs, in {REAL_PLANES} "
        f"planes {wide.gpus:,}",
        f"{nodes} nodes of {PLANES} GPUs, each with a card. The first card of every node is wired "
        f"to the tree above, the second to the tree below; no link joins the trees. With "
        f"{REAL_PORTS} ports: {facts}.",
        f"Drawn with switches of {PORTS} ports and {PLANES} planes. What has to change planes does "
        f"so inside a node, over NVLink. The table is for {REAL_PORTS} ports and counts "
        f"the switches between two GPUs of a plane at most. Three levels join {tall.gpus:,} GPUs, "
        f"with a switch for every {tall.gpus / tall.switches:.0f} of them instead of every "
        f"{wide.gpus / wide.switches:.0f}.",
        height,
        (*_planes(WIDTH), *_table((4.0, 250.0, 380.0, 500.0), WIDTH - 4)),
        narrow=Sheet(
            SHEET, height, (*_planes(SHEET), *_table((EDGE, 138.0, 200.0, 270.0), SHEET - EDGE))
        ),
        source="zhao2025insights",
        readings=tuple(
            FigureValue(size.name, name, count)
            for size in sizes()
            for name, count in zip(("GPUs", "switches", "between two"), size[1:], strict=True)
        ),
    )


def _planes(width: float) -> Iterator[str]:
    room = width - _LEFT - 4
    nodes = PORTS**2 // 2
    pitch = room / nodes
    count = {"spine": PORTS // 2, "leaf": PORTS, "card": nodes}
    wide = min(34.0, 0.36 * pitch)

    def at(end: End) -> Point:
        row, plane, number = end
        aside = (plane - 0.5) * (wide + 2) if row == "card" else 0.0
        return _LEFT + (number + 0.5) * room / count[row] + aside, _ROWS[row][plane]

    for upper, lower in links():
        (x0, y0), (x1, y1) = at(upper), at(lower)
        # the plane below the nodes stands on its head
        ends = ((x0, y0 + _TALL), (x1, y1)) if upper[1] == 0 else ((x0, y0), (x1, y1 + _TALL))
        yield path(ends, "fb-stroke" if upper[1] == 0 else "fb-dashed")
    for row, numbers in count.items():
        for plane in range(PLANES):
            for number in range(numbers):
                x, y = at((row, plane, number))
                side = wide if row == "card" else 40.0
                tip = f"{row} {number} of plane {plane}"
                yield box(x - side / 2, y, side, _TALL, f"fb-c{plane}", tip)
    for node in range(nodes):
        x = _LEFT + node * pitch + pitch / 2 - wide - 4
        yield box(x, _ROWS["card"][0] - 4, 2 * wide + 8, _TALL + 8, "fb-hollow", f"node {node}")
    for row in ("spine", "leaf"):
        for y in _ROWS[row]:
            yield words(_LEFT - 8, y + 13, row, "end", "fb-small")
    yield words(_LEFT - 8, _ROWS["card"][0] + 13, "nodes", "end", "fb-small")
    for plane in range(PLANES):
        yield from key(_LEFT + 90 * plane, 264, f"plane {plane}", f"fb-c{plane}")


def _table(columns: Sequence[float], end: float) -> Iterator[str]:
    heads = (f"{REAL_PORTS} ports", "GPUs", "switches", "between two")
    for x, head in zip(columns, heads, strict=True):
        yield words(x, _TABLE, head, "start", "fb-strong")
    yield path([(columns[0], _TABLE + 6), (end, _TABLE + 6)], "fb-grid")
    for number, size in enumerate(sizes()):
        for x, text in zip(columns, size, strict=True):
            shown = text if isinstance(text, str) else f"{text:,}"
            yield words(x, _TABLE + 22 + 18 * number, shown, "start")
