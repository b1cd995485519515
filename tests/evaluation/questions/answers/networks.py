"""Collectives, message by message over links.

Patarasuk and Yuan 2009 for rings, the README of NCCL tests for bus bandwidth; all-to-all takes the
shorter way round and splits where both ways are as long.
"""

from __future__ import annotations

import math

STEPS = {"all-gather": 1, "reduce-scatter": 1, "all-reduce": 2}


def ring_load(op: str, chips: int, size: float, both_ways: bool = True) -> float:
    """Bytes on the busiest link of a closed ring, one way."""
    ways = 2 if both_ways else 1
    if op in STEPS:
        return STEPS[op] * size * (chips - 1) / chips / ways
    if op == "permute":
        return size / chips / ways
    return _exchanged(chips, size / chips**2, both_ways)


def _exchanged(chips: int, message: float, both_ways: bool) -> float:
    """All-to-all: every message put on every link of its way."""
    up, down = [0.0] * chips, [0.0] * chips
    for start in range(chips):
        for hops in range(1, chips):
            back = chips - hops
            share_up = 1.0
            if both_ways:
                share_up = 0.5 if hops == back else float(hops < back)
            for step in range(hops):
                up[(start + step) % chips] += message * share_up
            for step in range(back):
                down[(start - step) % chips] += message * (1 - share_up)
    return max(max(up), max(down))


def switch_load(op: str, chips: int, size: float) -> float:
    """Bytes that a port sends, with rings of all chips (no sums in the switch)."""
    if op in STEPS:
        return STEPS[op] * size * (chips - 1) / chips
    if op == "permute":
        return size / chips
    return size / chips * (chips - 1) / chips


def bus_bandwidth(op: str, chips: int, size: float, seconds: float) -> float:
    """As NCCL tests print it: all-reduce 2 (n - 1) / n x size / time, the others (n - 1) / n.

    Their size of an all-to-all is what one rank sends.
    """
    of_rank = size if op in STEPS else size / chips
    return STEPS.get(op, 1) * (chips - 1) / chips * of_rank / seconds


def two_level(op: str, nodes: int, inside: int, size: float, fast: float, slow: float) -> float:
    """Seconds: inside each node, and the same shard across nodes, both under way at once.

    Chunks follow each other through the levels, so that the slower one counts (Austin et al. 2025).
    """
    within = STEPS[op] * size * (inside - 1) / inside / fast
    across = STEPS[op] * size / inside * (nodes - 1) / nodes / slow
    return max(within, across)


def torus(op: str, sides: tuple[int, ...], size: float, link: float) -> float:
    """Seconds with the data cut over the axes: all links of all axes at work, both ways."""
    chips = math.prod(sides)
    return STEPS[op] * size * (chips - 1) / chips / (2 * len(sides) * link)
