"""A mesh of devices in NumPy: real blocks on each, and collectives that move them."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterator, Mapping

import numpy as np

from flopbook.sharding.blocks import place
from flopbook.sharding.notation import Layout
from flopbook.sharding.products import Move, ProductPlan

Device = tuple[int, ...]  # its coordinates
Blocks = dict[Device, np.ndarray]


class Fleet:
    """The devices of a mesh, by their coordinates."""

    def __init__(self, mesh: Mapping[str, int]) -> None:
        self.mesh = dict(mesh)
        self.devices: list[Device] = [*itertools.product(*map(range, mesh.values()))]

    def at(self, device: Device) -> dict[str, int]:
        return dict(zip(self.mesh, device, strict=True))

    def block(self, layout: Layout, whole: np.ndarray, device: Device) -> np.ndarray:
        """What the layout says that a device holds."""
        indices = place(layout, self.mesh, self.at(device))
        for dim, (index, axes) in enumerate(zip(indices, layout.cuts, strict=True)):
            count = math.prod(self.mesh[axis] for axis in axes)
            whole = np.split(whole, count, dim)[index]
        return whole

    def spread(self, layout: Layout, whole: np.ndarray) -> Blocks:
        return {device: self.block(layout, whole, device) for device in self.devices}

    def groups(self, axes: tuple[str, ...]) -> Iterator[list[Device]]:
        """Devices that differ on these axes only, the last of them the fastest."""
        groups: dict[tuple[int, ...], list[Device]] = {}
        for device in self.devices:
            at = self.at(device)
            shared = tuple(at[axis] for axis in self.mesh if axis not in axes)
            groups.setdefault(shared, []).append(device)
        for group in groups.values():
            yield sorted(group, key=lambda device: [self.at(device)[axis] for axis in axes])

    def move(self, move: Move, blocks: Blocks) -> Blocks:
        """One step of a plan, each device receiving only from those of its group."""
        moved: Blocks = {}
        for group in self.groups(move.axes):
            before = [blocks[device] for device in group]
            moved |= zip(group, self._moved(move, before), strict=True)
        return moved

    def _moved(self, move: Move, before: list[np.ndarray]) -> list[np.ndarray]:
        count = len(before)
        dim = move.before.dims.index(move.dim) if move.dim else 0
        if move.op == "all-gather":
            return [np.concatenate(before, dim)] * count
        if move.op == "slice":
            return [np.split(block, count, dim)[n] for n, block in enumerate(before)]
        if move.op == "all-reduce":
            return [np.sum(before, axis=0)] * count
        if move.op == "reduce-scatter":
            return np.split(np.sum(before, axis=0), count, dim)
        assert move.op == "all-to-all"
        (axis,) = move.axes
        source = next(n for n, axes in enumerate(move.before.cuts) if axis in axes)
        pieces = [np.split(block, count, dim) for block in before]
        return [np.concatenate([sent[n] for sent in pieces], source) for n in range(count)]

    def holds(self, layout: Layout, whole: np.ndarray, blocks: Blocks) -> bool:
        """Whether every device holds its block; terms of partial sums have to add up to it."""
        for group in self.groups(layout.partial):
            total = np.sum([blocks[device] for device in group], axis=0)
            if not np.array_equal(total, self.block(layout, whole, group[0])):
                return False
        return True


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
    (first, _, first_blocks), (second, _, second_blocks) = arrays.values()
    assert (first, second) == (plan.first, plan.second)
    product = einsum_text(first, second, plan.result)
    dense = np.einsum(product, *factors)
    layout = plan.result
    blocks = {
        device: np.einsum(product, first_blocks[device], second_blocks[device])
        for device in fleet.devices
    }
    assert fleet.holds(layout, dense, blocks)
    for move in plan.after:
        assert move.before == layout
        layout, blocks = move.after, fleet.move(move, blocks)
        assert fleet.holds(layout, dense, blocks), move
    return blocks


def einsum_text(first: Layout, second: Layout, result: Layout) -> str:
    """A product of layouts as `np.einsum` takes it: one letter for each dimension."""
    dims = dict.fromkeys((*first.dims, *second.dims))
    letters = dict(zip(dims, string.ascii_lowercase, strict=False))
    factors = ",".join("".join(letters[dim] for dim in layout.dims) for layout in (first, second))
    return f"{factors}->{''.join(letters[dim] for dim in result.dims)}"
