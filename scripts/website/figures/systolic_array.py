"""A systolic array at work: which row of the input each cell is busy with, cycle by cycle."""

from __future__ import annotations

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, labelled, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import SHEET

SIDE, ROWS = 4, 3
_CELL, _SHOWN = 26.0, (0, 2, 4, 6, 8)
SECONDS = 0.48  # a cycle, when the picture moves; all of them take less than five seconds


def row_in_cell(cycle: int, down: int, across: int) -> int | None:
    """The row of the input in a cell, counted from 0, None when idle; it moves on each cycle."""
    row = cycle - down - across
    return row if 0 <= row < ROWS else None


def cycles(side: int = SIDE, rows: int = ROWS) -> int:
    """Cycles until the last product is done: the rows, and the way through the array."""
    return rows + 2 * (side - 1)


def busy(cycle: int) -> int:
    """How many cells work in a cycle."""
    return sum(row_in_cell(cycle, i, j) is not None for i in range(SIDE) for j in range(SIDE))


def figure(moving: bool = False) -> Figure:
    """Five moments of a 4 by 4 array as three rows pass; all nine in motion if `moving`."""
    if moving:
        return _moving()
    shapes = []
    for number, cycle in enumerate(_SHOWN):
        left = 12 + number * (SIDE * _CELL + 22)
        shapes.append(words(left + SIDE * _CELL / 2, 18, f"cycle {cycle + 1}", kind="fb-strong"))
        shapes += [_cell(left, cycle, i, j) for i in range(SIDE) for j in range(SIDE)]
        done = f"{busy(cycle)} of {SIDE * SIDE} busy"
        shapes.append(words(left + SIDE * _CELL / 2, 48 + SIDE * _CELL, done, kind="fb-small"))
    share = ROWS / cycles()
    moments = "; ".join(f"in cycle {cycle + 1} {busy(cycle)} cells" for cycle in _SHOWN)
    return Figure(
        f"{ROWS} rows keep {SIDE} by {SIDE} cells busy {percent(share)} of {cycles()} cycles",
        f"{SIDE} by {SIDE} cells, each holding one weight; {ROWS} rows of input pass through. Busy "
        f"are: {moments}. After {cycles()} cycles all is done, and a cell has worked for "
        f"{percent(share)} of them.",
        "The number in a cell is the row of the input that it multiplies by its weight. Rows enter "
        "at the top left as a slanting wave, because each number reaches the next cell one cycle "
        "later. A hollow cell waits.",
        60 + SIDE * _CELL,
        tuple(shapes),
        readings=tuple(
            FigureValue("busy cells", f"cycle {cycle + 1}", busy(cycle))
            for cycle in range(cycles())
        ),
    )


def _moving() -> Figure:
    """One array; a number comes in from the left, stays for a cycle, and goes on."""
    size, left = 44.0, 12.0  # at the left, so that the sheet of a phone shows the same
    shapes = [
        box(left + j * size, 10 + i * size, size, size, "fb-hollow")
        for i in range(SIDE)
        for j in range(SIDE)
    ]
    for cycle in range(cycles()):
        for i in range(SIDE):
            for j in range(SIDE):
                row = row_in_cell(cycle, i, j)
                if row is not None:
                    drawn = labelled(
                        (left + j * size, 10 + i * size, size, size), str(row + 1), f"c{row}"
                    )
                    style = f"--fb-dx:{-size:g}px;--fb-wait:{cycle * SECONDS:.3g}s"
                    shapes.append(f'<g class="fb-visit" style="{style}">{drawn}</g>')
    return Figure(
        "A systolic array in motion",
        f"{ROWS} rows of input pass through {SIDE} by {SIDE} cells in {cycles()} cycles, as a "
        "slanting wave from the upper left to the lower right.",
        "The same nine cycles in motion, half a second each. Close and open the box to see them "
        "again; where motion is switched off the cells stay empty, and the still pictures above "
        "show the same.",
        20 + SIDE * size,
        tuple(shapes),
        narrow=Sheet(SHEET, 20 + SIDE * size, tuple(shapes)),
    )


def _cell(left: float, cycle: int, down: int, across: int) -> str:
    place = (left + across * _CELL, 28 + down * _CELL, _CELL, _CELL)
    row = row_in_cell(cycle, down, across)
    return box(*place, "fb-hollow") if row is None else labelled(place, str(row + 1), f"c{row}")
