"""The picture of decoding in one domain and in nodes of eight: its limits and its title."""

from __future__ import annotations

import pytest

from flopbook.hardware.chip import chip
from scripts.website.figures.domain_decode import NODE, RANKS, figure, step

MODEL, CHIP, CARD = "deepseek-v3", "nvidia/gb200-gpu", 50e9


def test_a_node_of_eight_is_one_domain_of_eight() -> None:
    alone = step(MODEL, CHIP, NODE, 64, 4096, CARD)
    assert alone.across == alone.within > 0


@pytest.mark.parametrize("ranks", RANKS[1:])
def test_cards_as_fast_as_the_domain_cost_nothing_more(ranks: int) -> None:
    port = chip(CHIP).scaleup_bandwidth()
    same = step(MODEL, CHIP, ranks, 64, 4096, port)
    assert same.across == pytest.approx(same.within)
    slow = step(MODEL, CHIP, ranks, 64, 4096, CARD)
    # of the copies that leave a rank, those for another node travel at the rate of the card
    share = (1 - NODE / ranks) / (1 - 1 / ranks)
    assert slow.across == pytest.approx(slow.within * (1 - share + share * port / CARD))


def test_more_ranks_read_fewer_experts() -> None:
    works = [step(MODEL, CHIP, ranks, 64, 4096, CARD).work for ranks in RANKS]
    assert works == sorted(works, reverse=True)


def test_the_title_says_the_ratio_of_the_last_points() -> None:
    last = step(MODEL, CHIP, RANKS[-1], 64, 4096, CARD)
    ratio = (last.work + last.across) / (last.work + last.within)
    assert f"{ratio:.1f} times as fast" in figure().title
