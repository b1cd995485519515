"""A diagram at the width of a phone, laid out anew from the shapes of the wide one.

Two kinds can be laid out without knowing what they show: rows with their names at the left, and
panels beside each other. Letters keep their size, and what explains fills and marks goes below. A
diagram in which words would then touch is not folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from scripts.website.figures.drawing import Figure, Sheet, words
from scripts.website.figures.folded_panels import stacked
from scripts.website.figures.folded_rows import squeezed
from scripts.website.figures.shapes import (
    EDGE,
    SHEET,
    DrawnShape,
    Folded,
    lines_of,
    moved,
    read,
    shift,
)

_LINE, _ROW = 14.0, 18.0  # from one line of text to the next, and from one entry of a legend
_BETWEEN = 14.0  # entries of a legend


def folded(drawn: Figure) -> Sheet | None:
    """The narrow sheet of a diagram; None for one that would not be readable."""
    try:
        shapes = read(drawn.parts)
    except ValueError:
        return None
    for layout in (squeezed, stacked):
        laid_out = layout(shapes)
        if laid_out and _is_readable(sheet := _sheet(laid_out)):
            return sheet
    return None


def _sheet(found: Folded) -> Sheet:
    """What was laid out, below its heads, with its legend and notes below."""
    shapes = read(found.parts)
    top = min(shape.extent.top for shape in shapes) - EDGE - _ROW * len(found.heads)
    foot = max(shape.extent.foot for shape in shapes) - top
    parts = [moved(shape.element, shift(0), shift(-top)) for shape in shapes]
    for number, head in enumerate(found.heads):
        parts.append(words(SHEET / 2, _LINE + _ROW * number, head.text, kind=head.kind))
    for entries in found.legend:
        legend_shapes, foot = _flowed(entries, foot + _ROW)
        parts += legend_shapes
    for note in found.notes:
        for line in lines_of(note.text, note.kind, SHEET - 2 * EDGE):
            foot += _LINE
            parts.append(words(EDGE, foot, line, "start", note.kind))
    return Sheet(SHEET, foot + 8, tuple(parts))


def _flowed(line: Sequence[DrawnShape], foot: float) -> tuple[list[str], float]:
    """A line of a legend from `foot` on, broken between entries; and where the next may begin."""
    parts, x = list[str](), EDGE
    for entry in _entries(line):
        left = min(shape.extent.left for shape in entry)
        right = max(shape.extent.right for shape in entry)
        if x > EDGE and x + right - left > SHEET:
            x, foot = EDGE, foot + _ROW
        across, down = shift(x - left), shift(foot - entry[-1].y)
        parts += [moved(shape.element, across, down) for shape in entry]
        x += right - left + _BETWEEN
    return parts, foot


def _entries(line: Iterable[DrawnShape]) -> list[list[DrawnShape]]:
    """The shapes up to each text, which say together what one of them means."""
    entries: list[list[DrawnShape]] = [[]]
    for shape in sorted(line, key=lambda shape: (shape.extent.left, shape.is_text)):
        entries[-1].append(shape)
        if shape.is_text:
            entries.append([])
    return [entry for entry in entries if entry and entry[-1].is_text]


def _is_readable(sheet: Sheet) -> bool:
    """Whether all words are on the sheet and none touch."""
    texts = [shape for shape in read(sheet.parts) if shape.is_text]
    inside = all(text.extent.left > -2 and text.extent.right < SHEET + 2 for text in texts)
    return inside and not any(a.extent.touches(b.extent) for a, b in combinations(texts, 2))
