"""A token on its way to eight experts: a copy for each, or one for each node that has some."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, arrow, box, labelled, path, words
from scripts.website.figures.plotted import Point

# The experts that a router picked, by node: as spread as a limit of four nodes allows.
PICKED = ((1, 6), (0, 3), (2, 7), (4, 5))
GPUS = 8
_PANEL, _TOP, _GAP, _SIDE = 320.0, 40.0, 54.0, 20.0


def crossing(shared: bool) -> int:
    """Copies that leave the token's node for the nodes of its experts."""
    return len(PICKED) if shared else sum(len(experts) for experts in PICKED)


def figure() -> Figure:
    """On the left every copy crosses by itself, on the right the node passes it on."""
    alone, shared = crossing(False), crossing(True)
    return Figure(
        f"Copied inside each node, a token crosses {shared} times instead of {alone}",
        f"A token sends {alone} copies to {alone} experts on {len(PICKED)} nodes, or {shared} "
        "copies, one to each node, where they go on to two experts each.",
        "Dashed: the network between nodes. Grey: NVLink inside a node, where one GPU passes the "
        "token on. Filled: GPUs with an expert that it visits.",
        _TOP + len(PICKED) * _GAP,
        (
            *_panel(0, f"a copy for each expert: {alone} cross", False),
            *_panel(_PANEL, f"a copy for each node: {shared} cross", True),
        ),
    )


def _panel(left: float, title: str, shared: bool) -> Iterator[str]:
    """The token and the nodes of its experts, each a row of GPUs."""
    yield words(left + _PANEL / 2, 18, title, kind="fb-strong")
    token = (left + 56, _TOP + len(PICKED) * _GAP / 2 - 12)
    yield labelled((left + 8, token[1] - 12, 48, 24), "token", "c5")
    for number, experts in enumerate(PICKED):
        yield from _node((left + 132, _TOP + number * _GAP), experts, token, shared)


def _node(corner: Point, experts: tuple[int, ...], token: Point, shared: bool) -> Iterator[str]:
    """A node with its GPUs, and the lines by which the token gets to the experts."""
    x, y = corner
    yield box(x - 4, y - 4, GPUS * _SIDE + 6, _SIDE + 6, "fb-hollow")
    for gpu in range(GPUS):
        kind = "fb-c0" if gpu in experts else "fb-hollow"
        yield box(x + gpu * _SIDE, y, _SIDE - 2, _SIDE - 2, kind)
    middles = [x + (gpu + 0.5) * _SIDE - 1 for gpu in experts]
    if not shared:
        for middle in middles:
            yield arrow(token, (middle, y), "fb-line1")
        return
    yield arrow(token, (x - 4, y + _SIDE / 2), "fb-line1")
    first, low = x + _SIDE / 2 - 1, y + _SIDE + 14
    yield path([(first, y + _SIDE), (first, low), (middles[-1], low)], "fb-stroke")
    for gpu, middle in zip(experts, middles, strict=True):
        if gpu:  # the first GPU has the token already
            yield arrow((middle, low), (middle, y + _SIDE), "fb-stroke")
