"""All layouts of one run, as the chapter on configurations draws them."""

from __future__ import annotations

import re

from scripts.website.figures.layout_spread import bins, figure, layout_spread, place_of
from scripts.website.figures.step_budget import budgets


def test_good_layouts_are_rare_among_those_that_fit() -> None:
    spread = layout_spread()
    assert len(spread.seconds) > 10_000 and spread.considered > len(spread.seconds)
    assert spread.near / len(spread.seconds) < 0.01, "fewer than one in a hundred, says the text"
    assert spread.median > 2 * spread.best
    assert f"{len(spread.seconds):,}" in figure().title


def test_every_layout_lies_in_a_bin_or_beyond_the_edge() -> None:
    spread = layout_spread()
    drawn = sum(count for _, count in bins(spread)[::2])
    assert drawn >= sum(seconds < 100 for seconds in spread.seconds)


def test_the_four_of_the_chapter_have_their_places_in_order() -> None:
    places = [place_of(budget.seconds) for budget in budgets("choice")]
    assert places == sorted(places) and places[0] < layout_spread().near < places[1]


def test_the_number_of_a_layout_beyond_the_median_stands_off_its_line() -> None:
    """The second and the fourth stood on a dashed line; names of the two lines keep apart."""
    drawn = "".join(figure().parts)
    found = re.findall(r'text-anchor="(\w+)"[^>]*>([^<]+)<', drawn)
    said = {text: anchor for anchor, text in found if text in ("1", "2", "3", "4", "the median")}
    assert said == {"1": "end", "2": "start", "3": "end", "4": "start", "the median": "start"}
