"""A product of matrices in blocks: a row of blocks of one meets a column of blocks of the other."""

from __future__ import annotations

from flopbook.errors import FlopbookError
from scripts.website.figures.drawing import Figure, labelled, words

_CELL, _TOP, _MOST = 46.0, 40.0, 4


def terms(row: int, column: int, inner: int) -> list[str]:
    """The products that add up to one block of the result; blocks are counted from 1."""
    return [f"A{row}{k} B{k}{column}" for k in range(1, inner + 1)]


def figure(
    rows: int = 2, inner: int = 3, columns: int = 2, row: int = 2, column: int = 1
) -> Figure:
    """A of rows by inner blocks times B of inner by columns blocks, one block of C followed.

    Raises FlopbookError for a block that does not exist or too many of them.
    """
    if not all(1 <= n <= _MOST for n in (rows, inner, columns)) or not (
        1 <= row <= rows and 1 <= column <= columns
    ):
        raise FlopbookError(
            f"1 to {_MOST} blocks a side are drawn, and the followed block must be one of them"
        )
    high = max(rows, inner) * _CELL

    def matrix(
        name: str, left: float, tall: int, wide: int, kind: dict[tuple[int, int], str]
    ) -> list[str]:
        top = _TOP + (high - tall * _CELL) / 2
        shapes = [words(left + wide * _CELL / 2, 18, name, kind="fb-strong")]
        for i in range(1, tall + 1):
            for j in range(1, wide + 1):
                place = (left + (j - 1) * _CELL, top + (i - 1) * _CELL, _CELL, _CELL)
                shapes.append(labelled(place, f"{name}{i}{j}", kind.get((i, j), "hollow")))
        return shapes

    colours = [f"c{(1, 2, 3, 4)[k]}" for k in range(inner)]
    second = 20 + inner * _CELL + 40
    third = second + columns * _CELL + 46
    shapes = matrix("A", 20, rows, inner, {(row, k + 1): colours[k] for k in range(inner)})
    shapes += matrix(
        "B", second, inner, columns, {(k + 1, column): colours[k] for k in range(inner)}
    )
    shapes += matrix("C", third, rows, columns, {(row, column): "c0"})
    middle = _TOP + high / 2 + 5
    shapes += [words(second - 20, middle, "×"), words(third - 23, middle, "=")]
    products = terms(row, column, inner)
    sum_x = third + columns * _CELL + 20
    shapes.append(
        words(sum_x, middle - 14 * len(products) / 2, f"C{row}{column} =", "start", "fb-strong")
    )
    shapes += [
        words(
            sum_x + 12,
            middle + 16 * (n + 1) - 14 * len(products) / 2,
            ("" if n == 0 else "+ ") + text,
            "start",
        )
        for n, text in enumerate(products)
    ]
    return Figure(
        "A product of matrices in blocks",
        f"A has {rows} by {inner} blocks, B has {inner} by {columns}, C has {rows} by {columns}. "
        f"Block C{row}{column} is {' + '.join(products)}.",
        "Blocks multiply as numbers do: equal colours meet, and their products add up to one block "
        "of C. If the coloured blocks lie on one device, it needs nobody; if on several, each has "
        "one term of the sum.",
        _TOP + high + 10,
        tuple(shapes),
    )
