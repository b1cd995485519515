"""Panels that stand beside each other, one below the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from scripts.website.figures.shapes import (
    EDGE,
    SHEET,
    DrawnShape,
    Extent,
    Folded,
    Map,
    around,
    is_legend,
    moved,
    shift,
)

_APART = 3.0  # pixels between shapes that may be two panels
_SIGN = 60.0  # a panel without words that is higher belongs to the one beside it
_LEAST = 0.85  # by which the places of a wide panel may shrink
_GAP = 14.0  # between panels beside each other, and below each other
_WHOLE = SHEET - 2 * EDGE
_MOST_AROUND = 4  # lines of text above or below the panels
_SIGNS = ("=", "×", "+")  # between panels, none of which ends a row

Group = list[DrawnShape]


def stacked(shapes: Sequence[DrawnShape]) -> Folded | None:
    """A diagram of panels; None for one that does not come apart, or not into narrow ones."""
    bands = _groups(shapes, lambda one: (one.extent.top, one.extent.foot), 0.0)
    body = _body(shapes, bands)
    if body is None:
        return None
    first, last, panels = body
    above, below = bands[:first], bands[last:]
    if _are_of_rows(panels) or any(_width(panel) * _LEAST > _WHOLE for panel in panels):
        return None
    legend = [band for band in (*above, *below) if is_legend(band)]
    heads = [band[0] for band in above if band not in legend]
    notes = [band[0] for band in below if band not in legend]
    return Folded(_laid(panels), legend, heads, notes)


def _groups(
    shapes: Iterable[DrawnShape], reach: Callable[[DrawnShape], tuple[float, float]], apart: float
) -> list[Group]:
    """Shapes that overlap along one direction are one group; groups in order."""
    groups: list[Group] = []
    end = 0.0
    for shape in sorted(shapes, key=reach):
        start, stop = reach(shape)
        if groups and start < end + apart:
            groups[-1].append(shape)
            end = max(end, stop)
        else:
            groups.append([shape])
            end = stop
    return groups


def _body(
    shapes: Sequence[DrawnShape], bands: Sequence[Group]
) -> tuple[int, int, list[Group]] | None:
    """The bands that come apart into panels: the first, the one after the last, and the panels.

    Above and below stand legends and single lines of text: where these reach over several panels.
    """
    best: tuple[int, int, list[Group]] | None = None
    for first in range(min(_MOST_AROUND, len(bands))):
        for last in range(max(first + 1, len(bands) - _MOST_AROUND), len(bands) + 1):
            if not all(map(_is_beside, [*bands[:first], *bands[last:]])):
                continue
            if is_legend(bands[first]) or is_legend(bands[last - 1]):
                continue
            inside = [shape for band in bands[first:last] for shape in band]
            panels = _columns([shape for shape in shapes if shape in inside])
            if len(panels) > (len(best[2]) if best else 1):
                best = first, last, panels
    return best


def _is_beside(band: Group) -> bool:
    """Whether a band is a legend or a line of text."""
    return is_legend(band) or (len(band) == 1 and band[0].is_text)


def _columns(body: Sequence[DrawnShape]) -> list[Group]:
    """What stands beside each other, each in the order of drawing; a panel has words of its own."""
    groups = _groups(body, lambda one: (one.extent.left, one.extent.right), _APART)
    is_headed = any(_is_head(one) for one in body)
    while len(groups) > 1:
        mute = next((n for n, one in enumerate(groups) if _is_mute(one, is_headed)), None)
        if mute is None:
            break
        edges = [around(one.extent for one in group) for group in groups]
        gaps = {
            near: abs(edges[max(near, mute)].left - edges[min(near, mute)].right)
            for near in (mute - 1, mute + 1)
            if 0 <= near < len(groups)
        }
        near = min(gaps, key=lambda one: gaps[one])
        first, last = min(near, mute), max(near, mute)
        groups[first : last + 1] = [groups[first] + groups[last]]
    if len(groups) > 1 and _is_of_names(groups[0]):
        groups[:2] = [groups[0] + groups[1]]
    return [[shape for shape in body if shape in group] for group in groups]


def _is_mute(panel: Group, is_headed: bool) -> bool:
    """Whether a panel lacks what others have: a head, or where none has one, words."""
    is_high = around(shape.extent for shape in panel).height > _SIGN
    return is_high and not any(_is_head(shape) if is_headed else shape.is_text for shape in panel)


def _is_head(shape: DrawnShape) -> bool:
    return shape.is_text and "fb-strong" in shape.kind


def _is_of_names(panel: Group) -> bool:
    """Whether a panel holds names of rows: these must stay beside what they name."""
    return all(shape.is_text for shape in panel) and len({shape.y for shape in panel}) > 1


def _are_of_rows(panels: Sequence[Group]) -> bool:
    """Whether names in words stand at the left: then rows go on over all panels."""
    first = [shape for shape in panels[0] if shape.is_text and shape.anchor == "start"]
    return len({shape.y for shape in first}) > 1


def _width(panel: Group) -> float:
    return around(shape.extent for shape in panel).width


def _laid(panels: Sequence[Group]) -> list[str]:
    """As many panels beside each other as fit, at the distance that they had."""
    rows: list[list[Group]] = [[]]
    for panel in panels:
        if rows[-1] and _run([*rows[-1], panel]) > _WHOLE:
            rows.append(_signs(rows[-1]))
        rows[-1].append(panel)
    parts, top = list[str](), 0.0
    for row in rows:
        extent = around(shape.extent for panel in row for shape in panel)
        x = (SHEET - _run(row)) / 2
        for panel in row:
            own = around(shape.extent for shape in panel)
            across = _narrowed(own, max(x, EDGE))
            parts += [moved(shape.element, across, shift(top - extent.top)) for shape in panel]
            x += own.width + _GAP
        top += extent.height + _GAP
    return parts


def _signs(row: list[Group]) -> list[Group]:
    """The signs at the end of a row, taken off it: they lead to what the next row begins with."""
    signs: list[Group] = []
    while len(row) > 1 and _is_sign(row[-1]):
        signs.insert(0, row.pop())
    return signs


def _is_sign(panel: Group) -> bool:
    return len(panel) == 1 and panel[0].is_text and panel[0].text in _SIGNS


def _narrowed(panel: Extent, left: float) -> Map:
    """Where the places of a panel come that begins at `left`; one that is too wide shrinks."""
    scale = min(1.0, _WHOLE / max(panel.width, 1))
    return lambda at: left + (at - panel.left) * scale


def _run(row: Sequence[Group]) -> float:
    """Pixels that panels take beside each other."""
    return sum(map(_width, row)) + _GAP * (len(row) - 1)
