"""An all-reduce over nodes in three stages: sum inside a node, exchange shares, gather inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scripts.website.figures.drawing import WIDTH, Figure, Sheet, arrow, labelled, words
from scripts.website.figures.plotted import Point
from scripts.website.figures.shapes import SHEET

NODES, GPUS = 2, 4  # drawn; a real node has eight GPUs with a card each
SHARES = "abcd"  # of the array, one for each GPU of a node
_HEAD, _ROW, _BETWEEN, _LEFT, _GAP = 42.0, 22.0, 46.0, 52.0, 22.0

Rank = tuple[int, int]  # node and GPU
Held = dict[Rank, list[frozenset[Rank]]]  # for each share the ranks whose terms are in it


class Stage(NamedTuple):
    """What has just happened, over which wires, and what every rank holds then."""

    name: str
    wires: str
    held: Held


def stages(nodes: int = NODES, gpus: int = GPUS) -> list[Stage]:
    """What each rank holds of each share: before, and after each of the three stages."""
    ranks = [(node, gpu) for node in range(nodes) for gpu in range(gpus)]
    everyone, nothing = frozenset(ranks), frozenset[Rank]()
    own: Held = {rank: [frozenset({rank})] * gpus for rank in ranks}
    inside: Held = {rank: [nothing] * gpus for rank in ranks}
    across: Held = {rank: [nothing] * gpus for rank in ranks}
    for node, gpu in ranks:
        inside[node, gpu][gpu] = frozenset(rank for rank in ranks if rank[0] == node)
        across[node, gpu][gpu] = everyone
    return [
        Stage("before", "each its own terms", own),
        Stage("1 reduce-scatter", "inside, NVLink", inside),
        Stage("2 all-reduce", "across, card to card", across),
        Stage("3 all-gather", "inside, NVLink", {rank: [everyone] * gpus for rank in ranks}),
    ]


def figure() -> Figure:
    """The four states side by side; two and two on a narrow screen."""
    total = NODES * GPUS
    return Figure(
        f"{GPUS} cards share the sum over nodes: each carries a quarter of the array",
        f"{NODES} nodes of {GPUS} GPUs. Each GPU has {GPUS} shares of one term. After a "
        f"reduce-scatter in the node it has one share, a sum of {GPUS} terms. After an all-reduce "
        f"with its counterpart in the other node that share has all {total} terms. After an "
        "all-gather in the node it has all shares.",
        "A column is a GPU, a row a share of the gradients, the number how many ranks' terms are "
        "in it. Orange has just arrived or grown. Only stage 2 leaves the node, and there each GPU "
        "talks to the GPU of its own number about its own share. In a node of eight GPUs a card "
        "carries an eighth.",
        _height(1),
        tuple(_rows(WIDTH, 4)),
        narrow=Sheet(SHEET, _height(2), tuple(_rows(SHEET, 2))),
    )


def _height(rows: int) -> float:
    return rows * (_HEAD + NODES * GPUS * _ROW + _BETWEEN + 26)


def _rows(width: float, across: int) -> Iterator[str]:
    """The stages, so many beside each other."""
    step = (width - _LEFT + _GAP) / across
    for number, stage in enumerate(stages()):
        row, column = divmod(number, across)
        top = row * _height(1)
        if column == 0:
            yield from _names(top)
        yield from _panel(number, stage, (_LEFT + column * step, top), step - _GAP)


def _names(top: float) -> Iterator[str]:
    """What the rows of a panel are."""
    for node in range(NODES):
        head = top + _node_top(node)
        for share in range(GPUS):
            text = f"share {SHARES[share]}"
            yield words(_LEFT - 6, head + share * _ROW + 15, text, "end", "fb-small")


def _node_top(node: int) -> float:
    return _HEAD + node * (GPUS * _ROW + _BETWEEN)


def _panel(number: int, stage: Stage, corner: Point, width: float) -> Iterator[str]:
    before = stages()[max(number - 1, 0)].held
    left, top = corner
    side = width / GPUS
    yield words(left + width / 2, top + 14, stage.name, kind="fb-strong")
    yield words(left + width / 2, top + 30, stage.wires, kind="fb-small")
    for (node, gpu), held in stage.held.items():
        x, y = left + gpu * side, top + _node_top(node)
        for share, terms in enumerate(held):
            place = (x, y + share * _ROW, side, _ROW)
            kind = _kind(terms, before[node, gpu][share])
            yield labelled(place, str(len(terms)) if terms else "", kind)
    for node in range(NODES):
        foot = top + _node_top(node) + GPUS * _ROW
        yield words(left + width / 2, foot + 14, f"node {node}", kind="fb-small")
    if number == 2:
        yield from _cards(left, top + _node_top(0) + GPUS * _ROW, side)


def _kind(terms: frozenset[Rank], before: frozenset[Rank]) -> str:
    """Hollow where nothing is held, another colour where it has just changed."""
    if not terms:
        return "hollow"
    return "c0" if terms == before else "c1"


def _cards(left: float, foot: float, side: float) -> Iterator[str]:
    """A card of each GPU, to its counterpart and back."""
    for gpu in range(GPUS):
        x = left + (gpu + 0.5) * side
        yield arrow((x, foot + 30), (x, foot + _BETWEEN - 2))
        yield arrow((x, foot + 30), (x, foot + 18))
