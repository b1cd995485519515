"""What the last collectives of all ranks look like in three kinds of hang."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scripts.website.figures.drawing import Figure, labelled, words

GATHER, SCATTER, REDUCE = "gather", "scatter", "reduce"
_LEFT, _WIDE, _CELL, _LANE, _HEAD, _GAP = 20.0, 196.0, 58.0, 27.0, 62.0, 10.0
_FIRST = 41  # number of the first collective that is drawn


class Hang(NamedTuple):
    """A kind of hang: the collectives that each rank has entered, and whom to suspect."""

    name: str
    suspect: str
    entered: tuple[tuple[str, ...], ...]


HANGS = (
    Hang(
        "one is outside",
        "suspect: rank 3",
        ((GATHER, SCATTER), (GATHER, SCATTER), (GATHER, SCATTER), (GATHER,)),
    ),
    Hang(
        "two disagree",
        "suspect: the branch of rank 2",
        ((GATHER, SCATTER), (GATHER, SCATTER), (GATHER, REDUCE), (GATHER, SCATTER)),
    ),
    Hang(
        "all are inside",
        "if all have begun: the network",
        ((GATHER, SCATTER),) * 4,
    ),
)


def culprits(hang: Hang) -> list[int]:
    """The ranks whose last collective is not that of most; none where all agree."""
    last = [(len(calls), calls[-1]) for calls in hang.entered]
    usual = max(last, key=last.count)
    return [rank for rank, call in enumerate(last) if call != usual]


def figure() -> Figure:
    """A panel for each kind: a row for each rank, a cell for each collective that it entered."""
    shapes: list[str] = []
    facts = []
    for number, hang in enumerate(HANGS):
        shapes += _panel(hang, _LEFT + number * (_WIDE + _GAP))
        facts.append(f"{hang.name}, {hang.suspect}")
    return Figure(
        "Where each rank stands tells whom to suspect: the absent one, the one that differs, or "
        "else the network",
        f"The last two collectives of four ranks in three hangs: {'; '.join(facts)}.",
        f"A row is a rank, a cell a collective that it has entered, from number {_FIRST} on. Blue "
        "is finished, hollow waits, orange is what differs. In each panel three ranks or more "
        "wait for ever and look alike; only the list of all of them tells the cases apart.",
        _HEAD + 4 * _LANE + 6,
        tuple(shapes),
    )


def _panel(hang: Hang, left: float) -> Iterator[str]:
    yield words(left + _WIDE / 2, 16, hang.name, kind="fb-strong")
    yield words(left + _WIDE / 2, 34, hang.suspect, kind="fb-small")
    for place in range(2):
        x = left + 56 + place * (_CELL + 4) + _CELL / 2
        yield words(x, _HEAD - 8, f"{_FIRST + place}", kind="fb-small")
    odd = culprits(hang)
    for rank, calls in enumerate(hang.entered):
        y = _HEAD + rank * _LANE
        yield words(left + 48, y + 15, f"rank {rank}", "end")
        yield from _cells(calls, left + 56, y, odd=rank in odd)


def _cells(calls: Sequence[str], left: float, top: float, *, odd: bool) -> Iterator[str]:
    """The collectives of a rank: all but the second are through."""
    for place, call in enumerate(calls):
        kind = "c0"
        if place == 1:
            kind = "c1" if odd else "hollow"
        yield labelled((left + place * (_CELL + 4), top, _CELL, _LANE - 5), call, kind)
