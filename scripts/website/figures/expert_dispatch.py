"""A mixture of experts over four chips: which tokens go where, and how uneven that gets."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, arrow, box, labelled, path, words
from scripts.website.figures.plotted import FigureValue

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


def received() -> list[int]:
    """Copies of tokens that each chip gets, its own among them."""
    return [sum(row[chip] for row in traffic()) for chip in range(CHIPS)]


def figure() -> Figure:
    """On the left the chips with their traffic, on the right the experts with their loads."""
    copies, tokens = traffic(), loads()
    staying = sum(copies[chip][chip] for chip in range(CHIPS))
    mean = sum(tokens) / EXPERTS
    busiest = received().index(max(received()))
    return Figure(
        f"One popular expert: chip {busiest} gets {max(received())} of {sum(tokens)} copies, and "
        "the others wait",
        f"{CHIPS} chips with three tokens each, {EXPERTS} experts, two for each token. Of "
        f"{sum(tokens)} copies {sum(tokens) - staying} cross the network. The experts get "
        f"{', '.join(map(str, tokens))} tokens: {mean:g} on average, {max(tokens)} at most.",
        "The table has the copies of tokens from each chip to each, the all-to-all; orange crosses "
        "the network, grey stays. The bars are what the experts then compute. The fullest has "
        f"{max(tokens) / mean:.2g} times the mean, its chip "
        f"{max(received()) * CHIPS / sum(tokens):.2g} times, and no result travels back before.",
        268,
        (*_table(copies), arrow((300, 140), (344, 140)), *_bars(tokens)),
        readings=(
            *(
                FigureValue(f"copies from chip {sender}", f"to chip {receiver}", count)
                for sender, row in enumerate(copies)
                for receiver, count in enumerate(row)
            ),
            *(
                FigureValue(f"chip {owner(expert)}", f"tokens of expert {expert}", load)
                for expert, load in enumerate(tokens)
            ),
        ),
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
    for receiver, count in enumerate(received()):
        center = left + (receiver + 0.5) * _SIDE
        kind = "fb-strong" if count == max(received()) else ""
        yield words(center, top + 4 * _SIDE + 20, str(count), kind=kind)
    yield words(left - 12, top + 4 * _SIDE + 20, "received", "end")


def _fill(stays: bool, count: int) -> str:
    """Grey for what stays, orange for what crosses the network, hollow for nothing."""
    if stays:
        return "c5"
    return "c1" if count else "hollow"


def _bars(tokens: list[int]) -> Iterator[str]:
    """The load of each expert, two beside each other on each chip, and a line at the mean."""
    left, bottom, step, a_token = 372.0, 204.0, 31, 21.0
    middle = left + 4 * step
    yield words(middle, 20, "tokens of each expert", kind="fb-strong")
    for expert, load in enumerate(tokens):
        x, height = left + expert * step, load * a_token
        place = f"expert {expert} on chip {owner(expert)}: {load} tokens"
        yield box(x, bottom - height, 27, height, "fb-c0", place)
        yield words(x + 13, bottom - height - 5, str(load))
        yield words(x + 13, bottom + 16, str(expert))
    mean = bottom - a_token * sum(tokens) / EXPERTS
    yield path([(left - 6, mean), (left + EXPERTS * step + 2, mean)], "fb-dashed")
    yield words(left + EXPERTS * step + 4, mean - 5, "mean", "end", "fb-small")
    for chip in range(CHIPS):
        first = left + 2 * chip * step
        yield path([(first, bottom + 24), (first + 2 * step - 4, bottom + 24)], "fb-stroke")
        yield words(first + step - 2, bottom + 42, f"chip {chip}")
