"""The named-axis notation of meshes, arrays, layouts and their products.

A mesh is `X=4,Y=8`, an array `bf16[256,2048]`, a layout `A[I_XY, J] {U_Z}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.quantities.choices import choice
from flopbook.quantities.dtypes import BLOCK_DTYPES, DTYPE_BYTES
from flopbook.quantities.units import UnitError, parse_quantity

# Beyond these a number is a slip of the keyboard, not a machine.
MOST_DEVICES = 10**7
LONGEST_SIDE = 10**12
MOST_BYTES = 1e18
MOST_DIMENSIONS = 8

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_ARRAY = re.compile(r"\s*([A-Za-z0-9]+)\s*\[([^\[\]]*)\]\s*")
# A name, its dimensions in brackets, and perhaps partial sums in braces: A[I_X, J] {U_Z}.
_LAYOUT = re.compile(r"\s*([A-Za-z]\w*)\s*\[([^\[\]]*)\]\s*(?:\{\s*(.*?)\s*\})?\s*")
# Axes after an underscore, in braces as in LaTeX or without: J_XY, J_{XY}, J_{X, Y}.
_DIMENSION = re.compile(r"([A-Za-z][A-Za-z0-9]*)(?:_(?:\{([A-Za-z, ]+)\}|([A-Za-z]+)))?")
_PARTIAL = re.compile(r"U_(?:\{([A-Za-z, ]+)\}|([A-Za-z]+))")
# A comma inside braces separates axes, not dimensions.
_BETWEEN_DIMENSIONS = re.compile(r",(?![^{]*\})")


class Layout(NamedTuple):
    """How an array lies on a mesh: for each dimension the mesh axes that cut it, the slowest first.

    Along the axes of `partial` devices hold terms of a sum, not copies.
    """

    name: str
    dims: tuple[str, ...]
    cuts: tuple[tuple[str, ...], ...]
    partial: tuple[str, ...] = ()

    def __str__(self) -> str:
        pairs = zip(self.dims, self.cuts, strict=True)
        dims = ", ".join(_with_subscript(dim, axes) for dim, axes in pairs)
        if not self.partial:
            return f"{self.name}[{dims}]"
        return f"{self.name}[{dims}] {{{_with_subscript('U', self.partial)}}}"

    def axes(self, dim: str) -> tuple[str, ...]:
        """The mesh axes that cut a dimension."""
        return self.cuts[self.dims.index(dim)]

    @property
    def spent(self) -> tuple[str, ...]:
        """All axes that cut some dimension."""
        return tuple(axis for axes in self.cuts for axis in axes)

    def cut(self, dim: str, axes: tuple[str, ...]) -> Layout:
        """The same layout with a dimension cut by other axes."""
        place = self.dims.index(dim)
        return self._replace(cuts=(*self.cuts[:place], axes, *self.cuts[place + 1 :]))

    def on(self, mesh: Mapping[str, int]) -> Layout:
        """The layout without axes of one device, which cut nothing.

        Raises FlopbookError for an unknown axis.
        """
        for axis in (*self.spent, *self.partial):
            if axis not in mesh:
                raise FlopbookError(
                    f"{self}: the mesh has no axis {axis}; it has {', '.join(mesh)}"
                )
        cuts = tuple(_longer(axes, mesh) for axes in self.cuts)
        return self._replace(cuts=cuts, partial=_longer(self.partial, mesh))


def _with_subscript(name: str, axes: tuple[str, ...]) -> str:
    return f"{name}_{''.join(axes)}" if axes else name


def _longer(axes: tuple[str, ...], mesh: Mapping[str, int]) -> tuple[str, ...]:
    """The axes of more than one device."""
    return tuple(axis for axis in axes if mesh[axis] > 1)


def read_mesh(text: str) -> dict[str, int]:
    """A mesh such as `X=4,Y=8,Z=2`: one letter for each axis. Raises FlopbookError."""
    mesh = _read_sizes("mesh", text, MOST_DEVICES)
    devices = 1
    for axis, size in mesh.items():
        devices *= size
        if len(axis) > 1:
            raise FlopbookError(
                f"mesh: axis '{shorten(axis)}' has a long name; one letter names an axis: X=4,Y=8"
            )
        # At once: the product of fifty axes is no double, and cannot be written as one.
        if devices > MOST_DEVICES:
            raise FlopbookError(
                f"mesh: {devices:.3g} devices are not a plausible mesh; at most {MOST_DEVICES:,}"
            )
    return mesh


def read_sizes(text: str) -> dict[str, int]:
    """Sizes of dimensions such as `I=4096,J=8192`. Raises FlopbookError."""
    return _read_sizes("dims", text, LONGEST_SIDE)


def read_array(text: str) -> tuple[str, tuple[int, ...]]:
    """Number format and shape of an array such as `bf16[256,2048]`. Raises FlopbookError."""
    match = _ARRAY.fullmatch(text)
    if match is None:
        raise FlopbookError(
            f"array: '{shorten(text)}' is not a format and a shape, such as bf16[256,2048]"
        )
    dtype = choice(match[1], (*DTYPE_BYTES, *BLOCK_DTYPES))
    if dtype in BLOCK_DTYPES:
        raise FlopbookError(
            f"array: the width of {dtype} depends on its scales; write its values and scales apart"
        )
    if dtype not in DTYPE_BYTES:
        raise UnknownName("dtype", match[1], DTYPE_BYTES)
    sides = match[2].split(",")
    return dtype, tuple(_read_count("array", "a side", side, LONGEST_SIDE) for side in sides)


def read_layout(text: str) -> Layout:
    """A layout such as `A[I_XY, J]`, with ` {U_Z}` where devices along Z hold terms of a sum.

    Raises FlopbookError.
    """
    quoted = f"'{shorten(text)}'"
    for opening, closing in ("[]", "{}"):
        if text.count(opening) != text.count(closing):
            raise FlopbookError(f"layout {quoted}: {opening} and {closing} do not pair")
    match = _LAYOUT.fullmatch(text)
    if match is None:
        raise FlopbookError(
            f"layout {quoted} is not a name and its dimensions, "
            "such as A[I_XY, J] or A[I, J] {U_X}"
        )
    sides = _BETWEEN_DIMENSIONS.split(match[2])
    dimensions = [_read_dimension(side.strip(), quoted) for side in sides]
    partial = () if match[3] is None else _read_partial(match[3], quoted)
    dims, cuts = zip(*dimensions, strict=True)
    layout = Layout(match[1], dims, cuts, partial)
    _check_layout(layout)
    return layout


def read_product(text: str) -> tuple[Layout, Layout, Layout]:
    """Two factors and their result, such as `A[I, J_X] * B[J_X, K] -> C[I, K]`.

    Raises FlopbookError.
    """
    product, arrow, result = text.partition("->")
    factors = product.split("*")
    if not arrow or len(factors) != 2:
        raise FlopbookError(
            f"product '{shorten(text)}' is not two factors and a result, "
            "such as A[I, J_X] * B[J_X, K] -> C[I, K]"
        )
    layouts = read_layout(factors[0]), read_layout(factors[1]), read_layout(result)
    twice = _first_repeated([layout.name for layout in layouts])
    if twice:
        raise FlopbookError(f"product: two arrays are called {twice}")
    return layouts


def _read_dimension(text: str, quoted: str) -> tuple[str, tuple[str, ...]]:
    """A dimension and the axes that cut it; `quoted` is the layout, for the message."""
    match = _DIMENSION.fullmatch(text)
    if match is None:
        raise FlopbookError(
            f"layout {quoted}: '{shorten(text)}' is no dimension; write J, J_X or J_XY"
        )
    return match[1], _axes(match[2] or match[3])


def _read_partial(text: str, quoted: str) -> tuple[str, ...]:
    """The axes of `U_X`, along which devices hold terms of a sum."""
    match = _PARTIAL.fullmatch(text)
    if match is None:
        raise FlopbookError(
            f"layout {quoted}: '{{{shorten(text)}}}' names no partial sums; write {{U_X}}"
        )
    return _axes(match[1] or match[2])


def _axes(text: str | None) -> tuple[str, ...]:
    """The letters of a subscript, with or without commas between them."""
    return tuple(letter for letter in text or "" if letter not in ", ")


def _check_layout(layout: Layout) -> None:
    if len(layout.dims) > MOST_DIMENSIONS:
        raise FlopbookError(
            f"{layout.name} has {len(layout.dims)} dimensions; at most {MOST_DIMENSIONS}"
        )
    dim = _first_repeated(layout.dims)
    if dim:
        raise FlopbookError(f"layout {layout}: dimension {dim} is there twice")
    axis = _first_repeated((*layout.spent, *layout.partial))
    if axis:
        raise FlopbookError(
            f"layout {layout}: axis {axis} is there twice; an axis can cut one dimension only"
        )


def _first_repeated(names: Sequence[str]) -> str | None:
    return next((name for name in names if names.count(name) > 1), None)


def _read_sizes(kind: str, text: str, most: int) -> dict[str, int]:
    """Names and their sizes; `kind` says in messages what they are of."""
    sizes: dict[str, int] = {}
    for pair in text.split(","):
        name, equals, size = (word.strip() for word in pair.partition("="))
        if not (equals and _NAME.fullmatch(name)):
            example = "X=4,Y=8" if kind == "mesh" else "I=4096,J=8192"
            raise FlopbookError(
                f"{kind}: '{shorten(pair)}' is not a name and a size; write for example {example}"
            )
        if name in sizes:
            raise FlopbookError(f"{kind}: {name} is given twice")
        sizes[name] = _read_count(kind, name, size, most)
    return sizes


def _read_count(kind: str, name: str, text: str, most: int) -> int:
    """A size as people write it: 8192, 8k, 2_048. Raises FlopbookError."""
    try:
        count = parse_quantity(text.strip(), "1")
    except UnitError:
        raise FlopbookError(
            f"{kind}: {name} is '{shorten(text)}', expected a whole number of at least 1"
        ) from None
    # int() of infinity would raise, so the bound comes first.
    if not (1 <= count < float("inf") and count == int(count)):
        raise FlopbookError(
            f"{kind}: {name} is {count:.15g}, expected a whole number of at least 1"
        )
    if count > most:
        raise FlopbookError(
            f"{kind}: {name} is {count:.15g}, which is not a plausible size; at most {most:,}"
        )
    return int(count)
