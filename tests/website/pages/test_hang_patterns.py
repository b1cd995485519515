"""Three kinds of hang, as the chapter on reliability draws them."""

from __future__ import annotations

from scripts.website.figures.hang_patterns import HANGS, culprits, figure
from tests.support.rendering import text_of


def test_the_rank_that_differs_is_named_and_no_other() -> None:
    assert [culprits(hang) for hang in HANGS] == [[3], [2], []]
    assert all(str(rank) in hang.suspect for hang in HANGS for rank in culprits(hang))
    assert HANGS[-1].suspect.endswith("network"), "no rank differs, so none is suspected"


def test_a_launched_collective_is_not_taken_for_one_that_a_gpu_has_begun() -> None:
    """A rank whose GPU is caught in an earlier kernel looks like the others in a stack."""
    text = text_of("reliability-and-energy")
    assert "every rank has done its part" not in text
    assert "ask next whether every GPU has begun it" in text


def test_the_picture_tells_all_three() -> None:
    assert all(hang.name in figure().description for hang in HANGS)
