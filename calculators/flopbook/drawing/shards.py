"""Which device holds which block of an array: a grid of blocks, in letters and as a picture."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from flopbook.drawing.markup import escape, slug
from flopbook.drawing.pictures import Picture
from flopbook.evaluation.answers import columns, counted, example
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
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
LISTED = 3  # devices of a block that are named one by one
WIDTH, ROW, TITLE, HEAD, GAP = 640, 24, 20, 18, 12
NUMBERED = "devices that hold each block, the last axis of the mesh counted fastest"
CHARACTER = 6.2  # width of a digit of the smallest text
# Neighbouring blocks differ in shade. Both keep their contrast with the dark text, on a light and
# on a dark page.
STYLE = (
    "<style>.fb-shard rect{stroke:#ffffff;stroke-width:1}.fb-shard-0{fill:var(--fb-shard-0,#cfe3f3)}"
    ".fb-shard-1{fill:var(--fb-shard-1,#ffd9bd)}.fb-shard text{font:11px sans-serif}"
    ".fb-shard .fb-on-shard{fill:var(--fb-on-shard,#222222)}.fb-shard .fb-name{fill:var(--md-default-fg-color,#222222)}"
    "@media (prefers-color-scheme:dark){.fb-shard .fb-name{fill:var(--md-default-fg-color,#e8e8e8)}}</style>"
)


class Grid(NamedTuple):
    """The blocks of an array: coordinates of rows and columns, devices of each block.

    `cut` says what is left out.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    words: str
    cut: str


def picture(name: str, values: Mapping[str, Any]) -> Picture:
    """The blocks of every array that the inputs of `shard` or `sharded-matmul` name.

    Raises FlopbookError.
    """
    mesh = read_mesh(values["mesh"])
    if name == "shard":
        arrays = [(read_layout(values["layout"]), read_array(values["array"])[1])]
    else:
        sizes = read_sizes(values["dims"])
        arrays = [
            (layout, [sizes[dim] for dim in layout.dims])
            for layout in read_product(values["product"])
        ]
    placed = [(layout.on(mesh), shape) for layout, shape in arrays]
    grids = [grid(layout, shape, mesh) for layout, shape in placed]
    title = f"{', '.join(one.title for one in grids)} on the mesh {values['mesh']}"
    return Picture(
        text=lambda width: "\n\n".join(
            [NUMBERED, *(_text(layout, shape, mesh, width) for layout, shape in placed)]
        ),
        svg=lambda standalone: _svg(grids, title, standalone),
    )


def grid(
    layout: Layout, shape: Sequence[int], mesh: Mesh, most_columns: int = MOST_COLUMNS
) -> Grid:
    """The blocks of an array, all dimensions but the last as rows.

    Raises FlopbookError where one does not divide.
    """
    local = local_shape(shape, layout, mesh)
    counts = blocks(layout, mesh)
    tall, wide = prod(counts[:-1]), counts[-1]
    upper = list(
        itertools.islice(
            itertools.product(*(range(min(n, MOST_ROWS)) for n in counts[:-1])), MOST_ROWS
        )
    )
    across = range(min(wide, most_columns))
    held = devices(mesh) // (tall * wide)
    kind = "a term of each on" if layout.partial else "each on"
    cut = f"shown: {len(upper)} of {tall:,} rows and {len(across)} of {counted(wide, 'column')}"
    return Grid(
        str(layout),
        tuple(
            " ".join(_where(layout.cuts[n], mesh, i) for n, i in enumerate(row)).strip()
            for row in upper
        ),
        tuple(_where(layout.cuts[-1], mesh, index) for index in across),
        tuple(
            tuple(_devices(layout, mesh, (*row, index), held) for index in across) for row in upper
        ),
        f"{counted(tall * wide, 'block')} of {' x '.join(f'{side:,}' for side in local)}, {kind} "
        f"{counted(held, 'device')}",
        cut if (len(upper), len(across)) != (tall, wide) else "",
    )


def _where(axes: Sequence[str], mesh: Mesh, index: int) -> str:
    """The coordinates of a block, such as X1 Y0."""
    return " ".join(f"{axis}{at}" for axis, at in cutting(axes, mesh, index).items())


def _devices(layout: Layout, mesh: Mesh, block: Sequence[int], held: int) -> str:
    """The devices of a block: all of a few, the first ones and the number of many."""
    first = ", ".join(str(one) for one in itertools.islice(holders(layout, mesh, block), LISTED))
    return first if held <= LISTED else f"{first} ... ({held:,})"


def _text(layout: Layout, shape: Sequence[int], mesh: Mesh, width: int) -> str:
    """An array as a table of device numbers, with as many columns of blocks as fit the width."""
    text = ""
    for most in range(MOST_COLUMNS, 0, -1):
        one = grid(layout, shape, mesh, most)
        rows = [(head, *cells) for head, cells in zip(one.rows, one.cells, strict=True)]
        table = columns(rows, indent="  ", head=("", *one.columns) if any(one.columns) else None)
        text = "\n".join(
            [f"{one.title}: {one.words}", table, *([f"  {one.cut}"] if one.cut else [])]
        )
        if max(map(len, table.splitlines())) <= width:
            break
    return text


def _svg(grids: Sequence[Grid], title: str, standalone: bool) -> str:
    """The same tables as a picture, one below the other."""
    parts, top = [], 0.0
    for one in grids:
        drawn, height = _drawn(one, top)
        parts += drawn
        top += height + GAP
    key = f"fb-shard-{slug(title)}"
    head = (
        f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top:g}" '
        if standalone
        else ""
    )
    return (
        f'<svg {head}viewBox="0 0 {WIDTH} {top:g}" role="img" class="fb-svg fb-shard" '
        f'aria-labelledby="{key}-t {key}-d"><title id="{key}-t">{escape(title)}</title>'
        f'<desc id="{key}-d">{escape(description(grids))}</desc>{STYLE if standalone else ""}{"".join(parts)}</svg>'
    )


def description(grids: Sequence[Grid]) -> str:
    """The picture in words."""
    return " ".join(
        f"{one.title}: {one.words}. The first block is on {one.cells[0][0]}, the last one shown on {one.cells[-1][-1]}."
        for one in grids
    )


def _drawn(one: Grid, top: float) -> tuple[list[str], float]:
    """The parts of one array from a height on, and the height that they take."""
    left = max(8.0, max(len(head) for head in one.rows) * CHARACTER + 12)
    wide = (WIDTH - left) / len(one.columns)
    parts = [_label(0, top + 14, f"{one.title}: {one.words}{'; ' if one.cut else ''}{one.cut}")]
    under = top + TITLE + (HEAD if any(one.columns) else 0)
    parts += [
        _label(left + (n + 0.5) * wide, under - 5, head, "middle")
        for n, head in enumerate(one.columns)
        if head
    ]
    for number, (head, cells) in enumerate(zip(one.rows, one.cells, strict=True)):
        y = under + number * ROW
        parts += [_label(left - 6, y + 16, head, "end")] if head else []
        for n, cell in enumerate(cells):
            x = left + n * wide
            parts.append(
                f'<rect class="fb-shard-{(n + number) % 2}" x="{x:.5g}" y="{y:.5g}" width="{wide:.5g}" '
                f'height="{ROW}"><title>{escape(cell)}</title></rect>'
            )
            if len(cell) * CHARACTER <= wide:
                parts.append(_label(x + wide / 2, y + 16, cell, "middle", "fb-on-shard"))
    return parts, under - top + ROW * len(one.rows)


def _label(x: float, y: float, text: str, anchor: str = "start", kind: str = "fb-name") -> str:
    return (
        f'<text class="{kind}" x="{x:.5g}" y="{y:.5g}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def section(name: str) -> list[str]:
    """The part of the page with a picture of each example."""
    lines = [
        "## Which device holds what\n",
        "A cell is a block; the numbers in it are the devices that hold it, counted with the last axis of the mesh "
        "fastest. Rows and columns are named by the coordinates on the axes that cut them.\n",
        STYLE + "\n",
    ]
    formula = get_formula(name)
    for number, options in enumerate(formula.examples):
        result = calculate(name, **{key.replace("-", "_"): value for key, value in options.items()})
        drawn = picture(name, {key: item.value for key, item in result.inputs.items()})
        caption = f"<code>{escape(example(formula, number))}</code>"
        lines.append(
            f'<figure class="fb-figure">{drawn.svg(False)}<figcaption>{caption}</figcaption></figure>\n'
        )
    return lines
