"""A mixture of experts over four chips: which tokens go where, and how uneven that gets."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, arrow, box, labelled, words

CHIPS, EXPERTS = 4, 8
# The two experts of each token, three tokens on each chip: an example, as a router might choose.
ROUTES = (
    ((0, 3), (5, 1), (3, 6)),
    ((3, 2), (7, 3), (0, 5)),
    ((4, 3), (1, 6), (5, 3)),
    ((6, 2), (3, 7), (4, 0)),
)
_SIDE = 40.0


def owner(expert: int) -> int:
    """The chip on which an expert lies."""
    return expert * CHIPS // EXPERTS


def traffic() -> list[list[int]]:
    """Copies of tokens from each chip (row) to each chip (column)."""
    copies = []
    for tokens in ROUTES:
        owners = [owner(expert) for token in tokens for expert in token]
        copies.append([owners.count(chip) for chip in range(CHIPS)])
    return copies


def loads() -> list[int]:
    """Tokens that each expert gets."""
    chosen = [expert for tokens in ROUTES for token in tokens for expert in token]
    return [chosen.count(expert) for expert in range(EXPERTS)]


def figure() -> Figure:
    """On the left the chips with their traffic, on the right the experts with their loads."""
    copies, tokens = traffic(), loads()
    staying = sum(copies[chip][chip] for chip in range(CHIPS))
    mean = sum(tokens) / EXPERTS
    return Figure(
        "Tokens on their way to experts",
        f"{CHIPS} chips with three tokens each, {EXPERTS} experts, two for each token. Of "
        f"{sum(tokens)} copies {sum(tokens) - staying} cross the network. The experts get "
        f"{', '.join(map(str, tokens))} tokens: {mean:g} on average, {max(tokens)} at most.",
        "Left: copies of tokens from each chip to each, the all-to-all. Right: tokens of each "
        f"expert. The fullest has {max(tokens) / mean:.2g} times the mean, and everybody waits for "
        "it before the results travel back.",
        252,
        (*_table(copies), arrow((300, 140), (344, 140)), *_bars(tokens)),
    )


def _table(copies: list[list[int]]) -> Iterator[str]:
    """A row for each chip that sends, a column for each that receives."""
    left, top = 96.0, 56.0
    middle = left + 2 * _SIDE
    yield words(middle, 20, "to chip", kind="fb-strong")
    yield words(54, 46, "from chip", kind="fb-strong")
    for sender, row in enumerate(copies):
        center = (sender + 0.5) * _SIDE
        yield words(left + center, 44, str(sender))
        yield words(left - 12, top + center + 4, str(sender))
        for receiver, count in enumerate(row):
            place = (left + receiver * _SIDE, top + sender * _SIDE, _SIDE, _SIDE)
            yield labelled(place, str(count), _fill(sender == receiver, count))
    yield words(middle, top + 4 * _SIDE + 20, "grey stays on its chip", kind="fb-small")


def _fill(stays: bool, count: int) -> str:
    """Grey for what stays, a colour for what crosses the network, hollow for nothing."""
    if stays:
        return "c5"
    return "c4" if count else "hollow"


def _bars(tokens: list[int]) -> Iterator[str]:
    """The load of each expert, in the colour of its chip."""
    left, bottom, step, a_token = 372.0, 200.0, 31, 22.0
    middle = left + 4 * step
    yield words(middle, 20, "tokens of each expert", kind="fb-strong")
    for expert, load in enumerate(tokens):
        x, height = left + expert * step, load * a_token
        chip = owner(expert)
        yield box(x, bottom - height, 27, height, f"fb-c{chip}", f"chip {chip}")
        yield words(x + 13, bottom - height - 5, str(load))
        yield words(x + 13, bottom + 16, str(expert))
    mean = f"expert; mean {sum(tokens) / EXPERTS:g}, two on each chip"
    yield words(middle, bottom + 36, mean, kind="fb-small")
