"""Which device of a mesh holds which block of an array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from flopbook.errors import FlopbookError
from flopbook.sharding.notation import MOST_BYTES, Layout

Mesh = Mapping[str, int]


def devices(mesh: Mesh) -> int:
    """How many devices a mesh has."""
    return prod(mesh.values())


def ways(mesh: Mesh, axes: Iterable[str]) -> int:
    """Into how many pieces some axes cut."""
    return prod(mesh[axis] for axis in axes)


def blocks(layout: Layout, mesh: Mesh) -> tuple[int, ...]:
    """Into how many blocks each dimension is cut."""
    return tuple(ways(mesh, axes) for axes in layout.cuts)


def local_shape(shape: Sequence[int], layout: Layout, mesh: Mesh) -> tuple[int, ...]:
    """The shape of the block of one device.

    Raises FlopbookError where a dimension does not divide.
    """
    if len(shape) != len(layout.dims):
        raise FlopbookError(
            f"{layout} has {len(layout.dims)} dimensions, and the array {len(shape)}"
        )
    local = []
    for size, dim, axes in zip(shape, layout.dims, layout.cuts, strict=True):
        count = ways(mesh, axes)
        if size % count:
            cut = " * ".join(f"{axis}={mesh[axis]}" for axis in axes)
            raise FlopbookError(
                f"{layout}: {dim} of {size:,} does not divide into {count:,} blocks ({cut})"
            )
        local.append(size // count)
    return tuple(local)


def array_bytes(shape: Iterable[int], width: float) -> float:
    """Bytes of an array. Raises FlopbookError for more than any machine holds."""
    size = prod(shape) * width
    if size > MOST_BYTES:
        raise FlopbookError(
            f"an array of {size:.3g} bytes is not plausible; at most {MOST_BYTES:g}"
        )
    return size


def coordinates(mesh: Mesh, device: int) -> dict[str, int]:
    """Where a device stands on each axis; the last axis is the fastest."""
    position: dict[str, int] = {}
    for axis in reversed([*mesh]):
        device, position[axis] = divmod(device, mesh[axis])
    return {axis: position[axis] for axis in mesh}


def number(mesh: Mesh, position: Mapping[str, int]) -> int:
    """The device at some coordinates."""
    device = 0
    for axis, size in mesh.items():
        device = device * size + position[axis]
    return device


def place(layout: Layout, mesh: Mesh, position: Mapping[str, int]) -> tuple[int, ...]:
    """Which block, in each dimension, the device at some coordinates holds."""
    return tuple(number(submesh(mesh, axes), position) for axes in layout.cuts)


def submesh(mesh: Mesh, axes: Iterable[str]) -> dict[str, int]:
    """Some axes of a mesh, in the order in which they are named: the first is the slowest."""
    return {axis: mesh[axis] for axis in axes}


def cutting(axes: Iterable[str], mesh: Mesh, index: int) -> dict[str, int]:
    """The coordinates on the axes of a dimension whose devices hold its block of this index."""
    return coordinates(submesh(mesh, axes), index)


def holders(layout: Layout, mesh: Mesh, block: Sequence[int]) -> Iterator[int]:
    """The devices that hold a block, or a term of it, in order."""
    fixed: dict[str, int] = {}
    for axes, index in zip(layout.cuts, block, strict=True):
        fixed |= cutting(axes, mesh, index)
    free = {axis: size for axis, size in mesh.items() if axis not in fixed}
    for copy in range(devices(free)):
        yield number(mesh, {**fixed, **coordinates(free, copy)})
