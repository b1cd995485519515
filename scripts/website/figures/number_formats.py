"""Number formats of models bit by bit, and a block of small numbers that share a scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flopbook.quantities.number_formats import BLOCK, FORMATS, Format
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.figures.shapes import EDGE, SHEET

_CELL, _ROW, _LEFT = 8.2, 24, 104
_BLOCK_ROW, _BLOCK_BITS = 24.0, 64  # of a row of a block: its height, and the bits that it has
# On a phone: a format has its name above it, the longest as many cells as there is room.
_PHONE_ROW = 36.0
_PHONE_CELL = (SHEET - 2 * EDGE) / max(number_format.bits for number_format in FORMATS)
_PARTS = (
    ("sign", "fb-c1"),
    ("exponent", "fb-c0"),
    ("fraction", "fb-c2"),
    ("whole number", "fb-c4"),
)


def figure() -> Figure:
    """One row for each format, one cell for each bit."""
    shapes = [*_legend((_LEFT, 6), _PARTS)]
    for number, number_format in enumerate(FORMATS):
        top = 30 + number * _ROW
        shapes.append(words(_LEFT - 8, top + 13, number_format.name, "end"))
        shapes += _cells(number_format, (_LEFT, top), _CELL)
    bottom = 30 + len(FORMATS) * _ROW
    shapes.append(words(_LEFT - 8, bottom + 32, "mxfp4 block", "end"))
    shapes += _block((_LEFT, bottom + 18), _CELL)
    facts = "; ".join(f"{number_format.name}: {_split(number_format)}" for number_format in FORMATS)
    return Figure(
        "Bits for the exponent buy range, bits for the fraction buy precision",
        f"One row for each format, one cell for each bit. {facts}. In a block format {BLOCK.size} "
        f"small numbers follow one scale of {BLOCK.scale_bits} bits.",
        "bf16 keeps the range of fp32 and gives up precision; fp16 does the opposite. At the foot, "
        "32 small numbers that share one scale, wrapped after 64 bits.",
        bottom + 96,
        tuple(shapes),
        narrow=Sheet(SHEET, 140 + _PHONE_ROW * len(FORMATS), tuple(_phone())),
        readings=tuple(
            FigureValue(one.name, f"bits of the {name}", bits)
            for one in FORMATS
            for (name, _), bits in zip(_PARTS, _bits(one), strict=True)
            if bits
        ),
    )


def _phone() -> Iterator[str]:
    """The same with the name of each format above its cells."""
    yield from _legend((EDGE, 4), _PARTS[:2])
    yield from _legend((EDGE, 22), _PARTS[2:])
    for number, number_format in enumerate(FORMATS):
        top = 60 + number * _PHONE_ROW
        yield words(EDGE, top - 5, number_format.name, "start")
        yield from _cells(number_format, (EDGE, top), _PHONE_CELL)
    top = 60 + len(FORMATS) * _PHONE_ROW
    yield words(EDGE, top - 5, "mxfp4 block", "start")
    yield from _block((EDGE, top), _PHONE_CELL)


def _legend(corner: Point, parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What the fills are, in one line."""
    left, top = corner
    for name, kind in parts:
        yield box(left, top, 12, 12, kind)
        yield words(left + 17, top + 10, name, "start")
        left += 40 + 6.4 * len(name)


def _cells(number_format: Format, corner: Point, width: float) -> list[str]:
    """A cell for each bit of a format."""
    pieces = []
    x, top = corner
    for (_, kind), bits in zip(_PARTS, _bits(number_format), strict=True):
        for _ in range(bits):
            pieces.append(box(x, top, width, 17, kind))
            x += width
    return pieces


def _bits(number_format: Format) -> tuple[int, ...]:
    """How many cells each part has, in the order of `_PARTS`."""
    return (
        number_format.sign,
        number_format.exponent,
        number_format.fraction,
        number_format.whole,
    )


def _split(number_format: Format) -> str:
    if number_format.whole:
        return f"{number_format.sign} sign and {number_format.whole} bits of a whole number"
    return (
        f"{number_format.sign} sign, {number_format.exponent} exponent, {number_format.fraction} "
        "fraction"
    )


def _block(corner: Point, cell: float) -> Iterator[str]:
    """The scale of a block and the numbers that share it, in rows, a bit as wide as above them."""
    left, top = corner
    yield box(left, top, BLOCK.scale_bits * cell, 20, "fb-c3")
    taken = BLOCK.scale_bits
    for _ in range(BLOCK.size):
        row, place = divmod(taken, _BLOCK_BITS)
        yield box(left + place * cell, top + row * _BLOCK_ROW, BLOCK.bits * cell, 20, "fb-c7")
        taken += BLOCK.bits
    row, place = divmod(taken, _BLOCK_BITS)
    told = f"a scale of {BLOCK.scale_bits} bits, and {BLOCK.size} numbers of {BLOCK.bits}"
    yield words(left + place * cell + 8, top + row * _BLOCK_ROW + 14, told, "start", "fb-small")
