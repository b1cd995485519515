"""Which device holds which block: by formula as by cutting a real array."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.sharding.blocks import (
    array_bytes,
    blocks,
    coordinates,
    devices,
    holders,
    local_shape,
    number,
    place,
)
from flopbook.sharding.notation import Layout, read_layout
from tests.support.fleet import Fleet

MESHES = st.dictionaries(st.sampled_from("XYZ"), st.integers(1, 4), min_size=1, max_size=3)


@st.composite
def placed(draw: Any) -> tuple[Layout, dict[str, int]]:
    """A mesh, and a layout of one to three dimensions on it."""
    mesh = draw(MESHES)
    dims = ("I", "J", "K")[: draw(st.integers(1, 3))]
    cuts: dict[str, tuple[str, ...]] = dict.fromkeys((*dims, "sum", "none"), ())
    for axis in draw(st.permutations([*mesh])):
        cuts[draw(st.sampled_from([*cuts]))] += (axis,)
    return Layout("A", dims, tuple(cuts[dim] for dim in dims), cuts["sum"]), mesh


@given(MESHES, st.data())
def test_a_device_is_its_coordinates(mesh: dict[str, int], data: Any) -> None:
    device = data.draw(st.integers(0, devices(mesh) - 1))
    position = coordinates(mesh, device)
    assert number(mesh, position) == device and list(position) == list(mesh)
    assert all(0 <= position[axis] < size for axis, size in mesh.items())


@given(placed())
def test_every_device_holds_one_block_and_every_block_has_as_many_devices(
    case: tuple[Layout, dict[str, int]],
) -> None:
    layout, mesh = case
    holding = {
        block: list(holders(layout, mesh, block)) for block in np.ndindex(*blocks(layout, mesh))
    }
    assert sorted(itertools.chain(*holding.values())) == list(range(devices(mesh)))
    assert len(set(map(len, holding.values()))) == 1
    for block, group in holding.items():
        assert group == sorted(group)
        for device in group:
            assert place(layout, mesh, coordinates(mesh, device)) == block


@given(placed())
def test_blocks_are_those_of_a_real_array(case: tuple[Layout, dict[str, int]]) -> None:
    """An array of its own indices, cut axis by axis; the first one named is the slowest."""
    layout, mesh = case
    shape = [count * 2 for count in blocks(layout, mesh)]
    whole = np.arange(np.prod(shape)).reshape(shape)
    local = local_shape(shape, layout, mesh)
    fleet = Fleet(mesh)
    for device in fleet.devices:
        piece = whole
        for dim, axes in enumerate(layout.cuts):
            for axis in axes:
                piece = np.split(piece, mesh[axis], dim)[fleet.at(device)[axis]]
        assert piece.shape == local and np.array_equal(piece, fleet.block(layout, whole, device))


def test_a_two_by_two_mesh_device_by_device() -> None:
    """Corrects a figure of the slides (002-L0784, 002-L0806).

    With X as rows, devices 0 to 3 have these blocks.
    """
    mesh = {"X": 2, "Y": 2}
    whole = [[10 * row + column for column in range(4)] for row in range(4)]

    def corners(text: str) -> list[str]:
        fleet = Fleet(mesh)
        pieces = [
            fleet.block(read_layout(text), np.array(whole), device) for device in fleet.devices
        ]
        return [f"{piece[0, 0]:02}-{piece[-1, -1]:02}" for piece in pieces]

    assert corners("A[I_Y, J]") == ["00-13", "20-33", "00-13", "20-33"]
    assert corners("A[I_Y, J_X]") == ["00-11", "20-31", "02-13", "22-33"]
    assert corners("A[I_X, J_Y]") == ["00-11", "02-13", "20-31", "22-33"]
    assert corners("A[I_XY, J]") == ["00-03", "10-13", "20-23", "30-33"]


def test_what_does_not_divide_or_fit_is_refused() -> None:
    layout = read_layout("A[I_XY, J]")
    with pytest.raises(
        FlopbookError, match=r"I of 12 does not divide into 8 blocks \(X=2 \* Y=4\)"
    ):
        local_shape((12, 3), layout, {"X": 2, "Y": 4})
    with pytest.raises(FlopbookError, match="has 2 dimensions, and the array 3"):
        local_shape((8, 3, 1), layout, {"X": 2, "Y": 4})
    with pytest.raises(FlopbookError, match=r"1e\+24 bytes is not plausible"):
        array_bytes((10**12, 10**12), 1.0)
