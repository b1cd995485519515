"""A small dragonfly: groups of switches, a cable between any two, and the longest way through."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import combinations
from math import cos, pi, sin
from typing import NamedTuple

from scripts.website.figures.drawing import Figure, Sheet, box, dot, path, words
from scripts.website.figures.plotted import Point


class DragonflyRing(NamedTuple):
    """The ring on which groups stand, in pixels: its middle, and how far they are from it."""

    middle: Point
    reach: Point


# A switch is (group, number), a host (group, number of its switch, number at it).
Node = tuple[int, ...]
HOSTS, SWITCHES, CABLES = 2, 2, 2  # of a switch, of a group, of a switch to other groups
_RING = DragonflyRing((320.0, 166.0), (225.0, 112.0))
_PHONE = DragonflyRing((172.0, 236.0), (114.0, 178.0))
_SWITCH, _WIDE, _HIGH = 25.0, 104.0, 62.0  # from the middle of a group to a switch; of a group


def links(hosts: int, switches: int, cables: int) -> list[tuple[Node, Node]]:
    """All links: to hosts, inside groups and between any two groups, of which there are most."""
    groups = switches * cables + 1
    found: list[tuple[Node, Node]] = []
    for group in range(groups):
        found += [((group, a), (group, b)) for a, b in combinations(range(switches), 2)]
        found += [((group, a), (group, a, b)) for a in range(switches) for b in range(hosts)]
    for one, other in combinations(range(groups), 2):
        # Cable number n of a group leads to the n-th group after it.
        ahead, back = other - one - 1, groups - (other - one) - 1
        found.append(((one, ahead // cables), (other, back // cables)))
    return found


def longest(joined: list[tuple[Node, Node]], start: Node) -> list[Node]:
    """The shortest way from a node to the one that is furthest away."""
    beside: dict[Node, list[Node]] = {}
    for one, other in joined:
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    before, waiting, here = {start: start}, deque([start]), start
    while waiting:
        here = waiting.popleft()
        for node in beside[here]:
            if node not in before:
                before[node] = here
                waiting.append(node)
    way = [here]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


def figure() -> Figure:
    """The groups in a ring, with one way from host to host."""
    joined = links(HOSTS, SWITCHES, CABLES)
    groups = SWITCHES * CABLES + 1
    way = longest(joined, (0, 1, 1))
    hops = len(way) - 1
    count = groups * SWITCHES * HOSTS
    return Figure(
        f"Any two hosts of a dragonfly are at most {hops} hops apart, over one long cable",
        f"{groups} groups in a ring, each of {SWITCHES} switches with {HOSTS} hosts at each, "
        f"{count} hosts in all. Between any two groups there is one cable. One way of {hops} hops "
        "is marked: to a switch, across the group, over the cable, across the other group, to the "
        "host.",
        f"A dragonfly far smaller than that of the text. Each of {groups} groups has {SWITCHES} "
        f"switches, and each switch {HOSTS} hosts and {CABLES} long cables. No path is longer "
        "than the marked one, which takes the only cable between its two groups.",
        318,
        tuple(_drawn(joined, way, _RING)),
        narrow=Sheet(344, 440, tuple(_drawn(joined, way, _PHONE))),
    )


def _drawn(joined: list[tuple[Node, Node]], way: list[Node], ring: DragonflyRing) -> Iterator[str]:
    """All links, the way on top of them, and the groups."""
    for one, other in joined:
        yield path([_place(one, ring), _place(other, ring)])
    yield path([_place(node, ring) for node in way], "fb-line0")
    for group in range(SWITCHES * CABLES + 1):
        yield from _group(group, ring)


def _place(node: Node, ring: DragonflyRing) -> Point:
    """Where a switch or a host stands."""
    angle = 2 * pi * node[0] / (SWITCHES * CABLES + 1) - pi / 2
    x = ring.middle[0] + ring.reach[0] * cos(angle)
    y = ring.middle[1] + ring.reach[1] * sin(angle)
    x += _SWITCH * (2 * node[1] - 1)
    if len(node) == 2:
        return x, y - 8
    return x + 11 * (2 * node[2] - 1), y + 20


def _group(number: int, ring: DragonflyRing) -> Iterator[str]:
    """The box of a group with its switches and hosts."""
    (left, y), (right, _) = _place((number, 0), ring), _place((number, SWITCHES - 1), ring)
    middle = (left + right) / 2
    top = y - _HIGH / 2 + 8
    yield box(middle - _WIDE / 2, top, _WIDE, _HIGH, "fb-hollow")
    # Below the box no cable passes but at the top, where none passes above it.
    is_top = y < ring.middle[1] - ring.reach[1] / 2
    beyond = top - 5 if is_top else top + _HIGH + 14
    yield words(middle, beyond, f"group {number}", kind="fb-small")
    for switch in range(SWITCHES):
        x, y = _place((number, switch), ring)
        yield box(x - 10, y - 7, 20, 14, "fb-c5", f"switch {switch} of group {number}")
        for host in range(HOSTS):
            yield dot(
                *_place((number, switch, host), ring), "fb-c0", f"host {host} of switch {switch}"
            )
