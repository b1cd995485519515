"""Which GPU of a cluster has which place in a layout, under two orders of the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flopbook.errors import FlopbookError
from scripts.website.figures.drawing import WIDTH, Figure, box, words

NODE = 8  # GPUs that a launcher numbers before it goes on to the next node
ORDERS = (("TP, DP, PP", ("tp", "dp", "pp")), ("TP, PP, DP", ("tp", "pp", "dp")))
NOTES = ("gradients are summed in the node first", "all gradients leave the node")
MOST_STAGES, MOST_NODES = 4, 8
_CELL, _GAP, _HEAD = 30.0, 16.0, 34.0
_ACROSS = 4  # GPUs of a node side by side
_NODE_WIDTH = _ACROSS * _CELL + 8
_NODE_HEIGHT = NODE / _ACROSS * _CELL + 26


class RankPlace(NamedTuple):
    """The coordinates of a rank: within its TP group, its replica, its pipeline stage."""

    tp: int
    dp: int
    pp: int


def places(tp: int, dp: int, pp: int, order: Sequence[str]) -> list[RankPlace]:
    """The place of each rank; the first axis of the order varies fastest."""
    degrees = {"tp": tp, "dp": dp, "pp": pp}
    placed = []
    for rank in range(tp * dp * pp):
        at, remaining = {}, rank
        for axis in order:
            remaining, at[axis] = divmod(remaining, degrees[axis])
        placed.append(RankPlace(**at))
    return placed


def figure(tp: int = 4, dp: int = 2, pp: int = 4) -> Figure:
    """Two panels of nodes; colours are pipeline stages, words below a TP group say its place.

    Raises FlopbookError for more stages than colours, for part of a node, and for too many nodes.
    """
    nodes, remainder = divmod(tp * dp * pp, NODE)
    if remainder or pp > MOST_STAGES or not 1 <= nodes <= MOST_NODES:
        raise FlopbookError(
            f"drawn are 1 to {MOST_NODES} whole nodes of {NODE} and up to {MOST_STAGES} stages"
        )
    shapes: list[str] = []
    for panel, (title, order) in enumerate(ORDERS):
        left = panel * WIDTH / 2
        shapes.append(words(left + WIDTH / 4, 18, title, kind="fb-strong"))
        shapes += _nodes(places(tp, dp, pp, order), left)
        foot = _HEAD + -(-nodes // 2) * (_NODE_HEIGHT + _GAP) + 2
        shapes.append(words(left + WIDTH / 4, foot, NOTES[panel]))
    rows = -(-nodes // 2)
    return Figure(
        "Which order the ranks have decides whether gradients or stages share a node",
        f"{nodes} nodes of {NODE} GPUs with TP {tp}, {dp} replicas and {pp} stages, twice. "
        f"{_described(places(tp, dp, pp, ORDERS[0][1]), 'TP, DP, PP')} "
        f"{_described(places(tp, dp, pp, ORDERS[1][1]), 'TP, PP, DP')}",
        "Each small square is a GPU, each frame a node, each row a TP group, which stays in its "
        "node under both orders. The colour is its pipeline stage. In the order TP, DP, PP a node "
        "holds one stage of several replicas, so gradients are first summed inside it, and what a "
        "stage sends on leaves it. In the order TP, PP, DP gradients leave it, and every other "
        "send between stages stays.",
        _HEAD + rows * (_NODE_HEIGHT + _GAP) + 18,
        tuple(shapes),
    )


def _nodes(ranks: Sequence[RankPlace], left: float) -> Iterator[str]:
    """All nodes of a panel, two in a row."""
    inset = (WIDTH / 2 - 2 * _NODE_WIDTH - _GAP) / 2
    for node in range(len(ranks) // NODE):
        row, column = divmod(node, 2)
        x = left + inset + column * (_NODE_WIDTH + _GAP)
        y = _HEAD + row * (_NODE_HEIGHT + _GAP)
        yield box(x, y, _NODE_WIDTH, _NODE_HEIGHT, "fb-hollow")
        yield words(x + _NODE_WIDTH / 2, y + 14, f"node {node}", kind="fb-small")
        yield from _gpus(ranks[node * NODE : (node + 1) * NODE], x + 4, y + 20)


def _gpus(ranks: Sequence[RankPlace], x: float, y: float) -> Iterator[str]:
    for number, place in enumerate(ranks):
        row, column = divmod(number, _ACROSS)
        left, top = x + column * _CELL, y + row * _CELL
        tip = f"TP rank {place.tp}, replica {place.dp}, stage {place.pp}"
        yield box(left + 1, top + 1, _CELL - 2, _CELL - 16, f"fb-c{place.pp}", tip)
    for row in range(NODE // _ACROSS):
        foot = y + (row + 1) * _CELL - 4
        groups = [(place.pp, place.dp) for place in ranks[row * _ACROSS : (row + 1) * _ACROSS]]
        if len(set(groups)) == 1:
            stage, replica = groups[0]
            text = f"stage {stage}, replica {replica}"
            yield words(x + _ACROSS * _CELL / 2, foot, text, kind="fb-small")
            continue
        for column, (stage, replica) in enumerate(groups):
            middle = x + (column + 0.5) * _CELL
            yield words(middle, foot, f"{stage}, {replica}", kind="fb-small")


def _described(ranks: Sequence[RankPlace], order: str) -> str:
    """What the first node holds."""
    first = ranks[:NODE]
    stages = sorted({place.pp for place in first})
    replicas = sorted({place.dp for place in first})
    return (
        f"In the order {order} the first node holds stages {', '.join(map(str, stages))} of "
        f"replicas {', '.join(map(str, replicas))}."
    )
