"""A product of matrices in blocks: a row of blocks of one meets a column of blocks of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from flopbook.errors import FlopbookError
from scripts.website.figures.drawing import Figure, labelled, words

_CELL, _TOP, _MOST = 46.0, 40.0, 4
_NAME, _LINE = 32.0, 16.0  # pixels of the name of the followed block, and from line to line
_LEFT = 20  # pixels of the first matrix from the edge
_COLOURS = ("c1", "c2", "c3", "c4")  # of the blocks that meet


class Matrix(NamedTuple):
    """A matrix of blocks: its name, where it begins, its size, and the colours of some blocks."""

    name: str
    x: float
    rows: int
    columns: int
    colours: Mapping[tuple[int, int], str]


def terms(row: int, column: int, inner: int) -> list[str]:
    """The products that add up to one block of the result; blocks are counted from 1."""
    return [f"A{row}{k} B{k}{column}" for k in range(1, inner + 1)]


def figure(
    rows: int = 2, inner: int = 3, columns: int = 2, row: int = 2, column: int = 1
) -> Figure:
    """A of rows by inner blocks times B of inner by columns blocks, one block of C followed.

    Raises FlopbookError for a block that does not exist or too many of them.
    """
    can_be_seen = all(1 <= side <= _MOST for side in (rows, inner, columns))
    if not can_be_seen or not (1 <= row <= rows and 1 <= column <= columns):
        raise FlopbookError(
            f"1 to {_MOST} blocks a side are drawn, and the followed block must be one of them"
        )
    height = max(rows, inner) * _CELL
    b_x = _LEFT + inner * _CELL + 40
    c_x = b_x + columns * _CELL + 46
    meeting = list(enumerate(_COLOURS[:inner], 1))
    matrices = (
        Matrix("A", _LEFT, rows, inner, {(row, k): colour for k, colour in meeting}),
        Matrix("B", b_x, inner, columns, {(k, column): colour for k, colour in meeting}),
        Matrix("C", c_x, rows, columns, {(row, column): "c0"}),
    )
    middle = _TOP + height / 2 + 5
    products = terms(row, column, inner)
    shapes = [shape for matrix in matrices for shape in _matrix(matrix, height)]
    shapes += [words(b_x - 20, middle, "×"), words(c_x - 23, middle, "=")]
    shapes += _sum(c_x + columns * _CELL + 20, middle, f"C{row}{column}", products)
    return Figure(
        f"Block C{row}{column} needs row {row} of A, column {column} of B, and nothing else",
        f"A has {rows} by {inner} blocks, B has {inner} by {columns}, C has {rows} by {columns}. "
        f"Block C{row}{column} is {' + '.join(products)}.",
        "Blocks multiply as numbers do: equal colours meet, and their products add up to one block "
        "of C. If one device holds the coloured blocks, it needs no message; if several do, each "
        "has one term of the sum.",
        _TOP + height + 10,
        tuple(shapes),
    )


def _matrix(matrix: Matrix, height: float) -> Iterator[str]:
    """The blocks of a matrix, in the middle of the height of all of them."""
    top = _TOP + (height - matrix.rows * _CELL) / 2
    yield words(matrix.x + matrix.columns * _CELL / 2, 18, matrix.name, kind="fb-strong")
    for i in range(1, matrix.rows + 1):
        for j in range(1, matrix.columns + 1):
            place = (matrix.x + (j - 1) * _CELL, top + (i - 1) * _CELL, _CELL, _CELL)
            colour = matrix.colours.get((i, j), "hollow")
            yield labelled(place, f"{matrix.name}{i}{j}", colour)


def _sum(x: float, middle: float, name: str, products: list[str]) -> Iterator[str]:
    """The followed block as a sum, one product a line, the first beside its name."""
    top = middle - _LINE * (len(products) - 1) / 2
    yield words(x, top, name, "start", "fb-strong")
    for number, product in enumerate(products):
        sign = "+" if number else "="
        yield words(x + _NAME, top + _LINE * number, f"{sign} {product}", "start")
