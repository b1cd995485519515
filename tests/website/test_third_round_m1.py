"""What a third reading of seven chapters found wrong, recomputed beside words that are right."""

from __future__ import annotations

import re

import pytest

from scripts.website.figures import (
    bucket_sizes,
    memory_wall,
    pipeline_schedule,
    sm_core,
)
from scripts.website.figures.narrow import charts_sheet
from tests.support.rendering import rendered


def printed(chapter: str) -> str:
    """A chapter as readers see it: filled, without tags, on one line."""
    return " ".join(re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).split())


@pytest.mark.parametrize("schedule", ["zb-h2", "zb-v"])
def test_a_picture_without_a_bubble_says_how_it_is_counted(schedule: str) -> None:
    drawn = pipeline_schedule.figure(schedule)
    assert "from its own first pass to its own last" in drawn.caption


def test_a_drawing_names_main_memory_before_its_kind_is_told() -> None:
    assert "The share of main memory (HBM)" in sm_core.figure().caption


def test_one_stroke_with_two_meanings_has_a_legend_below_each_panel() -> None:
    """On a phone seven names stood below both panels, and solid blue was two of them."""
    drawn = memory_wall.figure()
    sheet = "".join(charts_sheet(drawn.plots).parts)
    order = ["accelerators", "FLOP/s", "size", "memory chips &#40;DRAM&#41;", "capacity"]
    places = [sheet.index(f">{word}<") for word in order]
    assert places == sorted(places)


def test_best_buckets_have_the_colours_and_names_of_their_lines() -> None:
    drawn = bucket_sizes.figure()
    marks = [series for series in drawn.plots[0].series if series.kind == "mark"]
    assert [mark.style for mark in marks] == ["fb-c0", "fb-c1"]
    left = [series.points[0] for series in drawn.plots[0].series if series.kind == "line"]
    assert max(size for size, _ in left) < 2e6
