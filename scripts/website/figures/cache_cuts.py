"""What one rank of a group holds of the caches: by heads, all of it, by sequences or by tokens."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from scripts.website.figures.drawing import WIDTH, Figure, box, titled
from scripts.website.figures.plotted import Point

RANKS, SEQUENCES, TOKENS, HEADS = 4, 4, 8, 4
# Each cut with its note; the last three have a number in the list of the chapter.
CUTS = (
    ("by heads", "TP, a KV head for a rank"),
    ("not at all", "TP, one latent vector"),
    ("by sequences", "ways 1 and 2"),
    ("by tokens", "way 3"),
)
_CELL, _ROW, _GAP, _TOP = 16.0, 36.0, 24.0, 48.0
_PANEL = TOKENS * _CELL


def held(cut: str) -> set[tuple[int, int, int]]:
    """What rank 0 holds under a cut, as sequence, token and head."""
    return {
        place
        for place in itertools.product(range(SEQUENCES), range(TOKENS), range(HEADS))
        if _is_held(cut, *place)
    }


def _is_held(cut: str, sequence: int, token: int, head: int) -> bool:
    return {
        "by heads": head < HEADS // RANKS,
        "not at all": True,
        "by sequences": sequence < SEQUENCES // RANKS,
        "by tokens": token < TOKENS // RANKS,
    }[cut]


def figure() -> Figure:
    """Four panels of the same caches, with what rank 0 holds filled in."""
    shapes: list[str] = []
    left = (WIDTH - len(CUTS) * _PANEL - (len(CUTS) - 1) * _GAP) / 2
    for number, (cut, note) in enumerate(CUTS):
        corner = left + number * (_PANEL + _GAP), _TOP
        shapes += titled(corner[0] + _PANEL / 2, 16, cut, note)
        shapes += _panel(corner, cut)
    return Figure(
        "Cut by heads, sequences or tokens a rank holds a quarter of the caches; a latent vector "
        "has no heads to cut",
        f"Caches of {SEQUENCES} sequences of {TOKENS} tokens and what the first of {RANKS} ranks "
        f"holds. By heads: one of the {HEADS} heads of every token. Of one latent vector: all. By "
        "sequences: every token of one. By tokens: a quarter of each sequence.",
        f"Filled is what the first of {RANKS} ranks holds. A row is a sequence and a box a "
        f"token, in the first panel with a stripe for each of {HEADS} KV heads. Cut by sequences, "
        "there have to be as many as ranks; cut by tokens, one is enough.",
        _TOP + SEQUENCES * _ROW + 4,
        tuple(shapes),
    )


def _panel(corner: Point, cut: str) -> Iterator[str]:
    """A square for each token; the cut by heads has stripes in it."""
    left, top = corner
    mine = held(cut)
    stripes = HEADS if cut == "by heads" else 1
    height = (_ROW - 8) / stripes
    for sequence in range(SEQUENCES):
        for token in range(TOKENS):
            for head in range(stripes):
                kind = "fb-c1" if (sequence, token, head) in mine else "fb-hollow"
                x, y = left + token * _CELL, top + sequence * _ROW + head * height
                yield box(x, y, _CELL - 3, height, kind)
