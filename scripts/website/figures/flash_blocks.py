"""Attention in one kernel: a block of queries stays, blocks of keys and values pass it."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, arrow, box, words

QUERIES, KEYS = 5, 8  # blocks of either
STAYS, PASSES = 2, 4  # the block of queries at work, and the block of keys that it meets now
_SIDE, _EDGE, _LEFT, _TOP = 30.0, 24.0, 92.0, 62.0


def figure() -> Figure:
    """The grid of scores, of which one block exists at a time."""
    left, top = _LEFT + _EDGE + 6, _TOP + _EDGE + 6
    right, foot = left + KEYS * _SIDE, top + QUERIES * _SIDE
    middle = top + (STAYS + 0.5) * _SIDE
    shapes = [
        *_inputs(left, top),
        *_scores(left, top),
        words(left, _TOP - 26, "keys and values stream past", "start", "fb-strong"),
        arrow((left, _TOP - 12), (right, _TOP - 12)),
        words(_LEFT - 8, middle - 2, "queries", "end", "fb-strong"),
        words(_LEFT - 8, middle + 13, "stay", "end"),
        arrow((right + 6, middle), (right + 40, middle)),
        words(right + 48, middle - 16, "kept for each query:", "start", "fb-strong"),
        words(right + 48, middle + 1, "maximum, sum, result", "start"),
        words(right + 48, middle + 18, "(rescaled when the maximum grows)", "start"),
    ]
    done = PASSES
    return Figure(
        "Of all scores one block exists at a time, and three running results stand for the rest",
        f"A grid of {QUERIES} by {KEYS} blocks of scores. Block {STAYS + 1} of the queries has met "
        f"{done} blocks of keys and values and meets block {PASSES + 1} now.",
        "Follow the marked row from left to right. Blue at the left: a block of queries, which "
        "stays. Orange: the block of keys and values that is read now. Blue in the grid: their "
        "scores, in on-chip memory; grey blocks are done and gone, hollow ones come later or "
        "belong to other blocks of queries, which other SMs take. Nothing of the grid goes to main "
        "memory.",
        foot + 14,
        tuple(shapes),
    )


def _inputs(left: float, top: float) -> Iterator[str]:
    """Blocks of queries beside the grid, of keys and values above it."""
    for row in range(QUERIES):
        kind = "fb-c0" if row == STAYS else "fb-hollow"
        yield box(_LEFT, top + row * _SIDE, _EDGE, _SIDE - 3, kind)
    for column in range(KEYS):
        kind = "fb-c1" if column == PASSES else "fb-hollow"
        yield box(left + column * _SIDE, _TOP, _SIDE - 3, _EDGE, kind)


def _scores(left: float, top: float) -> Iterator[str]:
    for row in range(QUERIES):
        for column in range(KEYS):
            yield box(
                left + column * _SIDE, top + row * _SIDE, _SIDE - 3, _SIDE - 3, _kind(row, column)
            )


def _kind(row: int, column: int) -> str:
    """How a block of scores is filled: gone, here, or still to come."""
    if row != STAYS or column > PASSES:
        return "fb-hollow"
    return "fb-c0" if column == PASSES else "fb-c5"
