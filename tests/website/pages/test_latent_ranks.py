"""Latent caches and experts by rank: equal memory for experts, and caches once or everywhere."""

from __future__ import annotations

from collections import Counter

import pytest

from scripts.website.figures.latent_ranks import (
    EXPERTS,
    LAYOUTS,
    RANKS,
    REQUESTS,
    figure,
    fitting,
    held,
)


@pytest.mark.parametrize(("layout", "copies"), [("tp", RANKS), ("requests", 1)])
def test_a_cache_lies_on_every_rank_or_on_one(layout: str, copies: int) -> None:
    found = Counter(request for rank in range(RANKS) for request in held(layout, rank).requests)
    assert found == dict.fromkeys(range(REQUESTS), copies)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_experts_take_as_much_of_a_rank_either_way(layout: str) -> None:
    for rank in range(RANKS):
        mine = held(layout, rank)
        assert len(mine.experts) * mine.part == EXPERTS / RANKS


def test_the_title_has_the_sequences_that_fit() -> None:
    """Weights leave about the same room, and eight copies of a cache take eight times of it."""
    few, many = fitting("tp"), fitting("requests")
    assert few < many / 5 and few < many / RANKS
    assert f"{many:,}" in figure().title and f"{few:,}" in figure().title
