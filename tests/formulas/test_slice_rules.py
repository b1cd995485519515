"""Which numbers of chips fill a torus: the rules against the sides that a slice gets."""

from __future__ import annotations

import math

import pytest

from flopbook.formulas.slices import chips_fill_a_slice, chips_fill_the_torus, slice_sides
from flopbook.quantities.ops import inf

OPEN = {"side_x": inf, "side_y": inf, "topology": "torus"}


def fills(chips: int, axes: int, domain: float = inf) -> bool:
    """Whole sides of which none is more than twice the first."""
    sides = slice_sides(chips=chips, topology="torus", axes=axes, chips_per_node=domain)
    used = [sides[name] for name in ("first", "second", "third")[:axes]]
    are_whole = all(side % 1 == 0 and side > 0 for side in used)
    return are_whole and math.prod(used) == min(chips, domain) and max(used) <= 2 * used[0]


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_what_fills_has_whole_sides_that_multiply_to_the_chips(axes: int) -> None:
    for chips in (*range(1, 1100), 2048, 4096, 6144, 8960, 9216):
        asked = {**OPEN, "chips": chips, "axes": axes}
        for each in (chips_fill_the_torus, chips_fill_a_slice):
            kept = each.is_kept({**asked, "chips_per_node": inf})
            assert kept == fills(chips, axes), (chips, axes)


@pytest.mark.parametrize("axes", [2, 3])
def test_a_whole_domain_is_asked_for_its_shape_by_the_collective_only(axes: int) -> None:
    for chips, domain in ((100, 50), (50, 50), (64, 50), (49, 50), (36, 50), (2048, 256)):
        asked = {**OPEN, "chips": chips, "axes": axes, "chips_per_node": domain}
        assert chips_fill_the_torus.is_kept(asked) == fills(chips, axes, domain)
        is_whole = chips >= domain
        assert chips_fill_a_slice.is_kept(asked) == (is_whole or fills(chips, axes))


def test_a_shape_that_is_given_fills_where_it_multiplies() -> None:
    """The pod of v5p is 16 x 20 x 28."""
    pod = {"chips": 8960, "axes": 3, "topology": "torus", "chips_per_node": 8960}
    assert chips_fill_the_torus.is_kept({**pod, "side_x": 16, "side_y": 20})
    assert not chips_fill_the_torus.is_kept({**pod, "side_x": 16, "side_y": 24})
    assert not chips_fill_the_torus.is_kept({**pod, "side_x": 17, "side_y": inf})
    assert chips_fill_the_torus.is_kept({**pod, "side_x": 1e5, "side_y": 20, "topology": "switch"})
