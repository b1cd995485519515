"""What a strict reader of seven chapters found wrong, recomputed beside words that are right."""

from __future__ import annotations

import re

import pytest

from scripts.website.figures import experts_read, rails, two_batches
from scripts.website.pages.predicted import CHECK, FIT
from scripts.website.pages.prediction_order import APART, ordered
from tests.support.rendering import READS_THE_HANDBOOK, rendered

pytestmark = READS_THE_HANDBOOK


def _read(chapter: str) -> str:
    """A chapter with its expressions filled, without tags, in one line."""
    words = re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md"))
    return " ".join(words.replace("&nbsp;", " ").split())


def test_a_message_that_changes_rails_has_an_arrow_for_every_leg() -> None:
    """Up to the rail, down to the right node, along NVLink."""
    for sheet in (rails.figure().parts, rails.figure().narrow.parts):
        assert sum(part.count("<polyline") == 2 for part in sheet) == 3  # a shaft and a head


def test_captions_say_what_titles_do_not() -> None:
    figure = experts_read.figure()
    assert "A lone token" in figure.title and "A lone token" not in figure.caption
    assert "light, D: dispatch; dark, C: combine" in two_batches.figure().caption


@pytest.mark.parametrize("use", [FIT, CHECK])
def test_pairs_farther_apart_are_fewer(use: str) -> None:
    pairs = [ordered(use, apart).pairs for apart in APART]
    assert pairs == sorted(pairs, reverse=True) and pairs[0] > 10


def test_a_share_of_pairs_is_not_sold_as_that_of_a_median_error() -> None:
    """Layouts are ordered rightly in well under nine of ten pairs, so the list is timed."""
    share = ordered(FIT, APART[0]).share
    assert 0.6 < share < 0.9
    text = _read("prediction")
    assert f"{100 * share:.0f} in a hundred of their pairs" in text
    assert "clusters left out" not in text and "Does it choose rightly?" in text
