"""A causal ring, step by step, as the picture of context parallelism draws it."""

from __future__ import annotations

import pytest

from scripts.website.figures.causal_split import CHIPS, folded, in_pieces
from scripts.website.figures.ring_mask import figure, steps, time


def test_every_rank_meets_every_block_once() -> None:
    for rank in range(CHIPS):
        assert sorted(blocks[rank][0] for blocks in steps(folded)) == list(range(CHIPS))


def test_both_cuts_leave_the_same_work_and_only_one_shares_it_out() -> None:
    for split in (in_pieces, folded):
        assert sum(share for blocks in steps(split) for _, share in blocks) == CHIPS**2 / 2
    assert {share for blocks in steps(folded) for _, share in blocks} == {0.5}


def test_a_ring_of_neighbours_takes_nearly_twice_as_long() -> None:
    assert time(in_pieces) == CHIPS - 0.5 and time(folded) == CHIPS / 2
    assert time(in_pieces) / time(folded) == pytest.approx((2 * CHIPS - 1) / CHIPS)
    assert "1.75" in figure().title, "as the exercise on four chips says"
