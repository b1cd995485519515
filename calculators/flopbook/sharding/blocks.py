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
    for size, dim, axes in zip(shape, layout.dims, layout.cuts, strict=True):
        count = ways(mesh, axes)
        if size % count:
            cut = " * ".join(f"{axis}={mesh[axis]}" for axis in axes)
            raise FlopbookError(
                f"{layout}: {dim} of {size:,} does not divide into {count:,} blocks ({cut})"
            )
    return tuple(size // count for size, count in zip(shape, blocks(layout, mesh), strict=True))


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
    found: dict[str, int] = {}
    for axis in reversed(mesh):
        device, found[axis] = divmod(device, mesh[axis])
    return {axis: found[axis] for axis in mesh}


def number(mesh: Mesh, where: Mapping[str, int]) -> int:
    """The device at some coordinates."""
    found = 0
    for axis, size in mesh.items():
        found = found * size + where[axis]
    return found


def place(layout: Layout, mesh: Mesh, where: Mapping[str, int]) -> tuple[int, ...]:
    """Which block, in each dimension, the device at some coordinates holds."""
    return tuple(number({axis: mesh[axis] for axis in axes}, where) for axes in layout.cuts)


def cutting(axes: Iterable[str], mesh: Mesh, index: int) -> dict[str, int]:
    """The coordinates on the axes of a dimension whose devices hold its block of this index."""
    return coordinates({axis: mesh[axis] for axis in axes}, index)


def holders(layout: Layout, mesh: Mesh, block: Sequence[int]) -> Iterator[int]:
    """The devices that hold a block, or a term of it, in order."""
    fixed: dict[str, int] = {}
    for axes, index in zip(layout.cuts, block, strict=True):
        fixed |= cutting(axes, mesh, index)
    free = {axis: size for axis, size in mesh.items() if axis not in fixed}
    for copy in range(devices(free)):
        yield number(mesh, {**fixed, **coordinates(free, copy)})
