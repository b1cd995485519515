"""The two rank orders: each place has one rank, and neighbours are who the caption says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from scripts.website.figures.rank_order import NODE, ORDERS, RankPlace, figure, places

DEGREE = st.integers(1, 6)


@given(DEGREE, DEGREE, DEGREE, st.sampled_from([order for _, order in ORDERS]))
def test_every_place_belongs_to_one_rank(tp: int, dp: int, pp: int, order: tuple[str, ...]) -> None:
    ranks = places(tp, dp, pp, order)
    assert len(set(ranks)) == len(ranks) == tp * dp * pp
    assert {place.tp for place in ranks} == set(range(tp))
    assert {place.dp for place in ranks} == set(range(dp))
    assert {place.pp for place in ranks} == set(range(pp))


@given(DEGREE, DEGREE, DEGREE)
def test_a_tensor_group_is_a_run_of_ranks_under_both_orders(tp: int, dp: int, pp: int) -> None:
    for _, order in ORDERS:
        ranks = places(tp, dp, pp, order)
        for start in range(0, len(ranks), tp):
            group = ranks[start : start + tp]
            assert [place.tp for place in group] == list(range(tp))
            assert len({(place.dp, place.pp) for place in group}) == 1


def test_the_next_stage_is_far_by_default_and_near_with_the_other_order() -> None:
    """Megatron-LM at d98e8a6, initialize.py: 'tp-cp-ep-dp-pp', or 'tp-cp-ep-pp-dp' if asked."""
    default, mapped = (places(4, 16, 8, order) for _, order in ORDERS)
    second = RankPlace(0, 0, 1)
    assert default.index(second) == 4 * 16
    assert mapped.index(second) == 4


def test_the_picture_tells_what_its_first_node_holds() -> None:
    drawn = figure()
    assert "TP, DP, PP the first node holds stages 0 of replicas 0, 1." in drawn.description
    assert "TP, PP, DP the first node holds stages 0, 1 of replicas 0." in drawn.description
    squares = [part for part in drawn.parts if "<title>TP rank" in part]
    assert len(squares) == 2 * 4 * NODE


@pytest.mark.parametrize("degrees", [(4, 1, 1), (8, 1, 5), (8, 9, 1), (3, 1, 3)])
def test_what_cannot_be_drawn_is_refused(degrees: tuple[int, int, int]) -> None:
    with pytest.raises(FlopbookError, match=r"whole nodes of 8 and up to 4 stages"):
        figure(*degrees)
