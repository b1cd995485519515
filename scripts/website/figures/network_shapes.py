"""Three ways to join sixteen chips: a mesh, a torus, and a switch; with hops and links counted."""

from __future__ import annotations

from collections import deque

from scripts.website.figures.drawing import Figure, box, dot, path, words

SIDE = 4
CHIPS = SIDE * SIDE
Links = set[tuple[int, int]]


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
    left = {chip for chip in range(CHIPS) if chip % SIDE < SIDE // 2}
    return sum((a in left) != (b in left) for a, b in links)


def figure() -> Figure:
    """The three side by side."""
    made = (("mesh", mesh(False)), ("torus", mesh(True)), ("switch", switch()))
    shapes, facts = [], []
    for number, (name, links) in enumerate(made):
        left = 30 + number * 210
        counts = f"{furthest(links)} hops at most, {across(links)} links across the middle"
        shapes += [words(left + 75, 16, name, kind="fb-strong"), *_drawn(left, name, links)]
        shapes.append(words(left + 75, 232, f"{furthest(links)} hops at most", kind="fb-small"))
        shapes.append(
            words(left + 75, 248, f"{across(links)} links across the middle", kind="fb-small")
        )
        facts.append(f"{name}: {counts}")
    return Figure(
        "Mesh, torus and switch",
        f"{CHIPS} chips, joined in three ways. {'; '.join(facts)}.",
        "Dashed links close the rows and columns of the torus; each goes from one edge to the "
        "other. The switch is one hop from everybody, so any two chips are two hops apart, but "
        "somebody has to build it.",
        256,
        tuple(shapes),
    )


def _drawn(left: float, name: str, links: Links) -> list[str]:
    if name == "switch":
        return _star(left)
    places = [(left + 21 + 36 * (chip % SIDE), 62 + 36 * (chip // SIDE)) for chip in range(CHIPS)]
    shapes = []
    for a, b in sorted(links):
        (x0, y0), (x1, y1) = places[a], places[b]
        if abs(x1 - x0) + abs(y1 - y0) < 40:
            shapes.append(path([places[a], places[b]]))
        elif y0 == y1:
            shapes += [
                path([(left, y0), (left + 21, y0)], "fb-dashed"),
                path([(x0, y0), (x0 + 21, y0)], "fb-dashed"),
            ]
        else:
            shapes += [
                path([(x0, 41), (x0, 62)], "fb-dashed"),
                path([(x0, y0), (x0, y0 + 21)], "fb-dashed"),
            ]
    return [*shapes, *(dot(x, y, "fb-c0", f"chip {n}", 8) for n, (x, y) in enumerate(places))]


def _star(left: float) -> list[str]:
    shapes = []
    for chip in range(CHIPS):
        x, y = left + 12 + 18 * (chip % 8), 62 if chip < 8 else 182
        shapes += [path([(x, y), (left + 75, 122)]), dot(x, y, "fb-c0", f"chip {chip}", 7)]
    return [
        *shapes,
        box(left + 45, 106, 60, 32, "fb-c4"),
        words(left + 75, 127, "switch", kind="fb-on4"),
    ]
