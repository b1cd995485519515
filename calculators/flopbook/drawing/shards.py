"""Which device holds which block of an array: a grid of blocks, in letters and as a picture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Any, NamedTuple

from flopbook.drawing.markup import escape
from flopbook.drawing.pictures import Picture
from flopbook.evaluation.answers import columns, counted
from flopbook.sharding.blocks import Mesh, blocks, cutting, devices, holders, local_shape
from flopbook.sharding.notation import (
    Layout,
    read_array,
    read_layout,
    read_mesh,
    read_product,
    read_sizes,
)

MOST_ROWS, MOST_COLUMNS = 16, 8
LISTED = 3  # devices of a block that are named where there are many more
WIDTH, ROW, TITLE, HEAD, GAP = 640, 24, 20, 18, 12
NUMBERED = "devices that hold each block, the last axis of the mesh counted fastest"
CHARACTER = 6.2  # width of a digit of the smallest text
# Neighbouring blocks differ in shade. Both keep their contrast with the dark text, on a light and
# on a dark page.
STYLE = (
    "<style>.fb-shard rect{stroke:#ffffff;stroke-width:1}"
    ".fb-shard-0{fill:var(--fb-shard-0,#cfe3f3)}"
    ".fb-shard-1{fill:var(--fb-shard-1,#ffd9bd)}.fb-shard text{font:11px sans-serif}"
    ".fb-shard .fb-on-shard{fill:var(--fb-on-shard,#222222)}"
    ".fb-shard .fb-name{fill:var(--md-default-fg-color,#222222)}"
    "@media (prefers-color-scheme:dark){"
    ".fb-shard .fb-name{fill:var(--md-default-fg-color,#e8e8e8)}}</style>"
)


class Grid(NamedTuple):
    """The blocks of an array: coordinates of rows and columns, and the devices of each block.

    `cut` says how much of it is shown, empty where all is.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    words: str
    cut: str

    @property
    def headed(self) -> bool:
        """Whether the columns have coordinates: not where the last dimension is whole."""
        return any(self.columns)


def picture(name: str, values: Mapping[str, Any]) -> Picture:
    """The blocks of every array that the inputs of `shard` or `sharded-matmul` name.

    Raises FlopbookError.
    """
    mesh = read_mesh(values["mesh"])
    arrays = [(layout.on(mesh), shape) for layout, shape in _arrays(name, values)]
    grids = [grid(layout, shape, mesh) for layout, shape in arrays]
    title = f"{', '.join(shown.title for shown in grids)} on the mesh {values['mesh']}"

    def text(width: int) -> str:
        tables = [_text(layout, shape, mesh, width) for layout, shape in arrays]
        return "\n\n".join([NUMBERED, *tables])

    return Picture(text=text, svg=lambda standalone: _svg(grids, title, standalone))


def _arrays(name: str, values: Mapping[str, Any]) -> list[tuple[Layout, Sequence[int]]]:
    """Each array with its global shape."""
    if name == "shard":
        return [(read_layout(values["layout"]), read_array(values["array"])[1])]
    sizes = read_sizes(values["dims"])
    return [
        (layout, [sizes[dim] for dim in layout.dims]) for layout in read_product(values["product"])
    ]


def grid(
    layout: Layout, shape: Sequence[int], mesh: Mesh, most_columns: int = MOST_COLUMNS
) -> Grid:
    """The blocks of an array, all dimensions but the last as rows.

    Raises FlopbookError where one does not divide.
    """
    local = local_shape(shape, layout, mesh)
    counts = blocks(layout, mesh)
    tall, wide = prod(counts[:-1]), counts[-1]
    # No more than MOST_ROWS indices of any dimension can be among the first MOST_ROWS rows.
    upper_indices = product(*(range(min(count, MOST_ROWS)) for count in counts[:-1]))
    rows = list(islice(upper_indices, MOST_ROWS))
    across = range(min(wide, most_columns))
    copies = devices(mesh) // (tall * wide)
    kind = "a term of each on" if layout.partial else "each on"
    sides = " x ".join(f"{side:,}" for side in local)
    cut = ""
    if (len(rows), len(across)) != (tall, wide):
        columns_shown = f"{len(across)} of {counted(wide, 'column')}"
        cut = f"shown: {len(rows)} of {tall:,} rows and {columns_shown}"
    return Grid(
        title=str(layout),
        rows=tuple(_row_name(layout, mesh, row) for row in rows),
        columns=tuple(_coordinates(layout.cuts[-1], mesh, column) for column in across),
        cells=tuple(_cells(layout, mesh, row, across) for row in rows),
        words=f"{counted(tall * wide, 'block')} of {sides}, {kind} {counted(copies, 'device')}",
        cut=cut,
    )


def _row_name(layout: Layout, mesh: Mesh, row: Sequence[int]) -> str:
    """The coordinates of a row: of all dimensions but the last."""
    names = [_coordinates(layout.cuts[dim], mesh, index) for dim, index in enumerate(row)]
    return " ".join(names).strip()


def _cells(layout: Layout, mesh: Mesh, row: tuple[int, ...], across: range) -> tuple[str, ...]:
    return tuple(_devices(layout, mesh, (*row, column)) for column in across)


def _coordinates(axes: Sequence[str], mesh: Mesh, index: int) -> str:
    """The coordinates of a block, such as X1 Y0."""
    return " ".join(f"{axis}{place}" for axis, place in cutting(axes, mesh, index).items())


def _devices(layout: Layout, mesh: Mesh, block: Sequence[int]) -> str:
    """The devices of a block: all of a few, the first ones and the number of many."""
    copies = devices(mesh) // prod(blocks(layout, mesh))
    # To leave out a single device would save nothing.
    named = copies if copies <= LISTED + 1 else LISTED
    first = ", ".join(str(device) for device in islice(holders(layout, mesh, block), named))
    return first if named == copies else f"{first} ... ({copies:,})"


def _text(layout: Layout, shape: Sequence[int], mesh: Mesh, width: int) -> str:
    """An array as a table of device numbers, with as many columns of blocks as fit the width."""
    for most_columns in range(MOST_COLUMNS, 0, -1):
        shown = grid(layout, shape, mesh, most_columns)
        table = _table(shown)
        if max(map(len, table.splitlines())) <= width:
            break  # else one column is printed, however wide it is
    lines = [f"{shown.title}: {shown.words}", table]
    if shown.cut:
        lines.append(f"  {shown.cut}")
    return "\n".join(lines)


def _table(shown: Grid) -> str:
    rows = [(name, *cells) for name, cells in zip(shown.rows, shown.cells, strict=True)]
    head = ("", *shown.columns) if shown.headed else None
    return columns(rows, indent="  ", head=head)


def _svg(grids: Sequence[Grid], title: str, standalone: bool) -> str:
    """The same tables as a picture, one below the other."""
    elements, height = [], 0.0
    for shown in grids:
        drawn, grid_height = _drawn(shown, height)
        elements += drawn
        height += grid_height + GAP
    # Several pictures may stand on one page, and an id there is unique.
    element_id = "fb-shard-" + re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    size, style = "", ""
    if standalone:
        size = f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        style = STYLE
    return (
        f'<svg {size}viewBox="0 0 {WIDTH} {height:g}" role="img" class="fb-svg fb-shard" '
        f'aria-labelledby="{element_id}-t {element_id}-d">'
        f'<title id="{element_id}-t">{escape(title)}</title>'
        f'<desc id="{element_id}-d">{escape(description(grids))}</desc>'
        f"{style}{''.join(elements)}</svg>"
    )


def description(grids: Sequence[Grid]) -> str:
    """The picture in words."""
    return " ".join(
        f"{shown.title}: {shown.words}. The first block is on {shown.cells[0][0]}, "
        f"the last one shown on {shown.cells[-1][-1]}."
        for shown in grids
    )


def _drawn(shown: Grid, top: float) -> tuple[list[str], float]:
    """The elements of one array from a height on, and the height that they take."""
    left = max(8.0, max(len(name) for name in shown.rows) * CHARACTER + 12)
    cell_width = (WIDTH - left) / len(shown.columns)
    caption = f"{shown.title}: {shown.words}"
    if shown.cut:
        caption += f"; {shown.cut}"
    elements = [_label(0, top + 14, caption)]
    first_row = top + TITLE
    if shown.headed:
        first_row += HEAD
        for number, name in enumerate(shown.columns):
            if name:
                middle = left + (number + 0.5) * cell_width
                elements.append(_label(middle, first_row - 5, name, "middle"))
    for number, cells in enumerate(shown.cells):
        y = first_row + number * ROW
        if shown.rows[number]:
            elements.append(_label(left - 6, y + 16, shown.rows[number], "end"))
        for column, cell in enumerate(cells):
            x = left + column * cell_width
            elements += _cell(cell, (x, y, cell_width), shade=(column + number) % 2)
    return elements, first_row - top + ROW * len(shown.rows)


def _cell(cell: str, box: tuple[float, float, float], shade: int) -> list[str]:
    """One block, its devices in a tooltip and, if they fit, on it; `box` is x, y and width."""
    x, y, width = box
    elements = [
        f'<rect class="fb-shard-{shade}" x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" '
        f'height="{ROW}"><title>{escape(cell)}</title></rect>'
    ]
    if len(cell) * CHARACTER <= width:
        elements.append(_label(x + width / 2, y + 16, cell, "middle", "fb-on-shard"))
    return elements


def _label(x: float, y: float, text: str, anchor: str = "start", kind: str = "fb-name") -> str:
    return (
        f'<text class="{kind}" x="{x:.5g}" y="{y:.5g}" text-anchor="{anchor}">{escape(text)}</text>'
    )
