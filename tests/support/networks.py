"""Collectives run block by block on a network of links, with the bytes of each link counted.

Nothing here knows a closed form: data lies on chips, moves over links and is checked to arrive.
Chips are tuples of coordinates; a link is (from, axis, direction), so two links between the same
two chips stay apart.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

Chip = tuple[int, ...]
Link = tuple[Chip, int, int]


class Piece(NamedTuple):
    """Half of the part of an owner's share that takes one order of axes."""

    owner: Chip
    part: int
    half: int


class Message(NamedTuple):
    """Some pieces that cross a link in one step."""

    step: int
    source: Chip
    target: Chip
    link: Link
    pieces: frozenset[Piece]


class Torus(NamedTuple):
    """Axes of so many chips each; closed or open; with links in both directions or in one."""

    sides: tuple[int, ...]
    closed: bool = True
    both: bool = True

    def chips(self) -> list[Chip]:
        """All chips, by coordinates."""
        return list(itertools.product(*(range(side) for side in self.sides)))

    def next(self, chip: Chip, axis: int, direction: int) -> Chip | None:
        """The neighbour along an axis, if a link leads there."""
        place = chip[axis] + direction
        if not self.closed and not 0 <= place < self.sides[axis]:
            return None
        return (*chip[:axis], place % self.sides[axis], *chip[axis + 1 :])

    def directions(self) -> tuple[int, ...]:
        """Ways along an axis."""
        return (1, -1) if self.both else (1,)


def gather(torus: Torus) -> list[Message]:
    """An all-gather: part p of all shares goes along the axes p, p + 1, ... in turn.

    On every axis it goes both ways.
    """
    messages: list[Message] = []
    axes = range(len(torus.sides))
    for part in axes:
        held = {chip: {Piece(chip, part, half) for half in (0, 1)} for chip in torus.chips()}
        step = 0
        for axis in (*axes[part:], *axes[:part]):
            phase = list(_along(torus, axis, held, step))
            messages += phase
            step = max((message.step for message in phase), default=step)
    return messages


def _along(torus: Torus, axis: int, held: dict[Chip, set[Piece]], step: int) -> Iterator[Message]:
    """All chips pass on what came last along an axis, until its rings or lines share all pieces."""
    wave = {
        (chip, way): frozenset(pieces)
        for chip, pieces in held.items()
        for way in torus.directions()
    }
    while wave:
        step += 1
        landed: dict[tuple[Chip, int], frozenset[Piece]] = {}
        for (chip, way), pieces in wave.items():
            target = torus.next(chip, axis, way)
            if target is None:
                continue
            # What the opposite neighbour sends in the same step is shared by halves, one from
            # either side.
            opposite = torus.next(target, axis, way)
            meeting = pieces & (
                wave.get((opposite, -way), frozenset()) if opposite else frozenset()
            )
            own_half = way == 1
            missing = pieces - held[target]
            sent = frozenset(p for p in missing if p not in meeting or p.half == own_half)
            if sent:
                landed[target, way] = sent
                yield Message(step, chip, target, (chip, axis, way), sent)
        for (chip, _), pieces in landed.items():
            held[chip] |= pieces
        wave = landed


def check_gather(torus: Torus, messages: list[Message]) -> None:
    """Everybody sends only what it has, and ends with everything."""
    chips, parts = torus.chips(), range(len(torus.sides))
    held = {chip: {Piece(chip, part, half) for part in parts for half in (0, 1)} for chip in chips}
    for _, group in itertools.groupby(sorted(messages, key=lambda m: m.step), key=lambda m: m.step):
        step = list(group)
        assert all(message.pieces <= held[message.source] for message in step)
        assert not any(message.pieces & held[message.target] for message in step)
        for message in step:
            held[message.target] |= message.pieces
    assert all(len(pieces) == 2 * len(chips) * len(parts) for pieces in held.values())


def check_scatter(torus: Torus, messages: list[Message]) -> None:
    """The same messages backwards add up: each owner ends with the sum over all chips."""
    chips, parts = torus.chips(), range(len(torus.sides))
    pieces = [Piece(chip, part, half) for chip in chips for part in parts for half in (0, 1)]
    # Terms that differ from chip to chip, so that one added twice cannot stand for another.
    terms = {chip: dict.fromkeys(pieces, 1 + n * 1000) for n, chip in enumerate(chips)}
    total = sum(terms[chip][pieces[0]] for chip in chips)
    backwards = sorted(messages, key=lambda m: -m.step)
    for _, group in itertools.groupby(backwards, key=lambda m: m.step):
        moved = [(m, {piece: terms[m.target].pop(piece) for piece in m.pieces}) for m in group]
        for message, sums in moved:
            for piece, number in sums.items():
                terms[message.source][piece] += number
    for chip in chips:
        assert terms[chip] == dict.fromkeys((p for p in pieces if p.owner == chip), total)


def loads(
    messages: list[Message], bytes_: float, chips: int, weights: tuple[float, ...]
) -> dict[Link, float]:
    """Bytes on each link of a gather, when the parts of a share have these weights."""
    load: defaultdict[Link, float] = defaultdict(float)
    for message in messages:
        load[message.link] += sum(
            bytes_ / chips * weights[piece.part] / 2 for piece in message.pieces
        )
    return load


def exchange(torus: Torus, bytes_: float) -> tuple[dict[Link, float], int]:
    """An all-to-all, every block by its shortest ways: bytes on each link, and the longest way."""
    chips, axes = torus.chips(), range(len(torus.sides))
    load: defaultdict[Link, float] = defaultdict(float)
    longest = 0
    for source, target in itertools.product(chips, chips):
        routes = [*itertools.product(*(_ways(torus, axis, source, target) for axis in axes))]
        for route in routes:
            links = _links(torus, source, target, route)
            for link in links:
                load[link] += bytes_ / len(chips) ** 2 / len(routes)
            longest = max(longest, len(links))
    return load, longest


def _links(
    torus: Torus, source: Chip, target: Chip, route: tuple[tuple[int, int], ...]
) -> list[Link]:
    """The links of a route, which is a direction and a number of hops on each axis in turn."""
    links: list[Link] = []
    at = source
    for axis, (direction, hops) in enumerate(route):
        for _ in range(hops):
            links.append((at, axis, direction))
            neighbour = torus.next(at, axis, direction)
            assert neighbour is not None, "the route leaves an open line"
            at = neighbour
    assert at == target
    return links


def _ways(torus: Torus, axis: int, source: Chip, target: Chip) -> list[tuple[int, int]]:
    """The shortest ways along an axis as (direction, hops): two where both are equally long."""
    side, distance = torus.sides[axis], target[axis] - source[axis]
    if not torus.closed:
        return [(1 if distance > 0 else -1, abs(distance))]
    if not torus.both:
        return [(1, distance % side)]
    least = min(distance % side, -distance % side)
    return [(way, least) for way in (1, -1) if way * distance % side == least]


def two_levels(op: str, nodes: int, per_node: int, bytes_: float) -> tuple[float, float]:
    """Most bytes that a port carries one way, inside a node and between nodes."""
    chips = [*itertools.product(range(nodes), range(per_node))]
    inside: defaultdict[tuple[str, int, int], float] = defaultdict(float)
    outside: defaultdict[tuple[str, int, int], float] = defaultdict(float)
    for source, target, size in _sends(op, chips, bytes_ / len(chips)):
        load = inside if source[0] == target[0] else outside
        load["out", *source] += size
        load["in", *target] += size
    return max(inside.values(), default=0), max(outside.values(), default=0)


def _sends(
    op: str, chips: list[tuple[int, int]], share: float
) -> Iterator[tuple[tuple[int, int], tuple[int, int], float]]:
    """Who sends how much to whom.

    In a gather, what the rail has brought then goes round the node.
    """
    for source, target in itertools.permutations(chips, 2):
        if op == "all-to-all":
            yield source, target, share / len(chips)
        elif op == "permute":
            if chips.index(target) == (chips.index(source) + 1) % len(chips):
                yield source, target, share
        elif source[0] == target[0]:
            yield source, target, share * len({node for node, _ in chips})
        elif source[1] == target[1]:
            yield source, target, share
