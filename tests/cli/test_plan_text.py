"""The words of a plan: every figure in them is one of the plan."""

from __future__ import annotations

import re

import pytest

from flopbook.cli import plan_text
from flopbook.cli.assumed import OPEN_SOFTWARE
from flopbook.planning.comparing import joint_front
from flopbook.planning.explaining import loss_of_the_next, other_chunks, parts_of_layout
from flopbook.planning.flags import FRAMEWORKS, flags_for
from flopbook.planning.planner import DIVISION, RunPlan, plan
from flopbook.planning.question import question_of

ASKED = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "16",
    "batch_tokens": "256Ki",
    "seq": "8192",
    "stack": "megatron-core",
}


def planned(**more: str) -> RunPlan:
    return plan(question_of({**ASKED, **more}), 20)


FOUND = planned()
PRICED = planned(price="2USD/h")
TIGHT = planned(max_bytes="30GB")
NOTHING = planned(max_bytes="2GB")


def cells(line: str) -> list[str]:
    """The columns of a line: two spaces or more part them."""
    return re.split(r" {2,}", line.strip())


def test_a_table_has_a_line_for_each_layout_under_its_head() -> None:
    head, *lines = plan_text.table(FOUND, FOUND.layouts).splitlines()
    assert cells(head) == [*plan_text.TIMES, *plan_text.DEGREES]
    assert len(lines) == len(FOUND.layouts)
    for line, layout in zip(lines, FOUND.layouts, strict=True):
        assert line.startswith(f"{layout.seconds:.4g} s")
        assert f"{layout.low:.3g} to {layout.high:.3g} s" in line
        assert f"{100 * layout.mfu:.1f} %" in line
        numbers = [layout.tp, layout.pp, layout.virtual, layout.cp, layout.ep, layout.dp]
        expected = [*map(str, numbers), str(layout.zero), str(layout.micro_batch)]
        assert cells(line)[4:] == [*expected, layout.recompute]


def test_a_price_adds_the_cost_of_a_million_tokens() -> None:
    head, *lines = plan_text.table(PRICED, PRICED.layouts[:3]).splitlines()
    assert cells(head)[4] == plan_text.COST
    for line, layout in zip(lines, PRICED.layouts, strict=False):
        cost = layout.seconds * 16 * 2 / 3600 / 2**18 * 1e6
        assert cells(line)[4] == f"{cost:.3g}"


def test_a_schedule_with_chunks_of_its_own_is_named() -> None:
    found = planned(schedule="zb-v", pp="4")
    line = plan_text.table(found, found.layouts[:1]).splitlines()[1]
    assert cells(line)[4:7] == [str(found.layouts[0].tp), "4", "zb-v"]


def test_the_sentence_names_the_longest_part_and_the_loss_of_the_next() -> None:
    said = plan_text.why(FOUND)
    best = FOUND.layouts[0]
    part, seconds = next(iter(parts_of_layout(FOUND.question, best).items()))
    share = f"{100 * seconds / best.seconds:.0f} %"
    assert said.startswith(f"best: {share} of its step is {part.replace('_', ' ')}")
    loss = loss_of_the_next(FOUND)
    assert loss and f"the next loses {100 * loss.seconds / best.seconds:.1f} %" in said
    assert said.count("\n") == 0


def test_the_sentence_says_whether_memory_binds() -> None:
    assert TIGHT.too_large
    assert f"a step of {TIGHT.too_large.seconds:.4g} s would be possible" in plan_text.why(TIGHT)
    assert "memory binds" not in plan_text.why(FOUND._replace(larger=()))


def test_one_layout_has_no_next_to_compare_with() -> None:
    alone = FOUND._replace(layouts=FOUND.layouts[:1], divisions=FOUND.divisions[:1])
    assert "the next loses" not in plan_text.why(alone)


def test_the_list_has_one_layout_of_each_division() -> None:
    """Or all of them, where the degrees that are given leave one division alone."""
    lines = plan_text.answer(FOUND, 5, is_explained=False).splitlines()[1:6]
    assert lines == plan_text.table(FOUND, FOUND.divisions[:5]).splitlines()[1:]
    best = FOUND.layouts[0]
    fixed = {name: str(getattr(best, name)) for name in DIVISION}
    alone = planned(**fixed)
    assert len(alone.divisions) == 1 and len(alone.layouts) > 1
    lines = plan_text.answer(alone, 5, is_explained=False).splitlines()[1:6]
    assert lines == plan_text.table(alone, alone.layouts[:5]).splitlines()[1:]


def test_other_numbers_of_chunks_are_named_where_they_are_nearly_as_fast() -> None:
    piped = planned(pp="4", tp="1")
    best = piped.layouts[0]
    near = other_chunks(piped, best)
    longest = 100 * max(near.values())
    said = plan_text.answer(piped, 3, is_explained=False)
    assert f"the best is at most {longest:.1f} % longer" in said
    for count, share in near.items():
        assert f"{count}" in said.partition("with virtual ")[2].partition(" the best")[0]
        degrees = {name: str(getattr(best, name)) for name in DIVISION}
        again = planned(**degrees, virtual=str(count)).layouts[0]
        assert again.seconds / best.seconds - 1 == pytest.approx(share)
    assert "with virtual" not in plan_text.answer(planned(pp="1"), 3, is_explained=False)


@pytest.mark.parametrize("most", [1, 3, 20])
def test_what_was_left_out_adds_up(most: int) -> None:
    said = plan_text.left_out(FOUND, most)
    left, considered, *counts = [int(n.replace(",", "")) for n in re.findall(r"\b\d[\d,]*\b", said)]
    assert left == sum(counts) == sum(FOUND.infeasible.values())
    assert considered == FOUND.considered
    assert len(counts) == min(most + 1, len(FOUND.infeasible))


def test_parts_are_listed_with_their_shares() -> None:
    lines = plan_text.parts(FOUND).splitlines()
    assert lines[0] == "parts of the best step"
    shares = [float(cells(line)[2].removesuffix(" %")) for line in lines[1:]]
    assert sum(shares) == pytest.approx(100, abs=1) and shares == sorted(shares, reverse=True)
    named = {cells(line)[0].replace(" ", "_") for line in lines[1:]}
    parts = parts_of_layout(FOUND.question, FOUND.layouts[0])
    assert named == {name for name, seconds in parts.items() if seconds > 0}


def test_nothing_that_fits_says_how_many_chips_do() -> None:
    said = plan_text.nothing_fits(NOTHING)
    assert said.startswith("no layout on 16 chips fits into 2 GB each; ")
    count = int(re.findall(r"; ([\d,]+) chips are enough", said)[0].replace(",", ""))
    assert planned(max_bytes="2GB", chips=str(count)).layouts
    never = planned(max_bytes="1MB", chips="262144", batch_tokens=str(2**31))
    assert plan_text.nothing_fits(never).endswith("fits into 1 MB each, nor on more chips")


def test_counts_stand_beside_each_other() -> None:
    plans = [planned(chips=count, price="2USD/h") for count in ("1", "8", "16")]
    head, *lines, last = plan_text.side_by_side(plans).splitlines()
    assert cells(head)[0] == "chips" and plan_text.COST in cells(head)
    assert last == "none fits with chips 1"
    for line, found in zip(lines, plans[1:], strict=True):
        assert cells(line)[:2] == [
            str(found.question.chips),
            f"{found.layouts[0].seconds:.4g} s",
        ]


def test_formats_stand_beside_each_other_with_or_without_counts() -> None:
    formats = [planned(dtype=dtype) for dtype in ("bf16", "fp8")]
    head, *lines = plan_text.side_by_side(formats).splitlines()
    assert cells(head)[0] == "dtype" and [cells(line)[0] for line in lines] == ["bf16", "fp8"]
    assert formats[1].layouts[0].seconds < formats[0].layouts[0].seconds
    both = [*formats, planned(dtype="fp8", chips="8"), planned(dtype="fp8", chips="1")]
    head, *lines, last = plan_text.side_by_side(both).splitlines()
    assert cells(head)[:2] == ["chips", "dtype"]
    assert [cells(line)[:2] for line in lines] == [["16", "bf16"], ["16", "fp8"], ["8", "fp8"]]
    assert last == "none fits with chips and dtype 1 fp8"


def test_the_front_of_several_counts_weighs_the_cost_too() -> None:
    plans = [
        plan(question_of({**ASKED, "chips": count, "price": "2USD/h"}), 2, with_front=True)
        for count in ("8", "16", "32")
    ]
    front = joint_front(plans)
    lines = plan_text.joint(plans, 1000).splitlines()[1:]
    assert [cells(line)[0] for line in lines] == [str(one.plan.question.chips) for one in front]
    # The fastest, and the cheapest, which runs on fewer chips.
    assert front[0].layout.seconds == min(found.layouts[0].seconds for found in plans)
    cheapest = min(found.layouts[0].seconds * found.question.chips for found in plans)
    assert min(one.chip_seconds for one in front) == pytest.approx(cheapest)
    assert {one.plan.question.chips for one in front} == {8, 16, 32}
    assert joint_front([planned(max_bytes="2GB")]) == []


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_what_a_framework_lacks_is_a_note_each(name: str) -> None:
    said = plan_text.in_words_of(name, FOUND).splitlines()
    flags = flags_for(name, FOUND.question, FOUND.layouts[0])
    assert said[1] == f"  {flags.text}"
    assert said[2:] == [f"note: not a flag of {name}: {lack}" for lack in flags.lacks]


def test_the_answer_is_made_of_these() -> None:
    plain = plan_text.answer(FOUND, 3, is_explained=False).splitlines()
    assert plain[:4] == plan_text.table(FOUND, FOUND.divisions[:3]).splitlines()
    assert plain[4:6] == ["", plan_text.why(FOUND)]
    explained = plan_text.answer(FOUND, 3, is_explained=True)
    assert plan_text.parts(FOUND) in explained
    nothing = plan_text.answer(NOTHING, 3, is_explained=False)
    assert nothing.startswith(plan_text.nothing_fits(NOTHING))
    front = plan(FOUND.question, 20, with_front=True)
    listed = plan_text.answer(front, 5, is_explained=False)
    assert listed.startswith(plan_text.table(front, front.front[:5]))


def test_a_stack_that_was_not_named_is_a_note() -> None:
    question = question_of({name: ASKED[name] for name in ASKED if name != "stack"})
    said = plan_text.answer(plan(question, 2), 2, is_explained=False)
    assert f"note: {OPEN_SOFTWARE}" in said
    assert OPEN_SOFTWARE not in plan_text.answer(FOUND, 2, is_explained=False)


def test_a_limit_of_time_is_told_apart_from_memory() -> None:
    late = planned(max_seconds="1ms")
    said = plan_text.nothing_fits(late)
    fastest = planned().layouts[0].seconds
    assert f"takes at most 1 ms: the fastest takes {fastest:.4g} s" in said
    assert "fits into" in plan_text.nothing_fits(NOTHING)
