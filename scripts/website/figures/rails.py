"""Nodes wired to rails: GPU i of every node meets in switch i, and how a message changes rails."""

from __future__ import annotations

import math
from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, Sheet, arrow, box, labelled, path, words
from scripts.website.figures.plotted import Point

RAILS = 4  # of the eight that a node of eight GPUs with eight cards has
_GPU, _PITCH = 26.0, 34.0
_SWITCHES, _NODES = 74.0, 190.0  # heights of the two rows
_ASIDE = 7.0  # from a line to the arrow that goes along it
_LINES = ("fb-line0", "fb-line1", "fb-line2", "fb-line3")


def hops(source: tuple[int, int], target: tuple[int, int]) -> list[str]:
    """The way of a message between two GPUs, each given as node and rail."""
    (from_node, from_rail), (to_node, to_rail) = source, target
    if from_node == to_node:
        return [] if source == target else ["NVLink"]
    way = [f"rail {from_rail}"]
    return way if from_rail == to_rail else [*way, "NVLink"]


def figure() -> Figure:
    """Three nodes below their rail switches; two on a narrow screen."""
    way = ", then ".join(hops((0, 0), (2, 3)))
    return Figure(
        "On rails, GPUs of the same number are one switch apart",
        f"{RAILS} rail switches above nodes of which {RAILS} GPUs are drawn. GPU i of each node is "
        f"wired to switch i. Spine switches join the rails. A message from GPU 0 of the first node "
        f"to GPU {RAILS - 1} of the last goes over {way}.",
        "Each GPU has a card of its own, and card i of every node ends in switch i. A reduction "
        "among GPUs of the same number stays on its rail. The arrows show a token that has to "
        "change rails: up to its own rail, down to the right node, and there over NVLink. Only "
        "traffic that changes rails outside a node needs the spine.",
        264,
        tuple(_wiring(3, 640.0)),
        narrow=Sheet(344, 264, tuple(_wiring(2, 344.0))),
    )


def _wiring(nodes: int, width: float) -> Iterator[str]:
    pitch = width / nodes
    switch = width / RAILS
    yield labelled((8, 8, width - 16, 24), "spine switches", "hollow")
    for rail in range(RAILS):
        middle = (rail + 0.5) * switch
        yield path([(middle, 32), (middle, _SWITCHES)], "fb-dashed")
        for node in range(nodes):
            x, _ = _gpu(node, rail, pitch)
            yield path([(middle, _SWITCHES + 24), (x, _NODES)], _LINES[rail])
        yield labelled((middle - 36, _SWITCHES, 72, 24), f"rail {rail}", "c5")
    for node in range(nodes):
        yield from _node(node, pitch)
    (x, y), (end, _) = (_gpu(nodes - 1, rail, pitch) for rail in (0, RAILS - 1))
    yield arrow((x, y + _GPU + 11), (end, y + _GPU + 11))
    yield arrow((_gpu(0, 0, pitch)[0] - 10, _NODES - 4), (0.5 * switch - 30, _SWITCHES + 28))
    yield arrow(*_beside((0.5 * switch, _SWITCHES + 24), (x, y)))


def _beside(start: Point, end: Point) -> tuple[Point, Point]:
    """Most of a line from the left above to the right below, moved a little up and right."""
    (left, top), (right, bottom) = start, end
    length = math.hypot(right - left, bottom - top)
    aside = (_ASIDE * (bottom - top) / length, -_ASIDE * (right - left) / length)
    first, last = (
        (left + share * (right - left) + aside[0], top + share * (bottom - top) + aside[1])
        for share in (0.14, 0.94)
    )
    return first, last


def _node(node: int, pitch: float) -> Iterator[str]:
    left = node * pitch + (pitch - RAILS * _PITCH) / 2 - 6
    yield box(left, _NODES - 6, RAILS * _PITCH + 8, 58, "fb-hollow", f"node {node}")
    for rail in range(RAILS):
        x, y = _gpu(node, rail, pitch)
        yield labelled((x - _GPU / 2, y, _GPU, _GPU), str(rail), "c0")
    yield words(left + RAILS * _PITCH / 2 + 4, _NODES + 48, "NVLink", kind="fb-small")
    yield words(left + RAILS * _PITCH / 2 + 4, _NODES + 68, f"node {node}")


def _gpu(node: int, rail: int, pitch: float) -> tuple[float, float]:
    """The middle of the upper edge of a GPU."""
    left = node * pitch + (pitch - RAILS * _PITCH) / 2
    return left + (rail + 0.5) * _PITCH - 2, _NODES
