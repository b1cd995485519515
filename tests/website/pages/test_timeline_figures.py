"""Timelines of chunked prefill and of goodput: all work is done, words say what is drawn."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.quantities.units import percent
from scripts.website.figures import (
    chunked_prefill,
    goodput_timeline,
    hierarchy_lanes,
    mixed_lanes,
    overlap,
    tensor_lanes,
    two_batches,
)
from scripts.website.figures.chunked_prefill import (
    TARGET,
    at_once,
    in_chunks,
    prompt_seconds,
    step_seconds,
)
from scripts.website.figures.drawing import Figure
from scripts.website.figures.folded import folded
from scripts.website.figures.goodput_timeline import (
    END,
    FAILURES,
    RESTART,
    SAVE,
    best_interval,
    intervals,
    shares,
    spans,
)
from scripts.website.figures.shapes import read


@given(st.floats(0.010, 0.2))
def test_chunks_read_the_whole_prompt_within_the_target(target: float) -> None:
    passes = in_chunks(target)
    assert sum(one.chunk for one in passes) == pytest.approx(prompt_seconds())
    assert all(one.seconds <= target + 1e-9 for one in passes)
    assert all(one.decode == step_seconds() for one in passes), "nobody is left out"


def test_chunks_shorten_the_wait_of_others_and_lengthen_that_of_the_new_one() -> None:
    whole, cut = at_once(), in_chunks(TARGET)
    assert max(one.seconds for one in cut) < max(one.seconds for one in whole)
    assert sum(one.seconds for one in cut) > sum(one.seconds for one in whole)


def test_the_words_of_the_chunks_are_those_of_the_passes() -> None:
    drawn = chunked_prefill.figure()
    assert f"{len(in_chunks())} passes" in drawn.description
    assert drawn.narrow is not None
    for parts in (drawn.parts, drawn.narrow.parts):
        assert "".join(parts).count("<circle") == 12 + len(in_chunks()) + len(at_once())


@given(st.floats(0.5, 60))
def test_a_run_is_always_at_something_and_saves_what_stays(interval: float) -> None:
    found = spans(interval)
    assert found[0].start == 0 and found[-1].end == pytest.approx(END)
    for one, other in itertools.pairwise(found):
        assert one.end == pytest.approx(other.start)
    assert sum(shares(interval).values()) == pytest.approx(1)
    assert shares(interval)["restart"] == pytest.approx(len(FAILURES) * RESTART / END)
    lost = [span.end - span.start for span in found if span.kind == "lost"]
    assert all(long <= interval + SAVE + 1e-9 for long in lost)


def test_the_best_of_the_three_intervals_keeps_most() -> None:
    rarely, best, often = (shares(every) for _, every in intervals())
    assert best["work"] > max(rarely["work"], often["work"])
    assert rarely["lost"] > best["lost"] > often["lost"]
    assert rarely["save"] < best["save"] < often["save"]
    assert best_interval() == pytest.approx((2 * SAVE * END / len(FAILURES)) ** 0.5)


def test_the_words_of_the_goodput_are_those_of_the_bars() -> None:
    drawn = goodput_timeline.figure()
    for name, every in intervals():
        assert f"saved {name}: {percent(shares(every)['work'])} counts" in drawn.description
    assert drawn.narrow is not None
    bars = sum(len(spans(every)) for _, every in intervals())
    for parts in (drawn.parts, drawn.narrow.parts):
        assert "".join(parts).count("<rect") == bars


def _ink(text: str) -> float:
    """Pixels of letters of 12 pixels, as a browser draws them in Arial."""
    widths = {"W": 11.3, "M": 10.0, "G": 9.3, "O": 9.3, "Q": 9.3}
    return sum(widths.get(letter, 8.7 if letter.isupper() else 6.7) for letter in text)


@pytest.mark.parametrize(
    "drawn",
    [
        mixed_lanes.figure(),
        two_batches.figure(),
        hierarchy_lanes.figure(),
        tensor_lanes.figure(),
        overlap.figure("fsdp"),
    ],
    ids=lambda drawn: drawn.title,
)
def test_letters_stay_inside_their_bars(drawn: Figure) -> None:
    narrow = folded(drawn)
    assert narrow is not None
    for parts in (drawn.parts, narrow.parts):
        found = read(parts)
        boxes = [one.extent for one in found if one.element.tag == "rect"]
        for text in (one for one in found if one.anchor == "middle" and len(one.text) < 4):
            around = [
                box.width
                for box in boxes
                if box.left <= text.x <= box.right and box.top < text.y < box.foot
            ]
            assert _ink(text.text) + 3 <= min(around), text.text


def test_a_bar_without_letters_says_them_to_the_pointer() -> None:
    assert "<title>R7</title>" in "".join(mixed_lanes.figure().parts)


def test_both_gathers_of_weights_are_named_at_every_degree() -> None:
    """W10 had no room in two of three panels, and its bar no name."""
    drawn = "".join(mixed_lanes.figure().parts)
    assert [drawn.count(f">{name}</text>") for name in ("W8", "W9")] == [3, 3]
