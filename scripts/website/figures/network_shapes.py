"""Three ways to join sixteen chips: a mesh, a torus, and a switch; with hops and links counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, box, dot, path, words
from scripts.website.figures.plotted import FigureValue

SIDE = 4
CHIPS = SIDE * SIDE
Links = set[tuple[int, int]]
_TOP, _GAP, _STUB = 41, 36, 21  # pixels: first row, chip to chip, end of a link that goes around


def mesh(closed: bool) -> Links:
    """Links of a square of chips; `closed` joins the ends of each row and column."""
    links: Links = set()
    for row in range(SIDE):
        for column in range(SIDE):
            if closed or column + 1 < SIDE:
                links.add((row * SIDE + column, row * SIDE + (column + 1) % SIDE))
            if closed or row + 1 < SIDE:
                links.add((row * SIDE + column, (row + 1) % SIDE * SIDE + column))
    return links


def switch() -> Links:
    """Each chip has one link to the switch, which is number 16."""
    return {(chip, CHIPS) for chip in range(CHIPS)}


def furthest(links: Links) -> int:
    """Most hops between two chips."""
    return max(_hops(links, chip) for chip in range(CHIPS))


def _hops(links: Links, start: int) -> int:
    """Most hops from one chip to another, by a search in breadth."""
    neighbours: dict[int, list[int]] = {}
    for a, b in links:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    distance, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for neighbour in neighbours[node]:
            if neighbour not in distance:
                distance[neighbour] = distance[node] + 1
                waiting.append(neighbour)
    return max(hops for node, hops in distance.items() if node < CHIPS)


def across(links: Links) -> int:
    """Links between the left half and the right half; at a switch, the ports of one half."""
    half = {chip for chip in range(CHIPS) if chip % SIDE < SIDE // 2}
    return sum((a in half) != (b in half) for a, b in links)


def figure() -> Figure:
    """The three side by side."""
    networks = (("mesh", mesh(False)), ("torus", mesh(True)), ("switch", switch()))
    shapes: list[str] = []
    facts = []
    for number, (name, links) in enumerate(networks):
        left = 30 + number * 210
        middle = left + 75
        most_hops = f"{furthest(links)} hops at most"
        cut = f"{across(links)} links across the middle"
        shapes.append(words(middle, 16, name, kind="fb-strong"))
        shapes += _star(left) if name == "switch" else _square(left, links)
        shapes.append(words(middle, 232, most_hops, kind="fb-small"))
        shapes.append(words(middle, 248, cut, kind="fb-small"))
        facts.append(f"{name}: {most_hops}, {cut}")
    return Figure(
        f"Of {CHIPS} chips the furthest are {furthest(mesh(False))} hops apart on a mesh, "
        f"{furthest(mesh(True))} on a torus, {furthest(switch())} at a switch",
        f"{CHIPS} chips, joined in three ways. {'; '.join(facts)}.",
        "Dashed links close the rows and columns of the torus; each goes from one edge to the "
        "other. The switch is one hop from each chip, so any two chips are two hops apart, but "
        "the switch has to be bought and powered.",
        256,
        tuple(shapes),
        readings=tuple(
            value
            for name, links in networks
            for value in (
                FigureValue(name, "hops at most", furthest(links)),
                FigureValue(name, "links across the middle", across(links)),
            )
        ),
    )


def _square(left: float, links: Links) -> Iterator[str]:
    """Chips in rows and columns; a link around the edge is drawn as two dashed ends."""
    columns = [left + _STUB + _GAP * column for column in range(SIDE)]
    rows = [_TOP + _STUB + _GAP * row for row in range(SIDE)]
    places = [(x, y) for y in rows for x in columns]
    for a, b in sorted(links):
        (x0, y0), (x1, y1) = places[a], places[b]
        is_neighbour = abs(x1 - x0) + abs(y1 - y0) <= _GAP
        if is_neighbour:
            yield path([places[a], places[b]])
        elif y0 == y1:
            yield path([(left, y0), (left + _STUB, y0)], "fb-dashed")
            yield path([(x0, y0), (x0 + _STUB, y0)], "fb-dashed")
        else:
            yield path([(x0, _TOP), (x0, _TOP + _STUB)], "fb-dashed")
            yield path([(x0, y0), (x0, y0 + _STUB)], "fb-dashed")
    for chip, (x, y) in enumerate(places):
        yield dot(x, y, "fb-c0", f"chip {chip}", 8)


def _star(left: float) -> Iterator[str]:
    """Half of the chips above the switch, half below."""
    for chip in range(CHIPS):
        x = left + 12 + 18 * (chip % 8)
        y = 62 if chip < 8 else 182
        yield path([(x, y), (left + 75, 122)])
        yield dot(x, y, "fb-c0", f"chip {chip}", 7)
    yield box(left + 45, 106, 60, 32, "fb-c4")
    yield words(left + 75, 127, "switch", kind="fb-on4")
