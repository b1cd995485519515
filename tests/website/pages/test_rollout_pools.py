"""The picture of two pools: neither waits, steps get shorter, and the words say what is drawn."""

from __future__ import annotations

import itertools

import pytest

from flopbook.quantities.units import percent
from scripts.website.figures.overlap import idle_share
from scripts.website.figures.rollout_pools import (
    SEQUENCES,
    STEPS,
    TAIL,
    TRAINING,
    WEIGHTS,
    Way,
    apart,
    figure,
    generating_share,
    in_turn,
    ways,
)


@pytest.mark.parametrize("tail", [0, 0.5, TAIL])
def test_at_the_split_both_pools_take_equally_long(tail: float) -> None:
    share = generating_share(tail)
    assert 0 < share < 1
    generating = WEIGHTS + tail + SEQUENCES / share
    assert generating == pytest.approx(TRAINING / (1 - share)) == pytest.approx(apart(tail))


def test_two_pools_beat_turns_and_no_tail_beats_both() -> None:
    assert apart(0) < apart(TAIL) < in_turn()


@pytest.mark.parametrize("way", ways(), ids=lambda way: way.name)
def test_a_lane_does_one_thing_at_a_time_and_all_steps_are_there(way: Way) -> None:
    for lane in (0, 1):
        spans = sorted((bar.start, bar.end) for bar in way.bars if bar.lane == lane)
        assert all(end <= start + 1e-9 for (_, end), (start, _) in itertools.pairwise(spans))
    trained = [bar.text for bar in way.bars if bar.lane == 1]
    assert trained == [f"{batch}" for batch in range(1, STEPS + 1)]
    assert max(bar.end for bar in way.bars) == pytest.approx(STEPS * way.step)


def test_nobody_trains_on_answers_that_are_not_written() -> None:
    """In turn after their tail; with two pools on those of the step before."""
    for way in ways():
        written = {bar.text: bar.end for bar in way.bars if bar.lane == 0 and bar.text}
        for bar in way.bars:
            if bar.lane == 1 and bar.text in written:
                assert written[bar.text] <= bar.start + 1e-9


def test_the_words_say_what_is_drawn() -> None:
    drawn = figure()
    assert f"{STEPS * in_turn():.3g} in turn" in drawn.title
    for way in ways():
        assert f"{way.name}: a step takes {way.step:.3g}" in drawn.description
        assert percent(idle_share(way.bars, 1)) in drawn.description
    assert drawn.narrow is not None
    counts = {"".join(parts).count("<rect") for parts in (drawn.parts, drawn.narrow.parts)}
    assert counts == {sum(len(way.bars) for way in ways())}
