"""The product of two sharded arrays: which collectives move what, before and after the products.

The four cases and the names of the collectives are those of the book on scaling
(austin2025sharding). An axis is gathered from the fast end of a dimension only: what lies behind it
is gathered too and cut again, which moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
_WHOLE, _CUT_DIFFERENTLY, _CUT_ALIKE, _CLASHING = CASES


class Move(NamedTuple):
    """A step that changes the layout of an array: a collective over some axes, or a local `slice`.

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


class ProductPlan(NamedTuple):
    """How a product is done: its cases, the moves before and after it, and FLOP of each device.

    `first` and `second` are the factors as they are multiplied, and `result` is what that leaves.
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

    def local_bytes(self, layout: Layout) -> float:
        """Bytes of the block of one device."""
        shape = [self.sizes[dim] for dim in layout.dims]
        return array_bytes(shape, self.width) / prod(blocks(layout, self.mesh))

    def move(
        self, op: str, axes: tuple[str, ...], before: Layout, after: Layout, dim: str = ""
    ) -> Layout:
        """Write down a move and return the layout after it."""
        moved = {
            "all-gather": self.local_bytes(after),
            "all-to-all": self.local_bytes(before) * ways(self.mesh, axes),
            "slice": 0.0,
        }.get(op, self.local_bytes(before))
        self.moves.append(Move(op, axes, before, after, dim, moved))
        return after

    def gather(self, layout: Layout, dim: str, unwanted: tuple[str, ...]) -> Layout:
        """Take axes off a dimension.

        All axes from the slowest unwanted one on are gathered; the others among them cut again.
        """
        if not unwanted:
            return layout
        axes = layout.axes(dim)
        slowest = min(axes.index(axis) for axis in unwanted)
        kept, gathered = axes[:slowest], axes[slowest:]
        layout = self.move("all-gather", gathered, layout, layout.cut(dim, kept), dim)
        again = tuple(axis for axis in gathered if axis not in unwanted)
        if not again:
            return layout
        return self.move("slice", again, layout, layout.cut(dim, kept + again), dim)


def plan_product(
    product: tuple[Layout, Layout, Layout], sizes: Mapping[str, int], mesh: Mesh, width: float = 2.0
) -> ProductPlan:
    """How `A * B -> C` is done on a mesh, for values of `width` bytes.

    Raises FlopbookError for what does not fit.
    """
    first, second, target = (layout.on(mesh) for layout in product)
    contracted = _check_dims(first, second, target)
    _check_sizes((first, second, target), sizes, mesh, width)
    cases = _cases(first, second, contracted)
    journal = _Journal(mesh, sizes, width)
    sums: tuple[str, ...] = ()
    for dim in contracted:
        common = _common_prefix(first.axes(dim), second.axes(dim))
        first = journal.gather(first, dim, first.axes(dim)[len(common) :])
        second = journal.gather(second, dim, second.axes(dim)[len(common) :])
        sums += common
    clashing = set(first.spent) & set(second.spent) - set(sums)
    if clashing:
        cases.add(_CLASHING)
        first, second = _settle(journal, (first, second), target, clashing)
    if not cases:
        cases.add(_WHOLE)
    # After the gathers a contracted dimension is cut alike in both factors.
    cuts = dict(zip((*first.dims, *second.dims), (*first.cuts, *second.cuts), strict=True))
    result = Layout(target.name, target.dims, tuple(cuts[dim] for dim in target.dims), sums)
    before, journal.moves = tuple(journal.moves), []
    _reach(journal, result, target)
    pieces = prod(ways(mesh, axes) for axes in cuts.values())
    flop = 2.0 * prod(sizes[dim] for dim in cuts) / pieces
    after = tuple(journal.moves)
    return ProductPlan(tuple(sorted(cases)), first, second, before, result, after, flop)


def _check_dims(first: Layout, second: Layout, target: Layout) -> tuple[str, ...]:
    """The contracted dimensions.

    Raises FlopbookError unless the names make a product of matrices.
    """
    for factor in (first, second):
        if factor.partial:
            raise FlopbookError(f"{factor}: a factor cannot be a partial sum; add it up first")
    contracted = tuple(dim for dim in first.dims if dim in second.dims)
    batch = next((dim for dim in contracted if dim in target.dims), None)
    if batch:
        raise FlopbookError(
            f"{batch} is in both factors and in the result; a dimension of both is summed over here"
        )
    free = [dim for dim in (*first.dims, *second.dims) if dim not in contracted]
    unknown = _first_outside(target.dims, free)
    if unknown:
        raise FlopbookError(f"{target}: {unknown} is a dimension of neither factor")
    lost = _first_outside(free, target.dims)
    if lost:
        raise FlopbookError(f"{target} lacks {lost}, which only one factor has")
    return contracted


def _check_sizes(
    layouts: tuple[Layout, Layout, Layout], sizes: Mapping[str, int], mesh: Mesh, width: float
) -> None:
    """Raise FlopbookError unless each dimension has a size that divides, and no other has one."""
    for layout in layouts:
        missing = _first_outside(layout.dims, sizes)
        if missing:
            raise FlopbookError(f"dims: the size of {missing} is missing; write {missing}=...")
        shape = [sizes[dim] for dim in layout.dims]
        local_shape(shape, layout, mesh)
        array_bytes(shape, width)
    first, second, _ = layouts
    unused = _first_outside(sizes, (*first.dims, *second.dims))
    if unused:
        raise FlopbookError(f"dims: {unused} is a dimension of neither factor")


def _first_outside(names: Iterable[str], known: Iterable[str]) -> str | None:
    """The first name that is not among the known ones."""
    known = set(known)
    return next((name for name in names if name not in known), None)


def _cases(first: Layout, second: Layout, contracted: tuple[str, ...]) -> set[str]:
    """Which of the first three cases the contracted dimensions make."""
    cases: set[str] = set()
    for dim in contracted:
        axes = first.axes(dim), second.axes(dim)
        common = _common_prefix(*axes)
        if axes != (common, common):
            cases.add(_CUT_DIFFERENTLY)
        if common:
            cases.add(_CUT_ALIKE)
    return cases


def _common_prefix(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The axes that cut two arrays alike: up to there their blocks meet on the same devices."""
    length = 0
    while length < min(len(first), len(second)) and first[length] == second[length]:
        length += 1
    return first[:length]


def _settle(
    journal: _Journal, factors: tuple[Layout, Layout], target: Layout, clashing: set[str]
) -> tuple[Layout, Layout]:
    """Gather one of the factors over each axis that cuts a kept dimension of both.

    It is the factor whose axis the result can spare; where it can spare both, the one whose block
    is smaller.
    """
    first, second = factors
    for axis in sorted(clashing):
        first_dim, second_dim = _dim_cut_by(axis, first), _dim_cut_by(axis, second)
        spare_first = journal.local_bytes(second) >= journal.local_bytes(first)
        if axis in target.axes(first_dim):
            spare_first = False
        elif axis in target.axes(second_dim):
            spare_first = True
        if spare_first:
            first = journal.gather(first, first_dim, (axis,))
        else:
            second = journal.gather(second, second_dim, (axis,))
    return first, second


def _dim_cut_by(axis: str, layout: Layout) -> str:
    return next(dim for dim in layout.dims if axis in layout.axes(dim))


def _reach(journal: _Journal, result: Layout, target: Layout) -> None:
    """The moves from the layout that the local products leave to the one that was asked for."""
    missing = _first_outside(target.partial, result.partial)
    if missing:
        raise FlopbookError(f"{target}: the product leaves no partial sums over {missing}")
    # Scatter first: what is still to be added up is smaller afterwards.
    result = _cut_further(journal, result, target)
    result = _add_up(journal, result, target)
    for dim in target.dims:
        result = _join(journal, result, target, dim)
    _cut_further(journal, result, target)


def _add_up(journal: _Journal, layout: Layout, target: Layout) -> Layout:
    """All-reduce the partial sums over axes that the target does not use at all."""
    used = (*target.partial, *target.spent)
    axes = tuple(axis for axis in layout.partial if axis not in used)
    if not axes:
        return layout
    remaining = tuple(axis for axis in layout.partial if axis in used)
    return journal.move("all-reduce", axes, layout, layout._replace(partial=remaining))


def _cut_further(journal: _Journal, layout: Layout, target: Layout) -> Layout:
    """Cut what is cut as in the target so far: scatter partial sums, or drop what is a copy."""
    for dim in target.dims:
        while axes := _next_axes(layout, target, dim):
            op = "reduce-scatter" if axes[0] in layout.partial else "slice"
            remaining = tuple(axis for axis in layout.partial if axis not in axes)
            after = layout.cut(dim, layout.axes(dim) + axes)._replace(partial=remaining)
            layout = journal.move(op, axes, layout, after, dim)
    return layout


def _next_axes(layout: Layout, target: Layout, dim: str) -> tuple[str, ...]:
    """The axes that can cut a dimension next, in one move.

    Along all of them devices hold terms of a sum, or along all of them copies.
    """
    present, target_axes = layout.axes(dim), target.axes(dim)
    if target_axes[: len(present)] != present:
        return ()
    axes: tuple[str, ...] = ()
    for axis in target_axes[len(present) :]:
        if axis in layout.spent:  # it cuts another dimension still
            break
        if axes and (axis in layout.partial) != (axes[0] in layout.partial):
            break
        axes += (axis,)
    return axes


def _join(journal: _Journal, layout: Layout, target: Layout, dim: str) -> Layout:
    """Take the axes off a dimension that do not cut it in the target.

    They go where they are wanted next, by an all-to-all; if there is no such place, all that are
    left are gathered.
    """
    length = len(_common_prefix(layout.axes(dim), target.axes(dim)))
    while len(layout.axes(dim)) > length:
        *kept, axis = layout.axes(dim)
        destination = _destination(layout, target, dim, axis)
        if destination is None:
            return journal.gather(layout, dim, layout.axes(dim)[length:])
        after = layout.cut(dim, tuple(kept))
        after = after.cut(destination, (*layout.axes(destination), axis))
        layout = journal.move("all-to-all", (axis,), layout, after, destination)
    return layout


def _destination(layout: Layout, target: Layout, dim: str, axis: str) -> str | None:
    """Another dimension that the axis is to cut next, if there is one."""
    for target_dim in target.dims:
        axes = (*layout.axes(target_dim), axis)
        if target_dim != dim and target.axes(target_dim)[: len(axes)] == axes:
            return target_dim
    return None
