"""A key-value cache reserved in one piece for the longest answer, or handed out page by page."""

from __future__ import annotations

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.figures.shapes import EDGE, SHEET

# Sequences by the tokens they hold now; a page holds as many tokens as a row has cells.
HELD, LONGEST, PAGE = (9, 22, 5), 32, 4
_CELL, _LEFT = 17.0, 70.0
_NARROW, _SHORT = 14.0, (SHEET - 2 * EDGE) / LONGEST  # a cell of the pool, and of a row above it


def reserved() -> float:
    """Share of reserved memory that holds tokens."""
    return sum(HELD) / (LONGEST * len(HELD))


def paged() -> float:
    """Share of the pages handed out that holds tokens."""
    return sum(HELD) / (PAGE * sum(_pages(held) for held in HELD))


def figure() -> Figure:
    """Above, a row for each sequence; below, the pages of one pool as they were handed out."""
    shapes = [
        words(
            _LEFT,
            18,
            f"reserved for the longest: {percent(reserved())} in use",
            "start",
            "fb-strong",
        )
    ]
    for number, held in enumerate(HELD):
        top = 28 + number * 24
        shapes.append(words(_LEFT - 8, top + 13, f"sequence {number + 1}", "end", "fb-small"))
        shapes += [_cell(_LEFT + n * _CELL, top, number, n < held) for n in range(LONGEST)]
    shapes.append(
        words(
            _LEFT,
            126,
            f"in pages of {PAGE} tokens: {percent(paged())} in use",
            "start",
            "fb-strong",
        )
    )
    shapes += _pool((_LEFT, 136), _CELL, LONGEST // PAGE)
    return Figure(
        f"Reserved in one piece {percent(reserved())} of the cache is used, in pages "
        f"{percent(paged())}",
        f"Three sequences hold {', '.join(map(str, HELD))} tokens and may grow to {LONGEST}. "
        f"Reserved in one piece, {percent(reserved())} of the memory holds tokens; in pages of "
        f"{PAGE} tokens, {percent(paged())}, and the rest is free for other sequences.",
        "Filled cells hold a token, hollow ones are taken and empty. Pages of one sequence need "
        "not be neighbours: a table says where each one is. Only the last page of a sequence "
        "can be partly empty.",
        216,
        tuple(shapes),
        narrow=Sheet(SHEET, 262, tuple(_phone())),
        readings=(
            FigureValue("in use", "reserved for the longest", reserved(), "percent"),
            FigureValue("in use", f"in pages of {PAGE} tokens", paged(), "percent"),
            *(
                FigureValue("tokens held", f"sequence {number + 1}", held)
                for number, held in enumerate(HELD)
            ),
        ),
    )


def _phone() -> list[str]:
    """The same with the names above their rows, and six pages beside each other."""
    shapes = [
        words(
            EDGE,
            16,
            f"reserved for the longest: {percent(reserved())} in use",
            "start",
            "fb-strong",
        )
    ]
    for number, held in enumerate(HELD):
        top = 40 + number * 40
        shapes.append(words(EDGE, top - 5, f"sequence {number + 1}", "start", "fb-small"))
        shapes += [_cell(EDGE + n * _SHORT, top, number, n < held, _SHORT) for n in range(LONGEST)]
    pages = f"in pages of {PAGE} tokens: {percent(paged())} in use"
    shapes.append(words(EDGE, 174, pages, "start", "fb-strong"))
    return [*shapes, *_pool((EDGE, 184), _NARROW, 6)]


def _cell(x: float, y: float, number: int, full: bool, width: float = _CELL) -> str:
    return box(x, y, width, 17, f"fb-c{number}" if full else "fb-hollow")


def _pages(held: int) -> int:
    return -(-held // PAGE)


def _pool(corner: Point, cell: float, across: int) -> list[str]:
    """Pages as they were handed out: every sequence takes one in turn until it has enough."""
    left, top = corner
    rounds = range(max(map(_pages, HELD)))
    order = [
        (number, page) for page in rounds for number, held in enumerate(HELD) if page < _pages(held)
    ]
    shapes = []
    for place, (number, page) in enumerate(order):
        row, column = divmod(place, across)
        x, y = left + column * PAGE * cell, top + row * 36
        shapes += [
            _cell(x + n * cell, y, number, page * PAGE + n < HELD[number], cell)
            for n in range(PAGE)
        ]
        shapes.append(
            words(x + 2 * cell, y + 29, f"{number + 1}, page {page + 1}", kind="fb-small")
        )
    return shapes
