"""A schedule in the terminal: it shows what was run, it fits, and it says when it is cut."""

from __future__ import annotations

import pytest

from flopbook.errors import FlopbookError
from flopbook.formulas.pipeline import SCHEDULES
from flopbook.pipelines import Run, Times, plan, simulate
from flopbook.pipelines.timeline import timeline_text

# The published picture of ZB-H1 for four stages, here with eight micro-batches, drawn by hand.
ZB_H1 = """\
stage 1 |F1F2F3F4......B1W1F5B2W2F6B3W3F7B4W4F8B5W5B6W6B7W7B8W8|
stage 2 |..F1F2F3....B1F4B2W1F5B3W2F6B4W3F7B5W4F8B6W5B7W6B8W7W8|
stage 3 |....F1F2..B1F3B2F4B3W1F5B4W2F6B5W3F7B6W4F8B7W5B8W6W7W8|
stage 4 |......F1B1F2B2F3B3F4B4W1F5B5W2F6B6W3F7B7W4F8B8W5W6W7W8|
F forward, B backward for the inputs, W backward for the weights, . idle"""


EQUAL = Times(1, 1, 1)


def run(schedule: str, stages: int = 4, microbatches: int = 8, times: Times = EQUAL) -> Run:
    return simulate(
        plan(schedule, stages, microbatches, 2 if schedule == "interleaved" else 1), times
    )


def rows(text: str) -> list[str]:
    """The cells of the stages."""
    return [
        line.partition("|")[2].removesuffix("|")
        for line in text.splitlines()
        if line.lstrip().startswith("stage")
    ]


def test_zb_h1_as_in_the_paper() -> None:
    assert timeline_text(run("zb-h1"), 80) == ZB_H1


def test_a_pass_in_one_piece_is_as_long_as_both_parts() -> None:
    first, second = rows(timeline_text(run("1f1b", 2, 2), 80))
    assert first == "F1-F2-......A1----...A2----"
    assert second == "...F1-A1----F2-A2----......"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("width", [40, 57, 80, 200])
def test_it_fits_and_says_when_it_is_cut(schedule: str, width: int) -> None:
    for count in (8, 24):
        text = timeline_text(run(schedule, 4, count), width)
        lines = text.splitlines()
        assert max(map(len, lines)) <= width
        stages = [line for line in lines if line.lstrip().startswith("stage")]
        uncut = [line for line in stages if line.endswith("|")]
        assert (len(uncut) == 4) != ("cut: the first" in text)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_idle_cells_are_the_idle_time(schedule: str) -> None:
    """With equal passes every cell is a third of a pass or a whole one: dots can be counted."""
    made = run(schedule)
    text = timeline_text(made, 400)
    cells = rows(text)
    assert len({len(line) for line in cells}) == 1
    for line, stage in zip(cells, made.timed, strict=True):
        busy = sum(item.end - item.start for item in stage)
        assert line.count(".") / len(line) == pytest.approx(
            1 - float(busy) / float(made.makespan), abs=0.02
        )


def test_every_pass_is_drawn_with_its_number() -> None:
    for line in rows(timeline_text(run("zb-h2", 3, 9), 200)):
        for number in range(1, 10):
            assert all(f"{kind}{number}" in line for kind in "FBW")


def test_letters_alone_where_numbers_do_not_fit() -> None:
    cells = rows(timeline_text(run("zb-h1", 4, 8), 48))
    assert all(not any(letter.isdigit() for letter in line) for line in cells)
    assert cells[0].startswith("FFFF...BWFBWF")


def test_times_show_in_the_lengths() -> None:
    first = rows(timeline_text(run("zb-h1", 2, 4, Times(2, 3, 1)), 200))[0]
    assert first.startswith("F1----F2----") and "B1-------" in first


def test_small_letters_mark_the_second_chunk_and_the_other_end() -> None:
    assert "small letters the later chunks" in timeline_text(run("zb-v"), 200)
    both = timeline_text(run("dualpipe"), 200)
    assert "small letters from the other end" in both
    assert rows(both)[0].startswith("F1-F2-F3-f5-") and rows(both)[-1].startswith("f5-f6-f7-F1-")
    assert "small" not in timeline_text(run("1f1b"), 200)


def test_more_stages_than_a_screen_has_are_refused() -> None:
    with pytest.raises(
        FlopbookError, match="a timeline of 65 stages does not fit; at most 64 are drawn"
    ):
        timeline_text(run("1f1b", 65, 2), 80)


def test_a_narrow_terminal_gets_a_narrow_picture() -> None:
    assert max(map(len, timeline_text(run("gpipe", 2, 40), 1).splitlines())) <= 40
