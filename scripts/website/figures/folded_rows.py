"""Rows of a diagram with their names above them, and the whole width for what they hold."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from scripts.website.figures.drawing import words
from scripts.website.figures.shapes import (
    EDGE,
    SHEET,
    DrawnShape,
    Folded,
    Map,
    around,
    has_room,
    is_legend,
    lines_of,
    moved,
)

_HEAD, _LINE = 16.0, 14.0  # of a name above its row, and from one line of text to the next
_LEAST = 0.3  # by which places may shrink
_WHOLE = SHEET - 2 * EDGE


class NamedRow(NamedTuple):
    """The name of a row, its kind of text, and where what the row holds begins and ends."""

    text: str
    kind: str
    top: float
    foot: float


def squeezed(shapes: Sequence[DrawnShape]) -> Folded | None:
    """A diagram whose rows have names that end at one place; None for any other."""
    names = _names(shapes)
    drawn = [shape for shape in shapes if shape not in names]
    if not names:
        return None
    rows = _rows(names, drawn)
    outside = [
        one for one in drawn if one.extent.foot < rows[0].top or one.extent.top > rows[-1].foot
    ]
    lines = list(_legend_lines(outside))
    drawn = [shape for shape in drawn if not any(shape in line for line in lines)]
    if any(one.extent.left < names[0].x - 1 for one in drawn if not one.is_text):
        return None
    parts = _laid(drawn, rows, names[0].x)
    return Folded(parts, lines) if parts else None


def _names(shapes: Iterable[DrawnShape]) -> list[DrawnShape]:
    """The texts that end at one place, where there are several: they name rows."""
    ends = [shape for shape in shapes if shape.is_text and shape.anchor == "end"]
    counted = Counter(round(shape.x) for shape in ends).most_common(1)
    if not counted or counted[0][1] < 2:
        return []
    names = [shape for shape in ends if round(shape.x) == counted[0][0]]
    return sorted(names, key=lambda shape: shape.y)


def _rows(names: Sequence[DrawnShape], rest: Sequence[DrawnShape]) -> list[NamedRow]:
    """The rows; names close below each other are one."""
    groups: list[list[DrawnShape]] = []
    for name in names:
        if groups and name.y - groups[-1][-1].y < _HEAD + 1:
            groups[-1].append(name)
        else:
            groups.append([name])
    middles = [around(one.extent for one in group).middle for group in groups]
    step = min((after - before for before, after in pairwise(middles)), default=2 * _HEAD)
    rows = []
    for group, middle in zip(groups, middles, strict=True):
        near = [
            shape.extent
            for shape in rest
            if abs(shape.extent.middle - middle) < step / 2 and shape.extent.height < 1.2 * step
        ]
        extent = around([*near, *(one.extent for one in group)])
        text = ", ".join(one.text for one in group)
        kind = f"{group[0].kind} fb-halo".strip()  # lines that go through all rows cross it
        rows.append(NamedRow(text, kind, extent.top, extent.foot))
    return rows


def _legend_lines(shapes: Sequence[DrawnShape]) -> Iterable[list[DrawnShape]]:
    """The lines that say what fills and marks mean."""
    for y in sorted({shape.y for shape in shapes if shape.is_text and shape.anchor == "start"}):
        line = [shape for shape in shapes if abs(shape.extent.middle - y + 4) < 8]
        if is_legend(line):
            yield line


def _laid(rest: Sequence[DrawnShape], rows: Sequence[NamedRow], left: float) -> list[str]:
    """Everything right of the names over the whole width; nothing where that is too narrow."""
    scale = min((_most(shape, left) for shape in rest), default=0.0)
    if scale < _LEAST:
        return []
    breaks = [(row.top - 0.25, _HEAD) for row in rows]
    breaks += [(one.y + 1, _LINE * (len(_wrapped(one)) - 1)) for one in rest if _is_long(one)]
    breaks.sort()
    places = [place for place, _ in breaks]
    sums = [0.0, *accumulate(room for _, room in breaks)]

    def across(least: float) -> Map:
        return lambda x: max(least, EDGE + (x - left) * scale)

    def down(y: float) -> float:
        return y + sums[bisect_right(places, y)]

    parts = [words(EDGE, down(row.top) - 5, row.text, "start", row.kind) for row in rows]
    for shape in rest:
        if _is_long(shape):
            for number, line in enumerate(_wrapped(shape)):
                foot = down(shape.y) + _LINE * number
                parts.append(words(EDGE, foot, line, "start", shape.kind))
        elif not _is_lost(shape, rest, scale):
            least = shape.extent.width / 2 if shape.is_text and shape.anchor == "middle" else EDGE
            parts.append(moved(shape.element, across(least), down))
    return parts


def _is_long(shape: DrawnShape) -> bool:
    """Whether a text is wider than the sheet."""
    return shape.is_text and shape.anchor == "start" and shape.extent.width > _WHOLE


def _wrapped(shape: DrawnShape) -> list[str]:
    return lines_of(shape.text, shape.kind, _WHOLE)


def _most(shape: DrawnShape, left: float) -> float:
    """The most by which places right of the names may be stretched so that a shape fits."""
    if not shape.is_text:
        return _WHOLE / max(shape.extent.right - left, 1)
    if _is_long(shape):
        return 1.0
    beyond = {"start": shape.extent.width, "middle": shape.extent.width / 2}.get(shape.anchor, 0.0)
    return (_WHOLE - beyond) / max(shape.x - left, 1)


def _is_lost(shape: DrawnShape, rest: Iterable[DrawnShape], scale: float) -> bool:
    """Whether a text in a box has no room in it any more; the box says it to the pointer."""
    if not shape.is_text or shape.anchor != "middle":
        return False
    boxes = (one.extent for one in rest if one.element.tag == "rect")
    widths = [
        box.width
        for box in boxes
        if box.left <= shape.x <= box.right and box.top <= shape.extent.middle <= box.foot
    ]
    return bool(widths) and not has_room(shape.text, scale * min(widths), shape.kind)
