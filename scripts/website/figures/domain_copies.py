"""Where the copies of one token go when its experts lie in nodes of eight, or in one domain."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.errors import FlopbookError
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, box, key, words
from scripts.website.figures.plotted import FigureValue

RANKS, EXPERTS, NODE, MOST_RANKS = 64, 8, 8, 64
_CELL, _GAP, _TOP = 26.0, 14.0, 52.0
_PANEL = 4 * (2 * _CELL + _GAP)  # four nodes side by side, each two GPUs wide


def places(ranks: int = RANKS, experts: int = EXPERTS, node: int = NODE) -> list[int]:
    """Ranks of the experts of a token on rank 0, as many inside its node as chance leaves there.

    One expert for every `ranks / experts` ranks, each at another place of its stretch.
    """
    stretch = ranks // experts
    return [1 + number * stretch + (number * 3) % (node - 1) for number in range(experts)]


def leaving(domain: int, ranks: int = RANKS, experts: int = EXPERTS) -> int:
    """How many of the copies go beyond the domain of rank 0."""
    return sum(rank >= domain for rank in places(ranks, experts))


def figure(near: float = 900e9, far: float = 50e9) -> Figure:
    """Two panels of the same ranks: nodes of eight, and one domain.

    Raises FlopbookError where the networks do not differ the way that the words say.
    """
    if not 0 < far < near:
        raise FlopbookError("the network between nodes is drawn as the slower one")
    beyond = leaving(NODE)
    fast, slow = format_quantity(near, "byte/s"), format_quantity(far, "byte/s")
    shapes = [
        *key(10, 4, "the token", "fb-c0"),
        *key(104, 4, f"a copy by NVLink, {fast}", "fb-c1"),
        *key(318, 4, f"a copy by a network card, {slow}", "fb-c6"),
    ]
    panels = (
        (f"nodes of {NODE}: {beyond} of {EXPERTS} copies leave", NODE),
        (f"one domain of {RANKS}: none leaves", RANKS),
    )
    for number, (title, domain) in enumerate(panels):
        middle = WIDTH / 4 + number * WIDTH / 2
        shapes.append(words(middle, _TOP - 12, title, kind="fb-strong"))
        shapes += _panel(middle - _PANEL / 2, domain)
    return Figure(
        f"Of the {EXPERTS} copies of a token {beyond} leave a node of {NODE}, and none a domain "
        f"of {RANKS}",
        f"{RANKS} GPUs, twice, with a token on the first and its {EXPERTS} experts spread over "
        f"all. In nodes of {NODE}, {beyond} copies travel at {slow}; in one domain all travel at "
        f"{fast}.",
        "Each square is a GPU, each frame a domain in which every pair is joined at the fast "
        "rate. The experts sit on the same ranks in both panels, and each gets a copy of the "
        "token. In nodes of eight an eighth of the copies stays in its node, which is also the "
        "average for random routing; all others cross a network card.",
        _TOP + 2 * (4 * _CELL + _GAP) + 8,
        tuple(shapes),
        readings=(
            FigureValue(f"nodes of {NODE}", "copies that leave", beyond),
            FigureValue(f"one domain of {RANKS}", "copies that leave", leaving(RANKS)),
            FigureValue("rates", "inside a domain", near, "byte/s"),
            FigureValue("rates", "between nodes", far, "byte/s"),
        ),
    )


def _panel(left: float, domain: int) -> Iterator[str]:
    """Eight frames of eight GPUs, or one frame around all of them."""
    experts = set(places())
    if domain == RANKS:
        yield box(left - 4, _TOP - 4, _PANEL - _GAP + 8, 8 * _CELL + _GAP + 8, "fb-hollow")
    for rank in range(RANKS):
        node, inside = divmod(rank, NODE)
        x = left + node % 4 * (2 * _CELL + _GAP) + inside % 2 * _CELL
        y = _TOP + node // 4 * (4 * _CELL + _GAP) + inside // 2 * _CELL
        if domain == NODE and not inside:
            yield box(x - 2, y - 2, 2 * _CELL + 4, 4 * _CELL + 4, "fb-hollow")
        kind = _kind(rank, experts, domain)
        yield box(x + 2, y + 2, _CELL - 4, _CELL - 4, f"fb-{kind}", f"rank {rank}")
        if kind == "c1":  # pale beside empty squares: it needs an edge
            yield box(x + 2, y + 2, _CELL - 4, _CELL - 4, "fb-hollow")


def _kind(rank: int, experts: set[int], domain: int) -> str:
    if not rank:
        return "c0"
    if rank not in experts:
        return "hollow"
    return "c1" if rank < domain else "c6"
