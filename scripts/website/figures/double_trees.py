"""The two binary trees of NCCL over the same ranks beside the ring: who adds, in how many steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, pi, sin

from scripts.website.figures.drawing import WIDTH, Figure, Sheet, arrow, box, path, words
from scripts.website.figures.plotted import Point
from scripts.website.figures.shapes import SHEET

RANKS = 8
Parents = tuple[int, ...]  # of each rank the one above it, -1 of the root
_SIDE, _LEVEL, _HEAD, _FOOT = 20.0, 44.0, 52.0, 44.0  # of a rank, a level, and words around a tree
_TREES = ("first half of the array", "second half of the array")


def tree(ranks: int) -> Parents:
    """The first tree, with rank 0 as its root.

    The lowest bit of a rank says its level. The rank above has the next bit instead; where there
    is no such rank it has neither.
    """
    above = [-1]
    for rank in range(1, ranks):
        bit = rank & -rank
        upper = (rank ^ bit) | (bit << 1)
        above.append(upper if upper < ranks else rank ^ bit)
    return tuple(above)


def trees(ranks: int) -> tuple[Parents, Parents]:
    """Both trees: the second is the first with its ranks in mirror order, or one further if odd."""
    first = tree(ranks)
    if ranks % 2:
        moved = [(above + 1) % ranks if above >= 0 else -1 for above in first]
        return first, (moved[-1], *moved[:-1])
    return first, tuple(ranks - 1 - above if above >= 0 else -1 for above in reversed(first))


def level(parents: Parents, rank: int) -> int:
    """How many ranks stand over this one."""
    above = parents[rank]
    return 0 if above < 0 else 1 + level(parents, above)


def inner(parents: Parents) -> set[int]:
    """The ranks with others below them: they add, the leaves do not."""
    return {above for above in parents if above >= 0}


def steps(ranks: int) -> int:
    """Steps of an all-reduce over both trees, which run at once: as many down as up."""
    return 2 * max(level(parents, rank) for parents in trees(ranks) for rank in range(ranks))


def sent(ranks: int, rank: int) -> float:
    """Arrays that leave the port of a rank: of each half one up, and one down to each below."""
    found = 0.0
    for parents in trees(ranks):
        found += ((parents[rank] >= 0) + parents.count(rank)) / 2
    return found


def ring_steps(ranks: int) -> int:
    """Steps of an all-reduce over a ring: a reduce-scatter, then an all-gather."""
    return 2 * (ranks - 1)


def figure() -> Figure:
    """Both trees and the ring; a filled rank adds what arrives, a hollow one is a leaf."""
    both = trees(RANKS)
    most = max(sent(RANKS, rank) for rank in range(RANKS))
    told = "; ".join(
        f"tree of the {name}: {_told(one)}" for name, one in zip(_TREES, both, strict=True)
    )
    tall = _HEAD + _LEVEL * steps(RANKS) / 2 + _SIDE + _FOOT
    return Figure(
        f"Over {RANKS} ranks two trees sum in {steps(RANKS)} steps, a ring in {ring_steps(RANKS)}, "
        "and each rank adds in one tree only",
        f"{told}. Each takes {steps(RANKS) // 2} steps up and as many down, and at most {most:g} "
        f"arrays leave a port. Ring: {ring_steps(RANKS)} steps, {_ring_sent():g} arrays.",
        "Numbers are ranks, in NCCL one for each node. A filled rank adds what the ranks below it "
        "send and later passes the sum down to them. Of two step numbers one is on the way up, the "
        "other on the way down. Both trees run at once, each with half of the array V, and the "
        "second is the mirror image of the first.",
        tall + 24,
        tuple(_wide(both, most, tall)),
        narrow=Sheet(SHEET, 3 * tall + 24, tuple(_phone(both, most, tall))),
        source="nvidia2026nccl",
    )


def _told(parents: Parents) -> str:
    """A tree in words: who stands over whom."""
    found = []
    for rank in sorted(inner(parents), key=lambda one: level(parents, one)):
        below = " and ".join(str(one) for one, above in enumerate(parents) if above == rank)
        found.append(f"{rank} over {below}")
    return ", ".join(found)


def _ring_sent() -> float:
    return ring_steps(RANKS) / RANKS


def _wide(both: Sequence[Parents], most: float, tall: float) -> Iterator[str]:
    yield from _tree(both[0], _TREES[0], (72, 0), 196)
    yield from _steps_beside(64)
    yield from _tree(both[1], _TREES[1], (284, 0), 196)
    yield from _under_trees((72 + 480) / 2, tall, most)
    yield from _ring((500 + WIDTH) / 2, 0, tall)
    yield from _legend(72, tall + 6)


def _phone(both: Sequence[Parents], most: float, tall: float) -> Iterator[str]:
    for number, parents in enumerate(both):
        yield from _tree(parents, _TREES[number], (80, number * (tall - 16)), 240)
        yield from _steps_beside(72, number * (tall - 16))
    yield from _under_trees(SHEET / 2, 2 * tall - 16, most)
    yield from _ring(SHEET / 2, 2 * tall - 4, tall)
    yield from _legend(20, 3 * tall + 6)


def _tree(parents: Parents, name: str, corner: Point, width: float) -> Iterator[str]:
    """A rank stands at the same place from left to right in both trees, at its level from above."""
    left, top = corner
    adds, gap = inner(parents), (width - _SIDE) / (len(parents) - 1)

    def at(rank: int) -> Point:
        return left + _SIDE / 2 + rank * gap, top + _HEAD + level(parents, rank) * _LEVEL

    yield words(left + width / 2, top + 16, name, kind="fb-strong")
    for rank, above in enumerate(parents):
        if above >= 0:
            yield path([_edge(at(rank), at(above)), _edge(at(above), at(rank))])
    for rank in range(len(parents)):
        yield from _rank(at(rank), rank, rank in adds)


def _edge(place: Point, other: Point) -> Point:
    """Where the line from a rank to another leaves its box."""
    across, down = other[0] - place[0], other[1] - place[1]
    share = _SIDE / 2 / max(abs(across), abs(down))
    return place[0] + share * across, place[1] + share * down


def _rank(place: Point, rank: int, adds: bool) -> Iterator[str]:
    x, y = place[0] - _SIDE / 2, place[1] - _SIDE / 2
    tip = f"rank {rank} {'adds' if adds else 'is a leaf'}"
    yield box(x, y, _SIDE, _SIDE, "fb-c0" if adds else "fb-hollow", tip)
    yield words(place[0], place[1] + 4, str(rank), kind="fb-on0" if adds else "")


def _steps_beside(x: float, top: float = 0.0) -> Iterator[str]:
    """Which steps pass between two levels: one on the way up, one on the way down."""
    last = steps(RANKS)
    for number in range(last // 2):
        foot = top + _HEAD + (number + 0.5) * _LEVEL + 4
        yield words(
            x, foot, f"step {last // 2 - number}, {last // 2 + 1 + number}", "end", "fb-small"
        )


def _under_trees(x: float, foot: float, most: float) -> Iterator[str]:
    half = steps(RANKS) // 2
    yield words(x, foot - 26, f"{half} steps up, {half} down: {2 * half}", kind="fb-strong")
    yield words(x, foot - 11, f"at most {most:g} V out of a port", kind="fb-small")


def _ring(x: float, top: float, tall: float) -> Iterator[str]:
    half, wide = RANKS - 1, 58.0
    y = top + _HEAD - _SIDE / 2 + wide + 12

    def at(rank: float) -> Point:
        turn = 2 * pi * rank / RANKS - pi / 2
        return x + wide * cos(turn), y + wide * sin(turn)

    yield words(x, top + 16, f"ring, in {RANKS} blocks", kind="fb-strong")
    for rank in range(RANKS):
        yield arrow(at(rank + 0.32), at(rank + 0.68))
        yield from _rank(at(rank), rank, adds=True)
    foot = top + tall
    yield words(x, foot - 26, f"{half} steps, {half} again: {2 * half}", kind="fb-strong")
    yield words(x, foot - 11, f"{_ring_sent():g} V out of a port", kind="fb-small")


def _legend(x: float, y: float) -> Iterator[str]:
    yield box(x, y, 12, 12, "fb-c0")
    yield words(x + 17, y + 10, "adds and passes on", "start")
    yield box(x + 150, y, 12, 12, "fb-hollow")
    yield words(x + 167, y + 10, "a leaf: adds nothing", "start")
