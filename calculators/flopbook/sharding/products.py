"""The product of two sharded arrays: which collectives must move what, before and after the local
products.

The four cases and the names of the collectives are those of the book on scaling
(austin2025sharding). An axis is gathered from the fast end of a dimension only: what lies behind it
is gathered too and cut again, which moves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.sharding.blocks import Mesh, array_bytes, blocks, local_shape, ways
from flopbook.sharding.notation import Layout

CASES = (
    "1: contracted dimensions are whole",
    "2: a contracted dimension is cut differently",
    "3: a contracted dimension is cut alike",
    "4: one axis cuts a kept dimension of both",
)


class Move(NamedTuple):
    """A step on an array that changes its layout: a collective over some axes, or a `slice`, which
    moves nothing.

    `dim` is the dimension that is gathered, scattered into or cut (for an all-to-all, the one cut
    after it); `bytes` is the array as the devices of one group hold it together, which is what
    `collective` takes.
    """

    op: str
    axes: tuple[str, ...]
    before: Layout
    after: Layout
    dim: str
    bytes: float = 0.0

    def __str__(self) -> str:
        return f"{self.op} of {self.before.name} over {''.join(self.axes)}"


class Plan(NamedTuple):
    """How a product is done: its cases, the factors as multiplied, the moves before and after, FLOP
    of each device.
    """

    cases: tuple[str, ...]
    first: Layout
    second: Layout
    before: tuple[Move, ...]
    result: Layout
    after: tuple[Move, ...]
    flop: float

    @property
    def collectives(self) -> tuple[Move, ...]:
        """The moves that use the network."""
        return tuple(move for move in (*self.before, *self.after) if move.op != "slice")


class _Journal:
    """Arrays of one product and what was done to them."""

    def __init__(self, mesh: Mesh, sizes: Mapping[str, int], width: float) -> None:
        self.mesh, self.sizes, self.width = mesh, sizes, width
        self.moves: list[Move] = []

    def local(self, layout: Layout) -> float:
        """Bytes of the block of one device."""
        shape = [self.sizes[dim] for dim in layout.dims]
        return array_bytes(shape, self.width) / prod(blocks(layout, self.mesh))

    def move(
        self, op: str, axes: tuple[str, ...], before: Layout, after: Layout, dim: str = ""
    ) -> Layout:
        """Write down a move and return the layout after it."""
        group = {"all-gather": self.local(after), "slice": 0.0}.get(op, self.local(before))
        if op == "all-to-all":
            group *= ways(self.mesh, axes)
        self.moves.append(Move(op, axes, before, after, dim, group))
        return after

    def gather(self, layout: Layout, dim: str, drop: tuple[str, ...]) -> Layout:
        """Take axes off a dimension: gather all from the slowest of them on, and cut by the others
        again.
        """
        axes = layout.axes(dim)
        first = min((axes.index(axis) for axis in drop), default=len(axes))
        if first == len(axes):
            return layout
        found = self.move("all-gather", axes[first:], layout, layout.cut(dim, axes[:first]), dim)
        again = tuple(axis for axis in axes[first:] if axis not in drop)
        return (
            self.move("slice", again, found, found.cut(dim, axes[:first] + again), dim)
            if again
            else found
        )


def plan_product(
    product: tuple[Layout, Layout, Layout], sizes: Mapping[str, int], mesh: Mesh, width: float = 2.0
) -> Plan:
    """How `A * B -> C` is done on a mesh, for values of `width` bytes.

    Raises FlopbookError for what does not fit.
    """
    a, b, asked = (layout.on(mesh) for layout in product)
    shared = _check_dims(a, b, asked)
    for layout in (a, b, asked):
        missing = [dim for dim in layout.dims if dim not in sizes]
        if missing:
            raise FlopbookError(
                f"dims: the size of {missing[0]} is missing; write {missing[0]}=..."
            )
        shape = [sizes[dim] for dim in layout.dims]
        local_shape(shape, layout, mesh)
        array_bytes(shape, width)
    unused = next((dim for dim in sizes if dim not in (*a.dims, *b.dims)), None)
    if unused:
        raise FlopbookError(f"dims: {unused} is a dimension of neither factor")
    journal = _Journal(mesh, sizes, width)
    cases, sums = set(), []
    for dim in shared:
        common = _common(a.axes(dim), b.axes(dim))
        if (a.axes(dim), b.axes(dim)) != (common, common):
            cases.add(CASES[1])
        if common:
            cases.add(CASES[2])
        a = journal.gather(a, dim, a.axes(dim)[len(common) :])
        b = journal.gather(b, dim, b.axes(dim)[len(common) :])
        sums += common
    kept = set(a.spent) & set(b.spent) - set(sums)
    if kept:
        cases.add(CASES[3])
        a, b = _settle(journal, (a, b), asked, kept)
    cuts = {
        dim: axes for layout in (a, b) for dim, axes in zip(layout.dims, layout.cuts, strict=True)
    }
    result = Layout(asked.name, asked.dims, tuple(cuts[dim] for dim in asked.dims), tuple(sums))
    before, journal.moves = tuple(journal.moves), []
    _reach(journal, result, asked)
    pieces = prod(ways(mesh, axes) for axes in cuts.values())
    flop = 2.0 * prod(sizes[dim] for dim in cuts) / pieces
    return Plan(tuple(sorted(cases or CASES[:1])), a, b, before, result, tuple(journal.moves), flop)


def _check_dims(a: Layout, b: Layout, asked: Layout) -> tuple[str, ...]:
    """The contracted dimensions.

    Raises FlopbookError unless the names make a product of matrices.
    """
    for factor in (a, b):
        if factor.partial:
            raise FlopbookError(f"{factor}: a factor cannot be a partial sum; add it up first")
    shared = tuple(dim for dim in a.dims if dim in b.dims)
    batch = next((dim for dim in shared if dim in asked.dims), None)
    if batch:
        raise FlopbookError(
            f"{batch} is in both factors and in the result; a dimension of both is summed over here"
        )
    free = [dim for dim in (*a.dims, *b.dims) if dim not in shared]
    wrong = next((dim for dim in asked.dims if dim not in free), None)
    if wrong:
        raise FlopbookError(f"{asked}: {wrong} is a dimension of neither factor")
    lost = next((dim for dim in free if dim not in asked.dims), None)
    if lost:
        raise FlopbookError(f"{asked} lacks {lost}, which only one factor has")
    return shared


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The axes that cut two arrays alike: up to there their blocks meet on the same devices."""
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return one[:length]


def _settle(
    journal: _Journal, factors: tuple[Layout, Layout], asked: Layout, kept: set[str]
) -> tuple[Layout, Layout]:
    """Gather one of the factors over each axis that cuts a kept dimension of both: the one that the
    result can spare.

    Where the result has the axis on neither, the factor whose block is smaller is gathered.
    """
    found = list(factors)
    for axis in sorted(kept):
        dims = [next(dim for dim in layout.dims if axis in layout.axes(dim)) for layout in found]
        wanted = [axis in asked.axes(dim) for dim in dims]
        sizes = [journal.local(layout) for layout in found]
        spare = int(wanted[0]) if any(wanted) else int(sizes[1] < sizes[0])
        found[spare] = journal.gather(found[spare], dims[spare], (axis,))
    return found[0], found[1]


def _reach(journal: _Journal, result: Layout, asked: Layout) -> Layout:
    """The moves from the layout that the local products leave to the one that was asked for."""
    spare = next((axis for axis in asked.partial if axis not in result.partial), None)
    if spare:
        raise FlopbookError(f"{asked}: the product leaves no partial sums over {spare}")
    result = _grow(journal, result, asked)
    wanted = (*asked.partial, *asked.spent)
    sums = tuple(axis for axis in result.partial if axis not in wanted)
    if sums:
        left = tuple(axis for axis in result.partial if axis in wanted)
        result = journal.move("all-reduce", sums, result, result._replace(partial=left))
    for dim in asked.dims:
        result = _shrink(journal, result, asked, dim)
    return _grow(journal, result, asked)


def _grow(journal: _Journal, layout: Layout, asked: Layout) -> Layout:
    """Cut further what is cut as asked so far: by adding up partial sums in pieces, or by dropping
    what is a copy.
    """
    for dim in asked.dims:
        have, want = layout.axes(dim), asked.axes(dim)
        while want[: len(have)] == have != want and want[len(have)] not in layout.spent:
            summed = want[len(have)] in layout.partial
            new: tuple[str, ...] = ()
            for axis in want[len(have) :]:
                if axis in layout.spent or (axis in layout.partial) != summed:
                    break
                new += (axis,)
            left = tuple(axis for axis in layout.partial if axis not in new)
            after = layout.cut(dim, have + new)._replace(partial=left)
            layout = journal.move("reduce-scatter" if summed else "slice", new, layout, after, dim)
            have = layout.axes(dim)
    return layout


def _shrink(journal: _Journal, layout: Layout, asked: Layout, dim: str) -> Layout:
    """Take off a dimension the axes that were not asked for there: to where they are wanted next,
    or by gathering.
    """
    length = len(_common(layout.axes(dim), asked.axes(dim)))
    while (have := layout.axes(dim))[length:]:
        axis = have[-1]
        for other in asked.dims:
            there, want = layout.axes(other), asked.axes(other)
            if other != dim and want[: len(there) + 1] == (*there, axis):
                after = layout.cut(dim, have[:-1]).cut(other, (*there, axis))
                layout = journal.move("all-to-all", (axis,), layout, after, other)
                break
        else:
            return journal.gather(layout, dim, have[length:])
    return layout
