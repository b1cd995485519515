"""Gather, ring and exchange of heads as the picture of context parallelism draws them."""

from __future__ import annotations

from scripts.website.figures.context_ways import (
    CAME,
    ELSEWHERE,
    OWN,
    RANK,
    RANKS,
    WAYS,
    Cells,
    figure,
    keys,
    queries,
)

GATHER, RING, HEADS = WAYS


def held(cells: Cells) -> set[tuple[int, int]]:
    return {place for place, kind in cells.items() if kind != ELSEWHERE}


def test_queries_stay_where_they_are_unless_heads_are_exchanged() -> None:
    for way in (GATHER, RING):
        assert held(queries(way)) == {(RANK, head) for head in range(RANKS)}
    assert held(queries(HEADS)) == {(row, RANK) for row in range(RANKS)}


def test_a_gather_holds_all_a_ring_three_blocks_and_an_exchange_one_head() -> None:
    assert len(held(keys(GATHER))) == RANKS**2
    assert {row for row, _ in held(keys(RING))} == {RANK, (RANK - 1) % RANKS, (RANK - 2) % RANKS}
    assert held(keys(HEADS)) == held(queries(HEADS))


def test_what_arrives_is_what_the_rank_did_not_have() -> None:
    """It starts with a row; an exchange leaves it a cell of that."""
    for way in WAYS:
        own = {place for place, kind in keys(way).items() if kind == OWN}
        assert own == {place for place in held(keys(way)) if place[0] == RANK}
    assert list(keys(HEADS).values()).count(CAME) == RANKS - 1


def test_every_panel_says_what_travels_and_when() -> None:
    drawn = figure()
    for way in WAYS:
        for parts in (drawn.parts, drawn.narrow.parts if drawn.narrow else ()):
            assert way.travels in "".join(parts) and way.when in "".join(parts)
