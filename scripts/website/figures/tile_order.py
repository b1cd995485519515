"""Strips that a wave of tiles reads: the tiles in one row, and as a block."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, key, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import SHEET

ORDERS = ((1, 132), (11, 12))  # rows and columns of tiles that run at the same time
_DEPTH, _HEAD, _GAP, _BELOW = 34.0, 30.0, 3.0, 24.0  # a strip is cut off at this depth
_WIDE, _SLIM = 4.2, 2.2  # side of a tile


def strips(rows: int, columns: int) -> int:
    """Strips of one input for each row of tiles, and of the other for each column."""
    return rows + columns


def figure() -> Figure:
    """Both orders on one scale, so that areas are bytes."""
    row, block = (strips(*order) for order in ORDERS)
    height = _height(_WIDE)
    return Figure(
        f"{ORDERS[0][1]} tiles in one row read {row} strips, as a block of {ORDERS[1][0]} by "
        f"{ORDERS[1][1]} they read {block}",
        f"In one row: {ORDERS[0][0]} strip of rows and {ORDERS[0][1]} of columns. As a block: "
        f"{ORDERS[1][0]} of rows and {ORDERS[1][1]} of columns.",
        "Blue: the tiles that run at the same time, one on each SM. Orange: the strips of the two "
        "inputs that they read, cut short here. Both panels have one scale, so compare the orange "
        "areas: they are the bytes that the cache has to fetch.",
        height,
        tuple(_sheet(_WIDE, (WIDTH - 132 * _WIDE - _DEPTH) / 2)),
        narrow=Sheet(SHEET, _height(_SLIM), tuple(_sheet(_SLIM, 8.0))),
        readings=tuple(
            FigureValue(f"{rows} by {columns}", "strips", strips(rows, columns))
            for rows, columns in ORDERS
        ),
    )


def _height(side: float) -> float:
    """Of both panels and the legend, in whole units."""
    tall = sum(_HEAD + _DEPTH + _GAP + rows * side + 10 for rows, _ in ORDERS)
    return float(round(tall + _BELOW))


def _sheet(side: float, left: float) -> Iterator[str]:
    top = 0.0
    for rows, columns in ORDERS:
        yield from _panel(left, top, side, rows, columns)
        top += _HEAD + _DEPTH + _GAP + rows * side + 10
    for number, (name, kind) in enumerate((("tiles", "fb-c0"), ("strips that they read", "fb-c6"))):
        yield from key(left + number * 80, top + 4, name, kind)


def _panel(left: float, top: float, side: float, rows: int, columns: int) -> Iterator[str]:
    """Tiles with the strips of rows on their left and those of columns above."""
    count = strips(rows, columns)
    yield words(left, top + 20, f"{rows} by {columns}: {count} strips", "start", "fb-strong")
    x, y = left + _DEPTH + _GAP, top + _HEAD + _DEPTH + _GAP
    wide, tall = columns * side, rows * side
    yield box(x, y - _GAP - _DEPTH, wide, _DEPTH, "fb-c6")
    yield box(left, y, _DEPTH, tall, "fb-c6")
    yield box(x, y, wide, tall, "fb-c0")
    for column in range(1, columns):
        edge = x + column * side
        yield path([(edge, y - _GAP - _DEPTH), (edge, y - _GAP)], "fb-grid")
        yield path([(edge, y), (edge, y + tall)], "fb-grid")
    for row in range(1, rows):
        edge = y + row * side
        yield path([(left, edge), (left + _DEPTH, edge)], "fb-grid")
        yield path([(x, edge), (x + wide, edge)], "fb-grid")
