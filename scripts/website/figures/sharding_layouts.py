"""Layouts of one array on a mesh, side by side: which device holds which block."""

from __future__ import annotations

from flopbook.drawing.shards import Grid, description, grid
from flopbook.sharding.notation import read_array, read_layout, read_mesh
from scripts.website.figures.drawing import WIDTH, Figure, box, words

SIDE, HEAD, GAP = 132.0, 40.0, 28.0


def figure(
    array: str = "bf16[8,8]",
    mesh: str = "X=2,Y=2",
    layouts: str = "A[I, J]; A[I_X, J]; A[I_X, J_Y]; A[I_XY, J]",
) -> Figure:
    """The blocks of an array of two dimensions in each layout; layouts are separated by semicolons.

    Raises FlopbookError for what the calculator `shard` would refuse.
    """
    names, shape = read_mesh(mesh), read_array(array)[1]
    grids = [grid(read_layout(text.strip()).on(names), shape, names) for text in layouts.split(";")]
    step = min(SIDE + GAP, (WIDTH + GAP - 8) / len(grids))
    shapes = [
        shape_text
        for number, layout in enumerate(grids)
        for shape_text in _panel(layout, 4 + number * step, step - GAP)
    ]
    return Figure(
        "An axis that cuts makes blocks, an axis that does not makes copies",
        description(grids),
        f"Layouts of {array} on the mesh {mesh}. Each square is the whole array. A field is a "
        "block, and the numbers in it are the devices that hold it, counted with the last axis "
        "of the mesh fastest.",
        HEAD + SIDE + 8,
        tuple(shapes),
    )


def _panel(layout: Grid, left: float, side: float) -> list[str]:
    """One layout: its name, the bytes' share in words, and its blocks."""
    rows, columns = len(layout.cells), len(layout.cells[0])
    count = rows * columns
    under = f"{count} {'block' if count == 1 else 'blocks'}"
    shapes = [
        words(left + side / 2, 16, layout.title, kind="fb-strong"),
        words(left + side / 2, 32, under, kind="fb-small"),
    ]
    high, wide = SIDE / rows, side / columns
    for row, cells in enumerate(layout.cells):
        for column, cell in enumerate(cells):
            colour = (row * columns + column) % 4
            x, y = left + column * wide, HEAD + row * high
            shapes.append(box(x, y, wide, high, f"fb-c{colour}", cell))
            shapes.append(words(x + wide / 2, y + high / 2 + 4, cell, kind=f"fb-on{colour}"))
    return shapes
