"""What each device of a mesh holds of an array, one small copy of the array for each device."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.sharding.blocks import Mesh, blocks, coordinates, devices, local_shape, place
from flopbook.sharding.notation import Layout, read_array, read_layout, read_mesh
from scripts.website.figures.drawing import WIDTH, Figure, box, path, titled, words
from scripts.website.figures.plotted import Point

NINE = (
    "A[I, J]; A[I_X, J]; A[I, J_X]; A[I_Y, J]; A[I_XY, J]; A[I_Y, J_X]; A[I, J_Y]; A[I_X, J_Y]; "
    "A[I, J_XY]"
)
MOST_DEVICES, MOST_SIDE = 8, 8
ENTRIES = 20.0  # entries are written in cells of so many pixels or more
_HEAD, _GAP, _FOOT = 40.0, 18.0, 16.0
_SIDE = 56.0  # pixels of an array at most, unless a panel has a row for itself
_WIDE_CELL = 30.0  # pixels of a cell at most where it has


class Drawn(NamedTuple):
    """What all panels have in common: the mesh, the shape of the array, and its side in pixels."""

    mesh: Mesh
    shape: tuple[int, ...]
    side: float


def figure(
    array: str = "bf16[4,4]", mesh: str = "X=2,Y=2", layouts: str = NINE, across: int = 3
) -> Figure:
    """A panel for each layout, `across` of them in a row; the first axis of the mesh goes down.

    Raises FlopbookError for what the calculator `shard` would refuse, and for meshes or arrays too
    large to be seen.
    """
    axes, shape = _readable(mesh, array)
    panels = [read_layout(text.strip()).on(axes) for text in layouts.split(";")]
    down, right = axes.values()
    width = WIDTH / across
    most = _WIDE_CELL * max(shape) if across == 1 else _SIDE
    side = min((width - 24 - _GAP * (right - 1)) / right, most)
    height = _HEAD + down * (side + _FOOT) + 14
    drawn = Drawn(axes, shape, side)
    shapes: list[str] = []
    for number, layout in enumerate(panels):
        row, column = divmod(number, across)
        middle, top = width * column + width / 2, height * row
        shapes += titled(middle, top + 16, str(layout), _facts(layout, drawn))
        shapes += _panel(layout, drawn, middle, top + _HEAD)
    facts = "; ".join(f"{layout}: {_facts(layout, drawn)}" for layout in panels)
    return Figure(
        _finding(panels, drawn),
        f"Each of {devices(axes)} devices is drawn with a copy of the array in which its block is "
        f"filled. {facts}.",
        f"The array {array} on the mesh {mesh}. Each small square is the whole array as one device "
        "sees it, filled where the device holds it. Under it: the number of the device and its "
        f"place on {' and '.join(axes)}. Equal colours are equal blocks.",
        height * -(-len(panels) // across),
        tuple(shapes),
    )


def _finding(panels: list[Layout], drawn: Drawn) -> str:
    """What one layout puts on a device, or what several of them have in common."""
    if len(panels) > 1:
        return f"{len(panels)} layouts of one array: each axis of the mesh cuts it or copies it"
    entries = prod(local_shape(drawn.shape, panels[0], drawn.mesh))
    return f"{panels[0]} leaves {entries} of {prod(drawn.shape)} numbers on each device"


def _readable(mesh: str, array: str) -> tuple[Mesh, tuple[int, ...]]:
    """The axes of a mesh and the shape of an array that can be drawn."""
    axes, shape = read_mesh(mesh), read_array(array)[1]
    is_flat = len(axes) == 2 and len(shape) == 2
    if not is_flat or devices(axes) > MOST_DEVICES or max(shape) > MOST_SIDE:
        raise FlopbookError(
            f"drawn are two axes of at most {MOST_DEVICES} devices and sides of at most {MOST_SIDE}"
        )
    return axes, shape


def _facts(layout: Layout, drawn: Drawn) -> str:
    """How many entries a device holds, and in how many copies the array is there."""
    entries = prod(local_shape(drawn.shape, layout, drawn.mesh))
    copies = devices(drawn.mesh) // prod(blocks(layout, drawn.mesh))
    return f"{entries} on each, {copies} {'copy' if copies == 1 else 'copies'}"


def _panel(layout: Layout, drawn: Drawn, middle: float, top: float) -> Iterator[str]:
    """All devices, where they are on the mesh."""
    _, right = drawn.mesh.values()
    start = middle - (right * drawn.side + (right - 1) * _GAP) / 2
    for device in range(devices(drawn.mesh)):
        row, column = coordinates(drawn.mesh, device).values()
        corner = (start + column * (drawn.side + _GAP), top + row * (drawn.side + _FOOT))
        yield from _device(layout, drawn, device, corner)


def _device(layout: Layout, drawn: Drawn, device: int, corner: Point) -> Iterator[str]:
    """One device: an outline, its block, a grid, and its number with its coordinates."""
    mesh, shape, side = drawn
    x, y = corner
    at = coordinates(mesh, device)
    rows, columns = local_shape(shape, layout, mesh)
    i, j = place(layout, mesh, at)
    colour = (i * blocks(layout, mesh)[1] + j) % 4
    cell = side / shape[1]
    left, top = x + j * columns * cell, y + i * rows * cell
    yield box(x, y, side, side, "fb-hollow")
    yield box(left, top, columns * cell, rows * cell, f"fb-c{colour}")
    if cell >= ENTRIES:
        held = range(i * rows, (i + 1) * rows), range(j * columns, (j + 1) * columns)
        yield from _entries(corner, cell, held, f"fb-small fb-on{colour}")
    else:
        yield from _grid(corner, cell, shape, side)
    name = f"{device}: " + " ".join(f"{axis}{index}" for axis, index in at.items())
    yield words(x + side / 2, y + side + 11, name, kind="fb-small")


def _entries(corner: Point, cell: float, held: tuple[range, range], kind: str) -> Iterator[str]:
    """The entries of a block by row and column."""
    x, y = corner
    for row in held[0]:
        for column in held[1]:
            place_x, place_y = x + (column + 0.5) * cell, y + (row + 0.6) * cell
            yield words(place_x, place_y, f"{row}{column}", kind=kind)


def _grid(corner: Point, cell: float, shape: tuple[int, ...], side: float) -> Iterator[str]:
    x, y = corner
    rows, columns = shape
    for n in range(1, columns):
        yield path([(x + n * cell, y), (x + n * cell, y + side)], "fb-grid")
    for n in range(1, rows):
        yield path([(x, y + n * cell), (x + side, y + n * cell)], "fb-grid")
