"""Which query and KV heads a rank holds under TP, below and above the number of KV heads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scripts.website.figures.drawing import WIDTH, Figure, labelled, words

QUERIES, KEYS = 8, 4  # heads
DEGREES = (2, 4, 8)
_COLOURS = ("c0", "c1", "c2", "c3")  # of a KV head and of the queries that read it
_LEFT, _TOP, _ROW, _GAP = 96.0, 30.0, 28.0, 44.0


class RankHeads(NamedTuple):
    """The heads of a rank, by their numbers from 0."""

    queries: list[int]
    keys: list[int]


def shared(degree: int) -> list[RankHeads]:
    """Queries in turn; a rank has the KV heads that its queries read, copied where they are few."""
    each = QUERIES // degree
    ranks = []
    for rank in range(degree):
        queries = list(range(rank * each, (rank + 1) * each))
        ranks.append(RankHeads(queries, sorted({_read(query) for query in queries})))
    return ranks


def copies(degree: int) -> float:
    """On how many ranks a KV head lies."""
    return sum(len(rank.keys) for rank in shared(degree)) / KEYS


def _read(query: int) -> int:
    """The KV head that a query head reads."""
    return query * KEYS // QUERIES


def _panel(degree: int, top: float) -> Iterator[str]:
    """A column for each rank, its query heads over its KV heads."""
    said = "each KV head on one rank" if copies(degree) == 1 else "each KV head on two ranks"
    yield words(_LEFT, top - 10, f"TP {degree}: {said}", "start", "fb-strong")
    yield words(_LEFT - 8, top + 17, "queries", "end")
    yield words(_LEFT - 8, top + _ROW + 17, "keys, values", "end")
    column = (WIDTH - _LEFT - 8) / degree
    for number, rank in enumerate(shared(degree)):
        left, wide = _LEFT + number * column, column - 8
        for place, query in enumerate(rank.queries):
            width = wide / len(rank.queries)
            spot = (left + place * width, top, width - 2, _ROW - 4)
            yield labelled(spot, f"Q{query}", _COLOURS[_read(query)])
        for place, key in enumerate(rank.keys):
            width = wide / len(rank.keys)
            spot = (left + place * width, top + _ROW, width - 2, _ROW - 4)
            yield labelled(spot, f"KV{key}", _COLOURS[key])
        yield words(left + wide / 2, top + 2 * _ROW + 12, f"rank {number}", kind="fb-small")


def figure() -> Figure:
    """A panel for each degree, the last one above the number of KV heads."""
    height = 2 * _ROW + _GAP
    shapes = [
        shape
        for place, degree in enumerate(DEGREES)
        for shape in _panel(degree, _TOP + place * height)
    ]
    last = DEGREES[-1]
    facts = "; ".join(
        f"TP {degree}: {QUERIES // degree} query heads and {len(shared(degree)[0].keys)} KV heads "
        "on a rank"
        for degree in DEGREES
    )
    return Figure(
        f"Up to the number of KV heads TP divides them; at TP {last} each of {KEYS} lies on "
        f"{copies(last):.0f} ranks",
        f"Heads of each rank at three degrees. {facts}.",
        f"{QUERIES} query heads, of which two share a KV head (equal colours). Attention of a head "
        "needs no other rank. Above the number of KV heads copies take memory, and their gradients "
        "have to be added up.",
        _TOP + len(DEGREES) * height - 16,
        tuple(shapes),
    )
