"""Scales of pictures.

Places, round ticks, and labels that keep clear of points, of each other and of the edge.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flopbook.drawing.scales import LETTER, Room, Scale, ticks_in
from flopbook.quantities.units import format_quantity

VALUES = st.floats(min_value=1e-6, max_value=1e18, allow_nan=False)


@given(
    low=VALUES,
    factor=st.floats(min_value=1.5, max_value=1e9),
    share=st.floats(min_value=0, max_value=1),
)
def test_a_value_inside_stands_between_the_ends(low: float, factor: float, share: float) -> None:
    for log in (True, False):
        scale = Scale(low, low * factor, 300, 20, log)
        at = scale.at(low + share * (low * factor - low))
        assert 20 - 0.1 <= at <= 300 + 0.1


@given(low=VALUES, factor=st.floats(min_value=1.5, max_value=1e9))
def test_ticks_of_a_logarithmic_scale_are_round_and_inside(low: float, factor: float) -> None:
    ticks = Scale(low, low * factor, 0, 100).ticks()
    assert ticks == sorted(ticks)
    for tick in ticks:
        assert low <= tick <= low * factor
        assert f"{tick:.3e}"[:5] in ("1.000", "2.000", "3.000", "5.000")


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (2016, 2026, [2016, 2018, 2020, 2022, 2024, 2026]),
        (2023, 2026, [2023, 2024, 2025, 2026]),
        (2000, 2027, [2000, 2005, 2010, 2015, 2020, 2025]),
    ],
)
def test_ticks_of_years_are_whole_years(low: float, high: float, ticks: list[float]) -> None:
    assert Scale(low, high, 0, 100, log=False).ticks() == ticks


@given(
    low=st.floats(min_value=1e-3, max_value=1e9),
    factor=st.floats(min_value=1.5, max_value=1e6),
    log=st.booleans(),
)
@example(low=49.0, factor=98.0, log=False)  # was once 1.333 h
@example(low=1e7, factor=4.0, log=False)  # was once 1.096 years
def test_ticks_of_times_are_round_as_they_are_written(low: float, factor: float, log: bool) -> None:
    """No 347.2 days: at most three digits that are not zero, whatever the unit is."""
    for tick in ticks_in(Scale(low, low * factor, 0, 100, log), "s"):
        assert low * (1 - 1e-6) <= tick <= low * factor * (1 + 1e-6)
        digits = (
            format_quantity(tick, "s")
            .partition(" ")[0]
            .partition("e")[0]
            .replace(",", "")
            .replace(".", "")
        )
        assert len(digits.strip("0")) <= 3, format_quantity(tick, "s")


def test_ends_and_values_below() -> None:
    scale = Scale(1, 1000, 0, 300)
    assert [scale.at(value) for value in (1, 10, 100, 1000)] == [0, 100, 200, 300]
    assert scale.at(0.001) == 0, "a value below the scale stands at its beginning"
    assert Scale(0, 10, 0, 100, log=False).at(5) == 50


def test_a_label_keeps_inside_the_frame() -> None:
    room = Room((0, 0, 200, 100))
    text = "twelve chars"
    for x, y in ((5, 50), (195, 50), (100, 50), (100, 97)):
        place = room.place(text, x, y)
        assert place is not None
        left = (
            place[0]
            - {"start": 0.0, "end": len(text) * LETTER, "middle": len(text) * LETTER / 2}[place[2]]
        )
        assert left >= 0 and left + len(text) * LETTER <= 200 and 0 <= place[1] <= 100


def test_labels_do_not_cover_each_other_or_a_point() -> None:
    room = Room((0, 0, 400, 400))
    points = [(200.0, 200.0 + 3 * n) for n in range(20)]
    room.block(points)
    placed = [place for n, (x, y) in enumerate(points) if (place := room.place(f"chip {n}", x, y))]
    assert 2 <= len(placed) < len(points), "there is not room for all"
    for n, box in enumerate(room.taken):
        for later_box in room.taken[max(n + 1, len(points)) :]:
            apart = (
                box[2] <= later_box[0]
                or box[0] >= later_box[2]
                or box[3] <= later_box[1]
                or box[1] >= later_box[3]
            )
            assert apart


def test_no_room_is_told() -> None:
    assert Room((0, 0, 30, 30)).place("a name longer than the frame", 15, 15) is None


def test_a_label_keeps_off_a_line_where_it_can() -> None:
    """Its best place lies on a line; without another one it stands there nevertheless."""
    plain, aware = Room((0, 0, 400, 400)), Room((0, 0, 400, 400))
    best = plain.place("label", 200, 200)
    assert best == (194, 195, "end")
    aware.avoid([(0, 192), (200, 192)])
    other = aware.place("label", 200, 200)
    assert other and other != best
    striped = Room((0, 0, 400, 400))
    for y in range(0, 400, 6):
        striped.avoid([(0, y), (400, y)])
    assert striped.place("label", 200, 200) == best


def test_a_pointer_leads_out_of_a_crowd() -> None:
    """Nothing is free beside a point in a crowd: the words stand beyond it, on no mark and line."""
    crowd = [
        (200.0 + 6 * across, 200.0 + 6 * down) for across in range(-5, 6) for down in range(-3, 4)
    ]
    room = Room((0, 0, 400, 400))
    room.block(crowd)
    room.avoid([(0, 160), (400, 160)])
    assert room.clear("label", 200, 200) is None
    found = room.lead("label", 200, 200)
    assert found
    x, y, anchor = found
    left, right = (x, x + 5 * LETTER) if anchor == "start" else (x - 5 * LETTER, x)
    assert not any(left < at < right and y - 6 < down < y + 6 for at, down in crowd)
    assert not y - 6 < 160 < y + 6
    second = room.lead("label", 200, 194)
    assert second and second[:2] != found[:2], "its pointer and its words keep off the first"
    assert Room((150, 150, 250, 250)).lead("a name longer than the frame", 200, 200) is None
