"""Shapes of a figure: boxes, words, lines and arrows, coloured by classes of the style sheet.

Colours `c0` to `c8` are the nine fills of the house (`.fb-c0` ...), each with ink that can be read
on it, light and dark. Coordinates are in pixels of the picture's own size, from the top left. What
draws several shapes returns a list of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flopbook.drawing.markup import escape
from scripts.website.figures.plotted import FigureValue, Plotted, Point
from scripts.website.markup import attribute

WIDTH = 640
LINE = 14  # pixels from one line of text to the next
_HEAD = 7  # pixels of an arrow's head


class Figure(NamedTuple):
    """A drawn figure: title, what it shows in words, what a reader should see, size, shapes.

    Its `role` is img, or group where its shapes are links. `plots` are the charts in it, of which
    its values and its picture for narrow screens are made; `narrow` is such a picture where a
    figure draws it by itself, `source` the key of the work that its values are from. `readings` are
    the values of a diagram that is no chart.
    """

    title: str
    description: str
    caption: str
    height: float
    parts: tuple[str, ...]
    width: float = WIDTH
    role: str = "img"
    plots: tuple[Plotted, ...] = ()
    narrow: Sheet | None = None
    source: str = ""
    readings: tuple[FigureValue, ...] = ()


class Sheet(NamedTuple):
    """Shapes on a sheet of this size, without words around them."""

    width: float
    height: float
    parts: tuple[str, ...]


def svg(drawn: Figure, anchor: str) -> str:
    """The figure as SVG on one line; `anchor` keeps its ids apart from those of other figures."""
    return (
        f'<svg viewBox="0 0 {drawn.width:g} {drawn.height:g}" role="{drawn.role}" '
        f'class="fb-svg fb-drawn" aria-labelledby="{anchor}-t {anchor}-d">'
        f'<title id="{anchor}-t">{escape(drawn.title)}</title>'
        f'<desc id="{anchor}-d">{escape(drawn.description)}</desc>{"".join(drawn.parts)}</svg>'
    )


def linked(shape: str, address: str) -> str:
    """A shape that leads to its source; alone where we measured it and no address has it."""
    if not address:
        return shape
    return f'<a href="{attribute(address)}" tabindex="-1">{shape}</a>'


def words(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    """A line of text; `anchor` is start, middle or end.

    Kinds: fb-small, fb-strong, fb-on0 ... for text on a fill.
    """
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.5g}" y="{y:.5g}" text-anchor="{anchor}">{escape(text)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str = "fb-c0", tip: str = "") -> str:
    """A rectangle; `tip` is what a pointer shows. `fb-hollow` has an outline only."""
    size = f'x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}"'
    return f'<rect class="{kind}" {size}>{tooltip(tip)}</rect>'


def dot(x: float, y: float, kind: str = "fb-c0", tip: str = "", radius: float = 4) -> str:
    """A point; `tip` is what a pointer shows."""
    return (
        f'<circle class="{kind}" cx="{x:.5g}" cy="{y:.5g}" r="{radius:g}">{tooltip(tip)}</circle>'
    )


def tooltip(text: str) -> str:
    """What a pointer shows over the shape that it stands in."""
    return f"<title>{escape(text)}</title>" if text else ""


def labelled(place: tuple[float, float, float, float], text: str, kind: str = "c0") -> str:
    """A box (left, top, width, height) with lines of text in its middle.

    `kind` is a colour c0 to c5, or hollow.
    """
    x, y, width, height = place
    lines = text.split("\n")
    ink = "" if kind == "hollow" else f"fb-on{kind[1:]}"
    first = y + height / 2 + 4 - LINE / 2 * (len(lines) - 1)
    shapes = [box(x, y, width, height, f"fb-{kind}")]
    for number, line in enumerate(lines):
        shapes.append(words(x + width / 2, first + LINE * number, line, kind=ink))
    return "".join(shapes)


def path(points: Sequence[Point], kind: str = "fb-stroke") -> str:
    """A line through points. Kinds: fb-stroke, fb-dashed, fb-grid, fb-line0 ... fb-line3."""
    places = " ".join(f"{x:.5g},{y:.5g}" for x, y in points)
    return f'<polyline class="{kind}" fill="none" points="{places}"/>'


def arrow(start: Point, end: Point, kind: str = "fb-stroke") -> str:
    """A straight arrow; its head is solid when the line is dashed."""
    (x0, y0), (x1, y1) = start, end
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 or 1.0
    dx, dy = _HEAD * (x1 - x0) / length, _HEAD * (y1 - y0) / length
    head = [(x1 - dx - dy / 2, y1 - dy + dx / 2), (x1, y1), (x1 - dx + dy / 2, y1 - dy - dx / 2)]
    return path([start, end], kind) + path(head, kind.replace("fb-dashed", "fb-stroke"))


def key(x: float, y: float, name: str, kind: str) -> list[str]:
    """An entry of a legend: a small square and what its colour means."""
    return [box(x, y, 12, 12, kind), words(x + 17, y + 10, name, "start")]


def titled(x: float, y: float, title: str, note: str, gap: float = 16) -> list[str]:
    """Two lines over a group of shapes: its name, and what is to be said of it in small letters."""
    return [words(x, y, title, kind="fb-strong"), words(x, y + gap, note, kind="fb-small")]
