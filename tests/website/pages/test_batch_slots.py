"""The picture of slots: the same answers in both, none on top of another, refilled is sooner."""

from __future__ import annotations

import itertools

import pytest

from scripts.website.figures.batch_slots import (
    ANSWERS,
    SLOTS,
    SlotUse,
    figure,
    fixed,
    lengths,
    refilled,
    steps_of,
)


@pytest.mark.parametrize("uses", [fixed(), refilled()], ids=["fixed", "refilled"])
def test_each_answer_has_its_length_and_a_slot_of_its_own(uses: list[SlotUse]) -> None:
    by_answer = {use.answer: use.end - use.start for use in uses}
    assert by_answer == dict(enumerate(lengths())) and len(uses) == ANSWERS
    for slot in range(SLOTS):
        row = sorted((use.start, use.end) for use in uses if use.slot == slot)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(row))


def test_a_fixed_batch_waits_for_its_longest_and_refilled_slots_do_not() -> None:
    answers = lengths()
    batches = [answers[first : first + SLOTS] for first in range(0, ANSWERS, SLOTS)]
    assert steps_of(fixed()) == sum(map(max, batches))
    assert sum(answers) / SLOTS <= steps_of(refilled()) < steps_of(fixed())
    for use in refilled():  # a slot that is free is taken at once
        earlier = [other.end for other in refilled() if other.answer < use.answer]
        assert use.start == 0 or use.start in earlier


def test_the_title_says_both_times_and_both_sheets_have_all_bars() -> None:
    drawn = figure()
    assert f"{steps_of(fixed())} steps" in drawn.title and str(steps_of(refilled())) in drawn.title
    assert drawn.narrow is not None
    for parts in (drawn.parts, drawn.narrow.parts):
        drawn_boxes, empty = "".join(parts).count("<rect"), "".join(parts).count("fb-hollow")
        assert drawn_boxes - empty == 2 * ANSWERS
        assert empty > 2 * SLOTS  # every slot but the longest waits, in each batch
