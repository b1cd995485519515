"""Shapes of a drawn figure with the room that each takes, to be put somewhere else.

It reads what `drawing.py` writes: rectangles, lines, circles, marks at a place, and lines of text.
"""

from __future__ import annotations

import re
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from flopbook.drawing.markup import escape
from flopbook.drawing.scales import LETTER

_SMALL, _STRONG = 10.5 / 12, 1.07  # width of a letter against one of the usual text
# Pixels of a letter of 12 pixels; the others are at most as wide as a digit.
_DIGIT, _CAPITAL = 6.7, 8.7
_BROAD = {"W": 11.3, "M": 10.0, "m": 10.0, "G": 9.4, "O": 9.4, "Q": 9.4, "w": 8.7}
_INSIDE = 3.0  # pixels of a box that its letters leave free
_ABOVE, _BELOW = 9.0, 3.0  # pixels of a line of text around its foot
_MARK = 7.0  # half of the height of a mark; its place is what counts across
SHEET, EDGE = 344.0, 2.0  # width of a sheet for narrow screens, and what stays free at its sides
_HAIR = 0.5  # before the foot of a box: what begins there may be moved further
_SAMPLE = 48.0  # a shape of a legend is no wider
_AT = re.compile(r"translate\(([-\d.]+)[ ,]([-\d.]+)\)")

Map = Callable[[float], float]


class Extent(NamedTuple):
    """A rectangle: left, top, right and foot."""

    left: float
    top: float
    right: float
    foot: float

    @property
    def middle(self) -> float:
        """Its middle from top to foot."""
        return (self.top + self.foot) / 2

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to foot."""
        return self.foot - self.top

    def touches(self, other: Extent) -> bool:
        """Whether the two have more than an edge in common."""
        across = min(self.right, other.right) - max(self.left, other.left)
        return across > 1 and min(self.foot, other.foot) - max(self.top, other.top) > 1


class DrawnShape(NamedTuple):
    """An element of a picture and its room."""

    element: ET.Element
    extent: Extent

    @property
    def is_text(self) -> bool:
        """Whether it is a line of text."""
        return self.element.tag == "text"

    @property
    def anchor(self) -> str:
        """Where a text stands at its place: start, middle or end."""
        return self.element.get("text-anchor", "")

    @property
    def x(self) -> float:
        """The place of a text."""
        return float(self.element.get("x", 0))

    @property
    def y(self) -> float:
        """The foot of a text."""
        return float(self.element.get("y", 0))

    @property
    def text(self) -> str:
        """What a text says."""
        return self.element.text or ""

    @property
    def kind(self) -> str:
        """Its class."""
        return self.element.get("class", "")


class Folded(NamedTuple):
    """A diagram that was laid out anew: its parts, its legend, texts to go above and below it."""

    parts: list[str]
    legend: Sequence[Sequence[DrawnShape]] = ()
    heads: Sequence[DrawnShape] = ()
    notes: Sequence[DrawnShape] = ()


def read(parts: Iterable[str]) -> list[DrawnShape]:
    """The shapes of a figure. Raises ValueError for one whose extent is not known."""
    picture = ET.fromstring(f"<svg>{''.join(parts)}</svg>")
    return [DrawnShape(element, _extent(element)) for element in picture]


def is_legend(line: Sequence[DrawnShape]) -> bool:
    """Whether these say what fills and marks mean: small samples, each with words behind it."""
    samples = [shape for shape in line if not shape.is_text]
    texts = [shape for shape in line if shape.is_text]
    are_behind = bool(texts) and all(shape.anchor == "start" for shape in texts)
    return (
        are_behind and bool(samples) and all(sample.extent.width <= _SAMPLE for sample in samples)
    )


def shift(by: float) -> Map:
    """A map that moves places by so many pixels."""
    return lambda at: at + by


def text_width(text: str, kind: str = "") -> float:
    """Pixels of a line of text of a kind."""
    size = _SMALL if "fb-small" in kind else 1.0
    return len(text) * LETTER * size * (_STRONG if "fb-strong" in kind else 1.0)


def has_room(text: str, width: float, kind: str = "") -> bool:
    """Whether a few letters fit into a box of this many pixels, with something free at both sides.

    Their own widths count: a W is nearly twice as wide as the mean of `text_width`.
    """
    size = _SMALL if "fb-small" in kind else 1.0
    return size * sum(map(_letter_width, text)) + _INSIDE <= width


def _letter_width(letter: str) -> float:
    return _BROAD.get(letter, _CAPITAL if letter.isupper() else _DIGIT)


def _extent(element: ET.Element) -> Extent:
    if element.tag == "text":
        width = text_width(element.text or "", element.get("class", ""))
        before = {"middle": width / 2, "end": width}.get(element.get("text-anchor", ""), 0)
        left, foot = _number(element, "x") - before, _number(element, "y")
        return Extent(left, foot - _ABOVE, left + width, foot + _BELOW)
    if element.tag == "rect":
        x, y = _number(element, "x"), _number(element, "y")
        return Extent(x, y, x + _number(element, "width"), y + _number(element, "height"))
    if element.tag == "circle":
        x, y, r = _number(element, "cx"), _number(element, "cy"), _number(element, "r")
        return Extent(x - r, y - r, x + r, y + r)
    if element.tag in ("polyline", "polygon"):
        xs, ys = zip(*_points(element), strict=True)
        return Extent(min(xs), min(ys), max(xs), max(ys))
    if at := _AT.match(element.get("transform", "")):
        x, y = float(at[1]), float(at[2])
        return Extent(x, y - _MARK, x, y + _MARK)
    if element.tag in ("g", "a") and not element.get("style"):
        rooms = [_extent(child) for child in element if child.tag != "title"]
        return around(rooms)
    raise ValueError(f"the extent of <{element.tag}> is not known")


def _number(element: ET.Element, name: str) -> float:
    return float(element.get(name, 0))


def around(rooms: Iterable[Extent]) -> Extent:
    """The room that holds all of these."""
    lefts, tops, rights, feet = zip(*rooms, strict=True)
    return Extent(min(lefts), min(tops), max(rights), max(feet))


def _points(element: ET.Element) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in element.get("points", "").split())
    return [(float(x), float(y)) for x, y in pairs]


def moved(element: ET.Element, across: Map, down: Map) -> str:
    """The markup of an element whose places were mapped; letters and marks keep their size."""
    copy = ET.Element(element.tag, dict(element.attrib))
    if element.tag in ("polyline", "polygon"):
        points = (f"{across(x):.5g},{down(y):.5g}" for x, y in _points(element))
        copy.set("points", " ".join(points))
    elif at := _AT.match(element.get("transform", "")):
        x, y = across(float(at[1])), down(float(at[2]))
        digits = 1 if "." in at[0] else 0  # as exact as it was drawn
        translation = f"translate({round(x, digits):g} {round(y, digits):g})"
        copy.set("transform", translation + element.get("transform", "")[at.end() :])
    elif element.tag == "rect":
        x, y = _number(element, "x"), _number(element, "y")
        copy.set("width", f"{across(x + _number(element, 'width')) - across(x):.5g}")
        foot = y + _number(element, "height") - _HAIR
        copy.set("height", f"{down(foot) + _HAIR - down(y):.5g}")
    for name, place in (("x", across), ("cx", across), ("y", down), ("cy", down)):
        if name in element.attrib:
            copy.set(name, f"{place(_number(element, name)):.5g}")
    copy.text = element.text
    inside = "".join(_inside(child, across, down) for child in element)
    return _markup(copy, inside)


def _inside(child: ET.Element, across: Map, down: Map) -> str:
    return _markup(child, "") if child.tag == "title" else moved(child, across, down)


def _markup(element: ET.Element, inside: str) -> str:
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in element.attrib.items())
    return f"<{element.tag}{attributes}>{escape(element.text or '')}{inside}</{element.tag}>"


def lines_of(text: str, kind: str, width: float) -> list[str]:
    """A text cut at its spaces into lines that are no wider than this."""
    letters = max(1, int(width / text_width("x", kind)))
    return textwrap.wrap(text, letters, break_long_words=False, break_on_hyphens=False)
