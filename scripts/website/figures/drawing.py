"""Shapes of a figure: boxes, words, lines and arrows, coloured by classes of the style sheet.

Colours `c0` to `c5` are the six fills of the house (`.fb-c0` ...), each with ink that can be read
on it, light and dark. Coordinates are in pixels of the picture's own size, from the top left.
"""

from __future__ import annotations

from typing import NamedTuple

from flopbook.drawing.markup import escape

WIDTH = 640


class Figure(NamedTuple):
    """A drawn figure: title, what it shows in words, what a reader should see, its size and shapes."""

    title: str
    description: str
    caption: str
    height: float
    parts: tuple[str, ...]
    width: float = WIDTH


def svg(drawn: Figure, anchor: str) -> str:
    """The figure as SVG on one line; `anchor` keeps its ids apart from those of other figures."""
    return (
        f'<svg viewBox="0 0 {drawn.width:g} {drawn.height:g}" role="img" class="fb-svg fb-drawn" '
        f'aria-labelledby="{anchor}-t {anchor}-d"><title id="{anchor}-t">{escape(drawn.title)}</title>'
        f'<desc id="{anchor}-d">{escape(drawn.description)}</desc>{"".join(drawn.parts)}</svg>'
    )


def words(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    """A line of text; `anchor` is start, middle or end.

    Kinds: fb-small, fb-strong, fb-on0 ... for text on a fill.
    """
    extra = f' class="{kind}"' if kind else ""
    return f'<text{extra} x="{x:.5g}" y="{y:.5g}" text-anchor="{anchor}">{escape(text)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str = "fb-c0", tip: str = "") -> str:
    """A rectangle; `tip` is what a pointer shows. `fb-hollow` has an outline only."""
    size = f'x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}"'
    return f'<rect class="{kind}" {size}>{f"<title>{escape(tip)}</title>" if tip else ""}</rect>'


def labelled(place: tuple[float, float, float, float], text: str, kind: str = "c0") -> str:
    """A box (left, top, width, height) with lines of text in its middle.

    `kind` is a colour c0 to c5, or hollow.
    """
    x, y, width, height = place
    lines = text.split("\n")
    ink = "" if kind == "hollow" else f"fb-on{kind[1:]}"
    first = y + height / 2 + 4 - 7 * (len(lines) - 1)
    return box(x, y, width, height, f"fb-{kind}") + "".join(
        words(x + width / 2, first + 14 * n, line, kind=ink) for n, line in enumerate(lines)
    )


def path(points: list[tuple[float, float]], kind: str = "fb-stroke") -> str:
    """A line through points. Kinds: fb-stroke, fb-dashed, fb-grid, fb-line0 ... fb-line3."""
    return f'<polyline class="{kind}" fill="none" points="{" ".join(f"{x:.5g},{y:.5g}" for x, y in points)}"/>'


def arrow(start: tuple[float, float], end: tuple[float, float], kind: str = "fb-stroke") -> str:
    """A straight arrow."""
    (x0, y0), (x1, y1) = start, end
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 or 1.0
    dx, dy = 7 * (x1 - x0) / length, 7 * (y1 - y0) / length
    head = [(x1 - dx - dy / 2, y1 - dy + dx / 2), (x1, y1), (x1 - dx + dy / 2, y1 - dy - dx / 2)]
    return path([start, end], kind) + path(head, kind.replace("fb-dashed", "fb-stroke"))


def dot(x: float, y: float, kind: str = "fb-c0", tip: str = "", radius: float = 4) -> str:
    """A point; `tip` is what a pointer shows."""
    inside = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<circle class="{kind}" cx="{x:.5g}" cy="{y:.5g}" r="{radius:g}">{inside}</circle>'
