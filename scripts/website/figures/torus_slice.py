"""Slices of a TPU pod drawn from their shape: which axes close into rings; hops and links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from flopbook.errors import FlopbookError
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, dot, path, words
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.figures.shapes import SHEET

CUBE = 4  # chips along a side of a cube of v4 and v5p
FULL = 16  # chips along an axis of a pod of v5e and v6e that closes
SHAPES = "2x2x1; 4x4x4; 4x4x8; 8x16; 16x16"
_MOST, _TOP, _SIDE = 6, 44.0, 104.0
_TALL = _TOP + _SIDE + 70
_PHONE_ACROSS = 2  # slices beside each other on a phone
_LONGEST = 64  # chips along a side
_CHIPS, _LAYERS = 8, 3  # that are drawn along a side, and one behind the other
_DEPTH, _STUB, _WIDEST = 12, 9, 34.0  # pixels from layer to layer, of a stub, from chip to chip


def read_shape(text: str) -> tuple[int, ...]:
    """The sides of a slice written as 4x4x8.

    Raises FlopbookError for anything else than two or three sides.
    """
    sides = text.strip().split("x")
    are_sides = all(side.isdigit() and 1 <= int(side) <= _LONGEST for side in sides)
    if len(sides) not in (2, 3) or not are_sides:
        raise FlopbookError(
            f"a slice is written as 4x4x8 or 16x16 with sides up to 64, found '{text.strip()}'"
        )
    return tuple(map(int, sides))


def closed(shape: tuple[int, ...]) -> tuple[bool, ...]:
    """Which axes wrap around: of three, all for whole cubes; of two, those as long as the pod."""
    if len(shape) == 3:
        return (all(side % CUBE == 0 for side in shape),) * 3
    return tuple(side == FULL for side in shape)


def hops(shape: tuple[int, ...]) -> int:
    """Hops between the two chips that are furthest apart."""
    sides = zip(shape, closed(shape), strict=True)
    return sum(side // 2 if wraps else side - 1 for side, wraps in sides)


def across(shape: tuple[int, ...]) -> int:
    """Links through a cut across the longest side; a ring is cut twice."""
    longest = shape.index(max(shape))
    rings = 2 if closed(shape)[longest] else 1
    return prod(shape) // shape[longest] * rings


def kind(shape: tuple[int, ...]) -> str:
    """What the network of a slice is called; a side of one chip cannot close."""
    rings = sum(side > 1 and wraps for side, wraps in zip(shape, closed(shape), strict=True))
    names = {0: "mesh", len(shape): "torus"}
    return names.get(rings, "closed on one axis")


def _finding(slices: list[tuple[int, ...]]) -> str:
    """Two slices of as many chips compared, if there are such."""
    for number, one in enumerate(slices):
        for other in slices[number + 1 :]:
            if prod(one) == prod(other):
                ways = (
                    f"{hops(shape)} hops, {across(shape)} links across as {_name(shape)}"
                    for shape in (one, other)
                )
                return f"{prod(one)} chips: {', or '.join(ways)}"
    return "The sides of a slice decide its hops and its links across the middle"


def figure(shapes: str = SHAPES) -> Figure:
    """The slices side by side.

    Raises FlopbookError for shapes that cannot be read, or too many of them.
    """
    slices = [read_shape(text) for text in shapes.split(";")]
    if len(slices) > _MOST:
        raise FlopbookError(f"{len(slices)} slices are too many for one picture, at most {_MOST}")
    facts = [f"{_name(shape)}: {', '.join(_facts(shape))}" for shape in slices]
    rows = -(-len(slices) // _PHONE_ACROSS)
    return Figure(
        _finding(slices),
        f"{'; '.join(facts)}. Three sides: cubes of {CUBE} by {CUBE} by {CUBE} that optical "
        f"switches close. Two sides: an axis closes where it has {FULL} chips.",
        "Every dot is a chip; a long side is drawn with fewer. Dashed ends are links that go round "
        "to the other side. "
        f"With three sides a slice of whole cubes ({CUBE} × {CUBE} × {CUBE}) closes on every "
        f"axis; with two sides only an axis of {FULL} does.",
        _TALL,
        tuple(_drawn(slices, WIDTH, len(slices))),
        narrow=Sheet(SHEET, _TALL * rows, tuple(_drawn(slices, SHEET, _PHONE_ACROSS))),
        readings=tuple(
            value
            for shape in slices
            for value in (
                FigureValue(_name(shape), "chips", prod(shape)),
                FigureValue(_name(shape), "hops at most", hops(shape)),
                FigureValue(_name(shape), "links across", across(shape)),
            )
        ),
    )


def _name(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _facts(shape: tuple[int, ...]) -> tuple[str, ...]:
    """What stands below a slice."""
    return (
        f"{prod(shape)} chips, {kind(shape)}",
        f"{hops(shape)} hops at most",
        f"{across(shape)} links across",
    )


def _drawn(slices: Sequence[tuple[int, ...]], width: float, columns: int) -> Iterator[str]:
    """So many slices beside each other, the others below them."""
    step = width / columns
    for number, shape in enumerate(slices):
        row, column = divmod(number, columns)
        middle, top = (column + 0.5) * step, _TALL * row
        yield words(middle, top + 18, _name(shape), kind="fb-strong")
        yield from _slice(shape, (middle - _SIDE / 2, top + _TOP))
        for n, line in enumerate(_facts(shape)):
            yield words(middle, top + _TOP + _SIDE + 30 + 15 * n, line, kind="fb-small")


def _slice(shape: tuple[int, ...], corner: Point) -> list[str]:
    """The front face of the slice, layers behind it shifted, and stubs where an axis closes."""
    depth = shape[2] if len(shape) == 3 else 1
    layers = min(depth, _LAYERS)
    columns, rows = (min(side, _CHIPS) for side in shape[:2])
    gap = (_SIDE - _DEPTH * (layers - 1) - 16) / max(columns - 1, rows - 1, 1)
    gap = min(gap, _WIDEST)
    left, top = corner
    shapes: list[str] = []
    for layer in reversed(range(layers)):
        x, y = left + 8 + _DEPTH * layer, top + 8 + _DEPTH * (layers - 1 - layer)
        xs = [x + gap * n for n in range(columns)]
        ys = [y + gap * n for n in range(rows)]
        if layer:
            shapes += _chips(xs, ys, "fb-c5", 3.5)
            continue
        shapes += _links(xs, ys)
        shapes += _stubs(xs, ys, closed(shape))
        shapes += _chips(xs, ys, "fb-c0", 3.5 if columns > 4 else 5)
    if depth > layers:
        label = f"{depth} layers"
        shapes.append(words(left + _SIDE / 2, top + _SIDE + 14, label, kind="fb-small"))
    return shapes


def _chips(xs: list[float], ys: list[float], fill: str, radius: float) -> Iterator[str]:
    for x in xs:
        for y in ys:
            yield dot(x, y, fill, "", radius)


def _links(xs: list[float], ys: list[float]) -> list[str]:
    """Rows and columns, each to and fro in one line.

    From the end of a row to the next one there is a link, too.
    """
    rows, columns = [], []
    for n, y in enumerate(ys):
        rows += [(x, y) for x in _turned((xs[0], xs[-1]), n)]
    for n, x in enumerate(xs):
        columns += [(x, y) for y in _turned((ys[0], ys[-1]), n)]
    return [path(rows), path(columns)]


def _turned(ends: tuple[float, float], number: int) -> tuple[float, float]:
    return ends if number % 2 == 0 else (ends[1], ends[0])


def _stubs(xs: list[float], ys: list[float], wraps: tuple[bool, ...]) -> Iterator[str]:
    """Dashed ends of the links that go round, on the axes that have them."""
    if wraps[0]:
        for y in ys:
            yield path([(xs[0], y), (xs[0] - _STUB, y)], "fb-dashed")
            yield path([(xs[-1], y), (xs[-1] + _STUB, y)], "fb-dashed")
    if wraps[1]:
        for x in xs:
            yield path([(x, ys[0]), (x, ys[0] - _STUB)], "fb-dashed")
            yield path([(x, ys[-1]), (x, ys[-1] + _STUB)], "fb-dashed")
