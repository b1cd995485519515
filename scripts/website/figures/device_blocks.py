"""What each device of a mesh holds of an array, one small copy of the array for each device."""

from __future__ import annotations

from math import prod

from flopbook.errors import FlopbookError
from flopbook.sharding.blocks import Mesh, blocks, coordinates, devices, local_shape, place
from flopbook.sharding.notation import Layout, read_array, read_layout, read_mesh
from scripts.website.figures.drawing import WIDTH, Figure, box, path, words

NINE = (
    "A[I, J]; A[I_X, J]; A[I, J_X]; A[I_Y, J]; A[I_XY, J]; A[I_Y, J_X]; A[I, J_Y]; A[I_X, J_Y]; "
    "A[I, J_XY]"
)
MOST_DEVICES, MOST_SIDE, ENTRIES = (
    8,
    8,
    20.0,
)  # entries are written in cells of so many pixels or more
_HEAD, _GAP, _FOOT = 40.0, 18.0, 16.0


def figure(
    array: str = "bf16[4,4]", mesh: str = "X=2,Y=2", layouts: str = NINE, across: int = 3
) -> Figure:
    """A panel for each layout, `across` of them in a row; the first axis of the mesh goes down.

    Raises FlopbookError for what the calculator `shard` would refuse, and for meshes or arrays too
    large to be seen.
    """
    names, shape = read_mesh(mesh), read_array(array)[1]
    if (
        len(names) != 2
        or devices(names) > MOST_DEVICES
        or len(shape) != 2
        or max(shape) > MOST_SIDE
    ):
        raise FlopbookError(
            f"drawn are two axes of at most {MOST_DEVICES} devices and sides of at most {MOST_SIDE}"
        )
    panels = [read_layout(text.strip()).on(names) for text in layouts.split(";")]
    down, right = names.values()
    wide = WIDTH / across
    side = min((wide - 24 - _GAP * (right - 1)) / right, 30.0 * max(shape) if across == 1 else 56.0)
    high = _HEAD + down * (side + _FOOT) + 14
    shapes, told = [], []
    for number, layout in enumerate(panels):
        held = prod(local_shape(shape, layout, names))
        copies = devices(names) // prod(blocks(layout, names))
        facts = f"{held} on each, {copies} {'copy' if copies == 1 else 'copies'}"
        left, top = wide * (number % across), high * (number // across)
        middle = left + wide / 2
        shapes += [
            words(middle, top + 16, str(layout), kind="fb-strong"),
            words(middle, top + 32, facts, kind="fb-small"),
        ]
        start = middle - (right * side + (right - 1) * _GAP) / 2
        for device in range(devices(names)):
            at = coordinates(names, device)
            row, column = at.values()
            where = (start + column * (side + _GAP), top + _HEAD + row * (side + _FOOT))
            shapes += _device(layout, names, shape, device, where, side)
        told.append(f"{layout}: {facts}")
    rows = -(-len(panels) // across)
    return Figure(
        f"What each device holds of {array} on the mesh {mesh}",
        f"Each of {devices(names)} devices is drawn with a copy of the array in which its block is "
        f"filled. {'; '.join(told)}.",
        "Each small square is the whole array as one device sees it, filled where the device holds "
        f"it. Under it: the number of the device and its place on {' and '.join(names)}. Equal "
        "colours are equal blocks.",
        high * rows,
        tuple(shapes),
    )


def _device(
    layout: Layout,
    mesh: Mesh,
    shape: tuple[int, ...],
    device: int,
    where: tuple[float, float],
    side: float,
) -> list[str]:
    """One device: an outline, its block, a grid, and its number with its coordinates."""
    (x, y), at, (rows, columns) = where, coordinates(mesh, device), shape
    high, wide = local_shape(shape, layout, mesh)
    i, j = place(layout, mesh, at)
    colour = (i * blocks(layout, mesh)[1] + j) % 4
    cell = side / columns
    shapes = [box(x, y, side, side, "fb-hollow")]
    shapes.append(
        box(x + j * wide * cell, y + i * high * cell, wide * cell, high * cell, f"fb-c{colour}")
    )
    if cell >= ENTRIES:
        shapes += [
            words(
                x + (c + 0.5) * cell,
                y + (r + 0.6) * cell,
                f"{r}{c}",
                kind=f"fb-small fb-on{colour}",
            )
            for r in range(i * high, (i + 1) * high)
            for c in range(j * wide, (j + 1) * wide)
        ]
    else:
        shapes += [
            path([(x + n * cell, y), (x + n * cell, y + side)], "fb-grid")
            for n in range(1, columns)
        ]
        shapes += [
            path([(x, y + n * cell), (x + side, y + n * cell)], "fb-grid") for n in range(1, rows)
        ]
    text = f"{device}: " + " ".join(f"{axis}{place_}" for axis, place_ in at.items())
    return [*shapes, words(x + side / 2, y + side + 11, text, kind="fb-small")]
