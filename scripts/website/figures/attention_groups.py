"""The ranks of a serving replica, and which of them each engine counts by its options."""

from __future__ import annotations

from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, labelled, path, words
from scripts.website.figures.shapes import SHEET

GROUPS, RANKS = 4, 2  # attention groups of a replica, ranks of a group
_SIDE, _GAP, _TOP = 56.0, 20.0, 76.0
_GROUP = RANKS * _SIDE
_ROW = _SIDE + 44  # from a row of frames to the next


def figure() -> Figure:
    """Ranks in frames, with a bracket over what one group has and over what all have."""
    every = GROUPS * RANKS
    height, shapes = _drawn(WIDTH, GROUPS)
    short, folded = _drawn(SHEET, GROUPS // 2)
    return Figure(
        f"A replica of {GROUPS} attention groups of {RANKS} is TP {RANKS} for vLLM and TP {every} "
        "for SGLang",
        f"{every} ranks in {GROUPS} frames of {RANKS}, each with a cache of its own; the experts "
        f"are spread over all. vLLM is given the {RANKS} ranks of a group and {GROUPS} groups, "
        f"SGLang all {every} ranks and {GROUPS} groups.",
        "A frame is an attention group: its ranks share the heads of its sequences. Both engines "
        f"are given the number of groups, {GROUPS}, as the degree of data parallelism. In "
        "TensorRT-LLM a group has one rank.",
        height,
        tuple(shapes),
        narrow=Sheet(SHEET, short, tuple(folded)),
    )


def _drawn(width: float, across: int) -> tuple[float, list[str]]:
    """Frames in rows of so many, their brackets above and the experts below; height and shapes."""
    wide = across * _GROUP + (across - 1) * _GAP
    left = (width - wide) / 2
    shapes = _bracket(left, left + wide, 22, f"all ranks: TP {GROUPS * RANKS} in SGLang")
    shapes += _bracket(left, left + _GROUP, 56, f"one group: TP {RANKS} in vLLM")
    for group in range(GROUPS):
        row, column = divmod(group, across)
        shapes += _group(group, left + column * (_GROUP + _GAP), _TOP + row * _ROW)
    foot = _TOP + GROUPS // across * _ROW - 4
    experts = "experts, spread over all ranks"
    shapes.append(labelled((left - 5, foot, wide + 10, 26), experts, "c1"))
    return foot + 34, shapes


def _group(group: int, left: float, top: float) -> list[str]:
    shapes = [box(left - 5, top - 5, _GROUP + 10, _SIDE + 28, "fb-hollow")]
    for rank in range(RANKS):
        place = (left + rank * _SIDE + 2, top, _SIDE - 4, _SIDE)
        shapes.append(labelled(place, f"rank\n{group * RANKS + rank}", "c8"))
    shapes.append(words(left + _GROUP / 2, top + _SIDE + 15, "its own cache", kind="fb-small"))
    return shapes


def _bracket(left: float, right: float, y: float, text: str) -> list[str]:
    ends = [(left, y + 8), (left, y), (right, y), (right, y + 8)]
    return [path(ends), words(left, y - 7, text, "start", "fb-strong")]
