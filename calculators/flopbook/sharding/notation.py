"""The named-axis notation: meshes `X=4,Y=8`, arrays `bf16[256,2048]`, layouts `A[I_XY, J] {U_Z}`
and their products.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.quantities.choices import choice
from flopbook.quantities.dtypes import BLOCK_DTYPES, DTYPE_BYTES
from flopbook.quantities.units import UnitError, parse_quantity

MOST_DEVICES = 10**7
LONGEST_SIDE = 10**12
MOST_BYTES = 1e18
MOST_DIMENSIONS = 8
_DIMENSION = re.compile(r"([A-Za-z][A-Za-z0-9]*)(?:_(?:\{([A-Za-z, ]+)\}|([A-Za-z]+)))?")
_PARTIAL = re.compile(r"U_(?:\{([A-Za-z, ]+)\}|([A-Za-z]+))")


class Layout(NamedTuple):
    """How an array lies on a mesh: for each dimension the mesh axes that cut it, the slowest first.

    Along the axes of `partial` devices hold terms of a sum, not copies.
    """

    name: str
    dims: tuple[str, ...]
    cuts: tuple[tuple[str, ...], ...]
    partial: tuple[str, ...] = ()

    def __str__(self) -> str:
        sides = [
            dim + (f"_{''.join(axes)}" if axes else "")
            for dim, axes in zip(self.dims, self.cuts, strict=True)
        ]
        return f"{self.name}[{', '.join(sides)}]" + (
            f" {{U_{''.join(self.partial)}}}" if self.partial else ""
        )

    def axes(self, dim: str) -> tuple[str, ...]:
        """The mesh axes that cut a dimension."""
        return self.cuts[self.dims.index(dim)]

    @property
    def spent(self) -> tuple[str, ...]:
        """All axes that cut some dimension."""
        return tuple(axis for axes in self.cuts for axis in axes)

    def cut(self, dim: str, axes: tuple[str, ...]) -> Layout:
        """The same layout with a dimension cut by other axes."""
        cuts = (
            axes if name == dim else old for name, old in zip(self.dims, self.cuts, strict=True)
        )
        return self._replace(cuts=tuple(cuts))

    def on(self, mesh: Mapping[str, int]) -> Layout:
        """The layout without axes of one device, which cut nothing.

        Raises FlopbookError for an unknown axis.
        """
        for axis in (*self.spent, *self.partial):
            if axis not in mesh:
                raise FlopbookError(
                    f"{self}: the mesh has no axis {axis}; it has {', '.join(mesh)}"
                )
        kept = [
            tuple(axis for axis in axes if mesh[axis] > 1) for axes in (*self.cuts, self.partial)
        ]
        return self._replace(cuts=tuple(kept[:-1]), partial=kept[-1])


def read_mesh(text: str) -> dict[str, int]:
    """A mesh such as `X=4,Y=8,Z=2`: one letter for each axis. Raises FlopbookError."""
    mesh = _pairs("mesh", text, MOST_DEVICES)
    total = 1
    for axis, size in mesh.items():
        total *= size
        if len(axis) > 1:
            raise FlopbookError(
                f"mesh: axis '{shorten(axis)}' has a long name; one letter names an axis: X=4,Y=8"
            )
    if total > MOST_DEVICES:
        raise FlopbookError(
            f"mesh: {total:.3g} devices are not a plausible mesh; at most {MOST_DEVICES:,}"
        )
    return mesh


def read_sizes(text: str) -> dict[str, int]:
    """Sizes of dimensions such as `I=4096,J=8192`. Raises FlopbookError."""
    return _pairs("dims", text, LONGEST_SIDE)


def read_array(text: str) -> tuple[str, tuple[int, ...]]:
    """Number format and shape of an array such as `bf16[256,2048]`. Raises FlopbookError."""
    found = re.fullmatch(r"\s*([A-Za-z0-9]+)\s*\[([^\[\]]*)\]\s*", text)
    if found is None:
        raise FlopbookError(
            f"array: '{shorten(text)}' is not a format and a shape, such as bf16[256,2048]"
        )
    dtype = choice(found[1], (*DTYPE_BYTES, *BLOCK_DTYPES))
    if dtype in BLOCK_DTYPES:
        raise FlopbookError(
            f"array: the width of {dtype} depends on its scales; write its values and scales apart"
        )
    if dtype not in DTYPE_BYTES:
        raise UnknownName("dtype", found[1], DTYPE_BYTES)
    return dtype, tuple(
        _whole("array", "a side", side, LONGEST_SIDE) for side in found[2].split(",")
    )


def read_layout(text: str) -> Layout:
    """A layout such as `A[I_XY, J]`, with ` {U_Z}` where devices along Z hold terms of a sum.

    Raises FlopbookError.
    """
    shown = f"'{shorten(text)}'"
    for opening, closing in ("[]", "{}"):
        if text.count(opening) != text.count(closing):
            raise FlopbookError(f"layout {shown}: {opening} and {closing} do not pair")
    found = re.fullmatch(r"\s*([A-Za-z]\w*)\s*\[([^\[\]]*)\]\s*(?:\{\s*(.*?)\s*\})?\s*", text)
    if found is None:
        raise FlopbookError(
            f"layout {shown} is not a name and its dimensions, such as A[I_XY, J] or A[I, J] {{U_X}}"
        )
    # A comma inside braces separates axes, not dimensions.
    sides = [side.strip() for side in re.split(r",(?![^{]*\})", found[2])]
    read = [_DIMENSION.fullmatch(side) for side in sides]
    for side, match in zip(sides, read, strict=True):
        if match is None:
            raise FlopbookError(
                f"layout {shown}: '{shorten(side)}' is no dimension; write J, J_X or J_XY"
            )
    pieces = [(m[1], _letters(m[2] or m[3])) for m in read if m]
    partial: tuple[str, ...] = ()
    if found[3] is not None:
        sums = _PARTIAL.fullmatch(found[3])
        if sums is None:
            raise FlopbookError(
                f"layout {shown}: '{{{shorten(found[3])}}}' names no partial sums; write {{U_X}}"
            )
        partial = _letters(sums[1] or sums[2])
    return _checked(
        Layout(found[1], tuple(d for d, _ in pieces), tuple(a for _, a in pieces), partial)
    )


def read_product(text: str) -> tuple[Layout, Layout, Layout]:
    """Two factors and their result, such as `A[I, J_X] * B[J_X, K] -> C[I, K]`.

    Raises FlopbookError.
    """
    factors, arrow, result = text.partition("->")
    sides = factors.split("*")
    if not arrow or len(sides) != 2:
        raise FlopbookError(
            f"product '{shorten(text)}' is not two factors and a result, such as A[I, J_X] * B[J_X, K] -> C[I, K]"
        )
    found = read_layout(sides[0]), read_layout(sides[1]), read_layout(result)
    names = [layout.name for layout in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise FlopbookError(f"product: two arrays are called {twice}")
    return found


def _checked(layout: Layout) -> Layout:
    if len(layout.dims) > MOST_DIMENSIONS:
        raise FlopbookError(
            f"{layout.name} has {len(layout.dims)} dimensions; at most {MOST_DIMENSIONS}"
        )
    for names, kind in ((layout.dims, "dimension"), ((*layout.spent, *layout.partial), "axis")):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            why = "; an axis can cut one dimension only" if kind == "axis" else ""
            raise FlopbookError(f"layout {layout}: {kind} {twice} is there twice{why}")
    return layout


def _letters(text: str | None) -> tuple[str, ...]:
    return tuple(letter for letter in text or "" if letter not in ", ")


def _pairs(name: str, text: str, most: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in text.split(","):
        key, equals, size = (piece.strip() for piece in part.partition("="))
        if not (equals and re.fullmatch("[A-Za-z][A-Za-z0-9]*", key)):
            example = "X=4,Y=8" if name == "mesh" else "I=4096,J=8192"
            raise FlopbookError(
                f"{name}: '{shorten(part)}' is not a name and a size; write for example {example}"
            )
        if key in found:
            raise FlopbookError(f"{name}: {key} is given twice")
        found[key] = _whole(name, key, size, most)
    return found


def _whole(name: str, key: str, text: str, most: int) -> int:
    """A size as people write it: 8192, 8k, 2_048. Raises FlopbookError."""
    try:
        value = parse_quantity(text.strip(), "1")
    except UnitError:
        raise FlopbookError(
            f"{name}: {key} is '{shorten(text)}', expected a whole number of at least 1"
        ) from None
    if not (1 <= value < float("inf") and value == int(value)):
        raise FlopbookError(f"{name}: {key} is {value:.15g}, expected a whole number of at least 1")
    if value > most:
        raise FlopbookError(
            f"{name}: {key} is {value:.15g}, which is not a plausible size; at most {most:,}"
        )
    return int(value)
