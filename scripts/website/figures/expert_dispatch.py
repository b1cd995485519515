"""A mixture of experts over four chips: which tokens go where, and how uneven that gets."""

from __future__ import annotations

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
    return [
        [sum(owner(expert) == to for token in tokens for expert in token) for to in range(CHIPS)]
        for tokens in ROUTES
    ]


def loads() -> list[int]:
    """Tokens that each expert gets."""
    chosen = [expert for tokens in ROUTES for token in tokens for expert in token]
    return [chosen.count(expert) for expert in range(EXPERTS)]


def figure() -> Figure:
    """On the left the chips with their traffic, on the right the experts with their loads."""
    table, tokens = traffic(), loads()
    crossing = sum(table[a][b] for a in range(CHIPS) for b in range(CHIPS) if a != b)
    mean = sum(tokens) / EXPERTS
    return Figure(
        "Tokens on their way to experts",
        f"{CHIPS} chips with three tokens each, {EXPERTS} experts, two for each token. Of "
        f"{sum(tokens)} copies {crossing} cross the network. The experts get "
        f"{', '.join(map(str, tokens))} tokens: {mean:g} on average, {max(tokens)} at most.",
        "Left: copies of tokens from each chip to each, the all-to-all. Right: tokens of each "
        f"expert. The fullest has {max(tokens) / mean:.2g} times the mean, and everybody waits for "
        "it before the results travel back.",
        252,
        (*_table(table), arrow((300, 140), (344, 140)), *_bars(tokens)),
    )


def _table(table: list[list[int]]) -> list[str]:
    left, top = 96.0, 56.0
    shapes = [
        words(left + 2 * _SIDE, 20, "to chip", kind="fb-strong"),
        words(54, 46, "from chip", kind="fb-strong"),
    ]
    for a, row in enumerate(table):
        shapes += [
            words(left + (a + 0.5) * _SIDE, 44, str(a)),
            words(left - 12, top + (a + 0.5) * _SIDE + 4, str(a)),
        ]
        for b, copies in enumerate(row):
            kind = "c5" if a == b else "c4" if copies else "hollow"
            shapes.append(
                labelled((left + b * _SIDE, top + a * _SIDE, _SIDE, _SIDE), str(copies), kind)
            )
    return [
        *shapes,
        words(left + 2 * _SIDE, top + 4 * _SIDE + 20, "grey stays on its chip", kind="fb-small"),
    ]


def _bars(all_tokens: list[int]) -> list[str]:
    left, bottom, tall = 372.0, 200.0, 22.0
    mean = sum(all_tokens) / EXPERTS
    shapes = [words(left + 4 * 31, 20, "tokens of each expert", kind="fb-strong")]
    for expert, tokens in enumerate(all_tokens):
        x = left + expert * 31
        shapes.append(
            box(
                x,
                bottom - tokens * tall,
                27,
                tokens * tall,
                f"fb-c{owner(expert)}",
                f"chip {owner(expert)}",
            )
        )
        shapes += [
            words(x + 13, bottom - tokens * tall - 5, str(tokens)),
            words(x + 13, bottom + 16, str(expert)),
        ]
    shapes.append(
        words(
            left + 4 * 31, bottom + 36, f"expert; mean {mean:g}, two on each chip", kind="fb-small"
        )
    )
    return shapes
