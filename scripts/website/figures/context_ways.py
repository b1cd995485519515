"""What one rank holds of a sequence under a gather, in a ring and after an exchange of heads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scripts.website.figures.drawing import Figure, Sheet, box, key, words

RANKS, RANK = 4, 1  # as many heads as ranks; the rank that is drawn
STEP = 1  # of the ring, counted from 0
_CELL, _TOP, _GAP = 19.0, 58.0, 28.0
_GRID = RANKS * _CELL
_PANEL = _TOP + _GRID + 16
OWN, CAME, COMES, ELSEWHERE = "fb-c0", "fb-c1", "fb-c8", "fb-hollow"
_MEANING = {
    OWN: "its own",
    CAME: "has arrived",
    COMES: "arrives meanwhile",
    ELSEWHERE: "elsewhere",
}


class AttentionExchange(NamedTuple):
    """A way to bring queries and keys together, and what travels when."""

    name: str
    travels: str
    when: str


WAYS = (
    AttentionExchange("all-gather", "keys and values, all at once", "before attention"),
    AttentionExchange(
        "ring, second step", "keys and values, block by block", "while attention computes"
    ),
    AttentionExchange("all-to-all", "queries, keys, values; outputs", "before and after attention"),
)
Cells = dict[tuple[int, int], str]


def queries(way: AttentionExchange) -> Cells:
    """Where the queries of each token (row) and head (column) lie when the rank computes."""
    return _heads() if way.name == "all-to-all" else _rows({RANK: OWN})


def keys(way: AttentionExchange) -> Cells:
    """The same of keys and values."""
    if way.name == "all-to-all":
        return _heads()
    if way.name == "all-gather":
        return _rows({row: OWN if row == RANK else CAME for row in range(RANKS)})
    at_hand, next_one = (RANK - STEP) % RANKS, (RANK - STEP - 1) % RANKS
    return _rows({RANK: OWN, at_hand: CAME, next_one: COMES})


def _rows(kinds: dict[int, str]) -> Cells:
    """All heads of some shares of the tokens."""
    return {(row, head): kinds.get(row, ELSEWHERE) for row in range(RANKS) for head in range(RANKS)}


def _heads() -> Cells:
    """One head of all tokens, of which the rank had its own share already."""
    cells = {(row, head): ELSEWHERE for row in range(RANKS) for head in range(RANKS)}
    return cells | {(row, RANK): OWN if row == RANK else CAME for row in range(RANKS)}


def figure() -> Figure:
    """Three panels beside each other, or below each other on a narrow screen."""
    across = [shape for place, way in enumerate(WAYS) for shape in _panel(way, 8 + 214 * place, 0)]
    down = [shape for place, way in enumerate(WAYS) for shape in _panel(way, 60, _PANEL * place)]
    facts = "; ".join(
        f"{way.name}: {way.travels}, {way.when}; the rank has {_share(queries(way))} of the "
        f"queries and {_share(keys(way))} of the keys and values"
        for way in WAYS
    )
    foot = _PANEL + 4
    return Figure(
        "A gather brings a rank all keys, a ring brings them block by block, and an all-to-all "
        "swaps tokens for heads",
        f"What rank {RANK} of {RANKS} holds while it computes. {facts}.",
        f"Rank {RANK} of {RANKS} while it computes. A row is the tokens of a rank, a column a "
        "head. Look at the queries: under gather and ring they stay a row, after the all-to-all "
        "they are a column, one head of all tokens, so its keys and values are a column too.",
        foot + 18,
        (*across, *_legend(8, foot, 4)),
        narrow=Sheet(344, 3 * _PANEL + 44, (*down, *_legend(40, 3 * _PANEL + 2, 2))),
    )


def _share(cells: Cells) -> str:
    """How many of the blocks lie on the rank."""
    return f"{sum(kind != ELSEWHERE for kind in cells.values())} of {len(cells)} blocks"


def _panel(way: AttentionExchange, left: float, top: float) -> Iterator[str]:
    """Queries on the left, keys and values on the right, under what travels and when."""
    middle = left + _GRID + _GAP / 2
    yield words(middle, top + 14, way.name, kind="fb-strong")
    yield words(middle, top + 29, f"{way.travels}", kind="fb-small")
    yield words(middle, top + 42, way.when, kind="fb-small")
    sides = (("queries", queries(way), left), ("keys, values", keys(way), left + _GRID + _GAP))
    for name, cells, x in sides:
        for (row, head), kind in cells.items():
            tip = f"{name}: tokens of rank {row}, head {head}: {_MEANING[kind]}"
            place = x + head * _CELL, top + _TOP + row * _CELL
            yield box(*place, _CELL - 2, _CELL - 2, kind, tip)
        yield words(x + _GRID / 2, top + _TOP + _GRID + 11, name, kind="fb-small")


def _legend(left: float, top: float, columns: int) -> Iterator[str]:
    for place, (kind, name) in enumerate(_MEANING.items()):
        x, y = left + place % columns * 150, top + place // columns * 20
        yield from key(x, y, name, kind)
