"""A mesh of devices in NumPy: real blocks on each, and collectives that move them from one to the
other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from flopbook.sharding.blocks import place
from flopbook.sharding.notation import Layout
from flopbook.sharding.products import Move, ProductPlan

Where = tuple[int, ...]
Blocks = dict[Where, np.ndarray]


class Fleet:
    """The devices of a mesh, by their coordinates."""

    def __init__(self, mesh: Mapping[str, int]) -> None:
        self.mesh = dict(mesh)
        self.devices: list[Where] = list(
            itertools.product(*(range(size) for size in mesh.values()))
        )

    def at(self, device: Where) -> dict[str, int]:
        return dict(zip(self.mesh, device, strict=True))

    def block(self, layout: Layout, whole: np.ndarray, device: Where) -> np.ndarray:
        """What the layout says that a device holds."""
        for axis, (index, axes) in enumerate(
            zip(place(layout, self.mesh, self.at(device)), layout.cuts, strict=True)
        ):
            count = int(np.prod([self.mesh[a] for a in axes], initial=1))
            whole = np.split(whole, count, axis)[index]
        return whole

    def spread(self, layout: Layout, whole: np.ndarray) -> Blocks:
        return {device: self.block(layout, whole, device) for device in self.devices}

    def groups(self, axes: tuple[str, ...]) -> Iterator[list[Where]]:
        """Devices that differ on these axes only, the last of them the fastest."""
        found: dict[tuple[int, ...], list[Where]] = {}
        for device in self.devices:
            at = self.at(device)
            found.setdefault(tuple(at[axis] for axis in self.mesh if axis not in axes), []).append(
                device
            )
        for group in found.values():
            yield sorted(group, key=lambda device: [self.at(device)[axis] for axis in axes])

    def move(self, move: Move, blocks: Blocks) -> Blocks:
        """One step of a plan, each device receiving only from those of its group."""
        made: Blocks = {}
        for group in self.groups(move.axes):
            have = [blocks[device] for device in group]
            made |= zip(group, self._moved(move, have), strict=True)
        return made

    def _moved(self, move: Move, have: list[np.ndarray]) -> list[np.ndarray]:
        count = len(have)
        dim = move.before.dims.index(move.dim) if move.dim else 0
        if move.op == "all-gather":
            return [np.concatenate(have, dim)] * count
        if move.op == "slice":
            return [np.split(block, count, dim)[n] for n, block in enumerate(have)]
        if move.op == "all-reduce":
            return [np.sum(have, axis=0)] * count
        if move.op == "reduce-scatter":
            return np.split(np.sum(have, axis=0), count, dim)
        assert move.op == "all-to-all"
        (axis,) = move.axes
        source = next(n for n, axes in enumerate(move.before.cuts) if axis in axes)
        pieces = [np.split(block, count, dim) for block in have]
        return [np.concatenate([sent[n] for sent in pieces], source) for n in range(count)]

    def holds(self, layout: Layout, whole: np.ndarray, blocks: Blocks) -> bool:
        """Whether every device holds its block, and where sums are partial their terms add up to
        it.
        """
        return all(
            np.array_equal(
                np.sum([blocks[device] for device in group], axis=0),
                self.block(layout, whole, group[0]),
            )
            for group in self.groups(layout.partial)
        )


def run_plan(
    plan: ProductPlan,
    factors: list[np.ndarray],
    starts: tuple[Layout, Layout],
    mesh: Mapping[str, int],
) -> Blocks:
    """Do a product as planned, and hold every step against the layout that it claims to leave.

    Returns the result.
    """
    fleet = Fleet(mesh)
    pairs = zip(starts, factors, strict=True)
    arrays = {layout.name: (layout, whole, fleet.spread(layout, whole)) for layout, whole in pairs}
    for move in plan.before:
        layout, whole, blocks = arrays[move.before.name]
        assert move.before == layout
        arrays[layout.name] = (move.after, whole, fleet.move(move, blocks))
        assert fleet.holds(move.after, whole, arrays[layout.name][2]), move
    assert [arrays[name][0] for name in arrays] == [plan.first, plan.second]
    (first, _, left), (second, _, right) = arrays.values()
    letters = {dim: chr(97 + n) for n, dim in enumerate(dict.fromkeys((*first.dims, *second.dims)))}
    names = [
        "".join(letters[dim] for dim in layout.dims) for layout in (first, second, plan.result)
    ]
    product = f"{names[0]},{names[1]}->{names[2]}"
    dense = np.einsum(product, *factors)
    layout, blocks = plan.result, {d: np.einsum(product, left[d], right[d]) for d in fleet.devices}
    assert fleet.holds(layout, dense, blocks)
    for move in plan.after:
        assert move.before == layout
        layout, blocks = move.after, fleet.move(move, blocks)
        assert fleet.holds(layout, dense, blocks), move
    return blocks
