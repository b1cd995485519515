"""The frame of a plot: ticks at their values, titles along their axes, names that keep apart."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.drawing.frame import (
    NAME_LINE,
    Frame,
    PlotAxis,
    moved_apart,
    powers_of_ten,
    scale_over,
    side_by_side,
    ticks_of,
)
from flopbook.drawing.scales import Scale


def frame() -> Frame:
    x, y = Scale(1, 1000, 100, 400), Scale(0, 10, 300, 20, log=False)
    return Frame(
        PlotAxis(x, ticks_of(powers_of_ten(x), "{:g}".format), "batch & size"),
        PlotAxis(y, ticks_of(y.round_ticks(), "{:g}".format), "seconds"),
    )


def test_each_tick_has_a_line_and_its_text_at_its_value() -> None:
    root = ET.fromstring(f"<svg>{''.join(frame().grid())}</svg>")
    texts = [(node.text, node.get("x")) for node in root.iter("text")]
    assert texts[:4] == [("1", "100.0"), ("10", "200.0"), ("100", "300.0"), ("1000", "400.0")]
    lines = [node.get("d") for node in root.iter("path")]
    assert lines[1] == "M200.0 20V300" and "M100 300.0H400" in lines
    assert len(lines) == len(texts)


def test_titles_are_escaped_and_stand_in_the_middle_of_their_axes() -> None:
    across, up = frame().titles()
    assert 'x="250.0" y="338"' in across and "batch &amp; size" in across
    assert "translate(14 160.0) rotate(-90)" in up


def test_a_roof_bends_at_its_ridge() -> None:
    x, y = Scale(1, 100, 0, 200), Scale(1, 100, 100, 0)
    roof = Frame(PlotAxis(x, (), ""), PlotAxis(y, (), "")).roof(1, peak=10, bandwidth=1)
    assert roof == "0.0,100.0 100.0,50.0 200.0,50.0"


@given(st.lists(st.floats(min_value=1e-6, max_value=1e12), min_size=1, max_size=9), st.booleans())
def test_a_scale_holds_all_its_values(values: list[float], log: bool) -> None:
    scale = scale_over(values, 0, 100, log=log)
    assert scale.low <= min(values) and max(values) <= scale.high and scale.low < scale.high


@pytest.mark.parametrize(("values", "low"), [([2.0, 10.0], 0.0), ([8.0, 10.0], 8.0)])
def test_a_linear_scale_begins_at_zero_unless_that_wastes_half(
    values: list[float], low: float
) -> None:
    assert scale_over(values, 0, 100, log=False).low == low


@given(st.lists(st.floats(min_value=0, max_value=400), max_size=9).map(sorted))
def test_names_keep_a_line_apart_and_move_down_only(places: list[float]) -> None:
    baselines = moved_apart(places)
    assert all(baseline >= place for baseline, place in zip(baselines, places, strict=True))
    for above, below in itertools.pairwise(baselines):
        assert below - above >= NAME_LINE - 1e-9


def test_powers_of_ten_are_those_on_the_scale() -> None:
    assert powers_of_ten(Scale(0.5, 2000, 0, 1)) == [1, 10, 100, 1000]
    assert all(
        re.fullmatch("1e[+-][0-9]+", f"{power:.0e}")
        for power in powers_of_ten(Scale(1e-9, 1, 0, 1))
    )


@given(st.lists(st.tuples(st.floats(0, 60), st.floats(0, 60)), max_size=25))
def test_marks_move_up_or_down_until_each_is_in_sight(places: list[tuple[float, float]]) -> None:
    """No two are nearer than the gap; one that hides none stays, and none moves sideways."""
    found = side_by_side(places, 8)
    assert [x for x, _ in found] == [x for x, _ in places]
    for one, other in itertools.combinations(found, 2):
        assert math.dist(one, other) >= 8 - 0.1
    for place, at in zip(places, found, strict=True):
        if all(math.dist(place, other) >= 30 for other in places if other is not place):
            assert at[1] == pytest.approx(place[1], abs=0.06)
