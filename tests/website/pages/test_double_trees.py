"""Two trees over the same ranks: who adds in which, in how many steps, and what leaves a port."""

from __future__ import annotations

from math import ceil, log2

import pytest

from scripts.website.figures.double_trees import inner, level, ring_steps, sent, steps, trees
from tests.support.cases import every

even = every("ranks", (2, 6, 8, 12, 64, 100))


def summed(parents: tuple[int, ...]) -> int:
    """Terms that arrive at the root when each rank, from the lowest level up, hands on its sum."""
    held = [1] * len(parents)
    for rank in sorted(range(len(parents)), key=lambda one: -level(parents, one)):
        if parents[rank] < 0:
            return held[rank]
        held[parents[rank]] += held[rank]
    raise AssertionError("a tree without a root")


def test_the_drawn_trees_are_those_of_the_library() -> None:
    """Rank 0 over 4, 4 over 2 and 6; in the second tree the ranks are in mirror order."""
    assert trees(8) == ((-1, 2, 4, 2, 0, 6, 4, 6), (1, 3, 1, 7, 5, 3, 5, -1))


@even
def test_a_leaf_of_one_tree_is_an_inner_rank_of_the_other(ranks: int) -> None:
    first, second = (inner(parents) for parents in trees(ranks))
    assert not first & second and first | second == set(range(ranks))


@every("ranks", (2, 3, 8, 13, 64, 99))
def test_every_term_reaches_both_roots(ranks: int) -> None:
    for parents in trees(ranks):
        assert parents.count(-1) == 1 and summed(parents) == ranks
        assert max(parents.count(rank) for rank in range(ranks)) <= 2


@even
def test_steps_grow_with_the_logarithm_and_bytes_stay(ranks: int) -> None:
    assert steps(ranks) == 2 * ceil(log2(ranks)) <= ring_steps(ranks)
    assert max(sent(ranks, rank) for rank in range(ranks)) <= 2
    # each of the two halves passes every link once up and once down
    assert sum(sent(ranks, rank) for rank in range(ranks)) == pytest.approx(2 * (ranks - 1))
