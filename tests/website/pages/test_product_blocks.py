"""The copies in blocks: six, and the two of each product lie along the side that it sums over."""

from __future__ import annotations

from collections import defaultdict

from scripts.website.figures.product_blocks import SIDES, TENSORS, figure

RESULTS = {"Y": "BF", "dX": "BD", "dW": "DF"}  # the sides that are left when the sum is taken


def test_each_tensor_is_cut_along_both_of_its_sides() -> None:
    """The forward and the backward copy of a tensor are cut across each other."""
    for tensor in TENSORS:
        assert {copy.along for copy in tensor.copies} == {tensor.rows, tensor.columns}


def test_both_copies_of_a_product_lie_along_the_side_that_it_sums_over() -> None:
    """A scale leaves a sum only if all of its terms share it."""
    along = defaultdict(list)
    for tensor in TENSORS:
        for copy in tensor.copies:
            along[copy.product].append(copy.along)
    for product, sides in RESULTS.items():
        summed = next(side for side in SIDES if side not in sides)
        assert along[product] == [summed, summed]


def test_the_title_counts_what_is_drawn() -> None:
    """Three tensors with two copies each, on either sheet."""
    drawn = figure()
    assert drawn.title.startswith("3 products sum over 3 different sides")
    assert "6 quantised copies" in drawn.title
    assert drawn.narrow
    for parts in (drawn.parts, drawn.narrow.parts):
        assert sum("step " in part for part in parts) == 6
