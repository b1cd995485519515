"""A plan is the whole space: equal to asking `predict` and `memory` for every layout by itself."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.planning.explaining import parts_of_layout, run_with, smallest_count
from flopbook.planning.planner import PlannedLayout, RunPlan, division_of, plan
from flopbook.planning.question import Question, question_of
from flopbook.planning.space import space_of
from flopbook.prediction.asking import predict, run_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layout_memory import software_options
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.step_time import step_parts

EVERYTHING = 10**6
DENSE = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "8",
    "batch_tokens": "64Ki",
    "seq": "8192",
    "stack": "megatron-core",
}
MIXTURE = {**DENSE, "model": "mixtral-8x7b", "chip": "b200", "batch_tokens": "32Ki"}
SEVERAL_DOMAINS = {**DENSE, "chips": "16", "zero": "3", "pp": "1"}
OLD = {**DENSE, "model": "gpt-3-13b", "seq": "2048", "batch_tokens": "16Ki", "stack": "deepspeed"}
CASES = {"dense": DENSE, "mixture": MIXTURE, "unfused": OLD, "groups": SEVERAL_DOMAINS}
every_case = pytest.mark.parametrize("asked", list(CASES.values()), ids=list(CASES))


def planned(asked: dict[str, str], top: int = EVERYTHING) -> RunPlan:
    return plan(question_of(asked), top)


@every_case
def test_a_division_is_represented_by_its_fastest_layout(asked: dict[str, str]) -> None:
    """In the order of all layouts, whatever the number that is kept."""
    every = planned(asked)
    fastest: dict[tuple[int, ...], PlannedLayout] = {}
    for layout in every.layouts:
        fastest.setdefault(division_of(layout), layout)
    assert every.divisions == tuple(fastest.values())
    assert planned(asked, 3).divisions == every.divisions[:3]


def options_of(asked: dict[str, str], layout: PlannedLayout) -> dict[str, str | None]:
    """The options of predict for a layout."""
    names = ("tp", "pp", "cp", "ep", "dp", "virtual", "schedule", "zero", "hsdp")
    names = (*names, "micro_batch", "recompute")
    return {**asked, **{name: str(getattr(layout, name)) for name in names}}


def memory_of(question: Question, layout: PlannedLayout) -> float:
    """Bytes by `flopbook memory`."""
    degrees = ("tp", "pp", "cp", "ep", "dp", "virtual", "zero", "hsdp", "micro_batch")
    numbers = {name: float(getattr(layout, name)) for name in degrees}
    result = calculate(
        "memory",
        **software_options(question.model, question.run),
        **numbers,
        microbatches=question.batch / (layout.dp * layout.micro_batch),
        schedule=layout.schedule,
        recompute=layout.recompute,
    )
    return float(result.outputs["total"])


def brute_force(asked: dict[str, str]) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Seconds and bytes of each layout that fits, one by one, by loops over all numbers."""
    question = question_of(asked)
    p = fitted_kinds()["training_throughput"].parameters
    found = {}
    for layout in every_layout(question):
        try:
            held = memory_of(question, layout)
        except FlopbookError:
            continue
        is_asked = all(getattr(layout, name) == size for name, size in question.fixed.items())
        if held > question.run.machine.memory or not is_asked:
            continue
        run = run_of(options_of(asked, layout))
        found[layout[:11]] = (float(step_parts(Layouts([run]), p).seconds[0]), held)
    return found


def every_layout(question: Question) -> Iterator[PlannedLayout]:
    """All combinations that whole layers, batches and widths allow."""
    chips, shape = question.chips, question.run.shape
    upto = range(1, chips + 1)
    experts = [ep for ep in range(1, int(shape.experts) + 1) if shape.experts % ep == 0]
    for tp, pp, cp in itertools.product(upto, upto, upto):
        if chips % (tp * pp * cp) or shape.ffn_width % tp:
            continue
        dp = chips // (tp * pp * cp)
        sizes = [b for b in range(1, question.batch + 1) if question.batch % (dp * b) == 0]
        for virtual in range(1, int(shape.layers) // pp + 1):
            schedule = "interleaved" if virtual > 1 else "1f1b"
            if (virtual > 1 and pp == 1) or not even(int(shape.layers), pp * virtual):
                continue
            for ep, zero, size, recompute in itertools.product(
                experts, range(4), sizes, question.recompute
            ):
                if (zero and dp * cp == 1) or (zero == 2 and pp > 1):
                    continue
                words = virtual, schedule, dp, zero, cp, ep, size, recompute
                for groups in every_number_of_groups(question, tp, cp, dp, zero):
                    yield PlannedLayout(tp, pp, *words, groups, *(0.0,) * 5)


def every_number_of_groups(question: Question, tp: int, cp: int, dp: int, zero: int) -> set[int]:
    """One, or with FSDP as many as there are domains of fast links."""
    domains = dp * cp * tp / question.run.domain
    is_hybrid = zero == 3 and domains > 1 and dp % domains == 0
    return {1, int(domains)} if is_hybrid else {1}


def even(layers: int, chunks: int) -> bool:
    short = -layers % chunks
    return short <= 3 and short <= 0.05 * layers


@every_case
def test_the_plan_equals_brute_force(asked: dict[str, str]) -> None:
    expected = brute_force(asked)
    found = planned(asked)
    assert len(expected) == len(found.layouts) == found.feasible > 40
    assert (max(layout.hsdp for layout in found.layouts) > 1) == (asked is SEVERAL_DOMAINS)
    for layout in found.layouts:
        seconds, held = expected[layout[:11]]
        assert layout.seconds == pytest.approx(seconds, rel=1e-12)
        assert layout.bytes == pytest.approx(held, rel=1e-12)
    assert [layout.seconds for layout in found.layouts] == sorted(
        layout.seconds for layout in found.layouts
    )


@every_case
def test_predict_gives_the_same_for_the_same_options(asked: dict[str, str]) -> None:
    found = planned(asked)
    for layout in random.Random(15).sample(found.layouts, 8):
        prediction = predict(options_of(asked, layout))
        assert prediction.seconds == pytest.approx(layout.seconds, rel=1e-12)
        assert (prediction.low, prediction.high) == pytest.approx((layout.low, layout.high))
        assert prediction.mfu == pytest.approx(layout.mfu)
        assert prediction.memory and prediction.memory.fits
        assert prediction.memory.total == pytest.approx(layout.bytes, rel=1e-12)
        parts = parts_of_layout(found.question, layout)
        assert parts == pytest.approx(dict(prediction.parts))
        assert prediction.run == run_with(found.question, layout)


def test_zero_2_in_a_pipeline_is_shown_where_it_is_asked_for() -> None:
    """It equals ZeRO-1 in time and memory there, and the table once showed both."""
    usual = planned(DENSE)
    assert not any(layout.zero == 2 and layout.pp > 1 for layout in usual.layouts)
    assert usual.infeasible["same as a lower ZeRO stage"] > 0
    asked = planned({**DENSE, "zero": "2", "pp": "2"})
    same = planned({**DENSE, "zero": "1", "pp": "2"})
    assert asked.layouts and [one.seconds for one in asked.layouts] == pytest.approx(
        [one.seconds for one in same.layouts]
    )


@every_case
def test_every_layout_is_ranked_or_counted_once(asked: dict[str, str]) -> None:
    found = planned(asked)
    assert len(found.layouts) + sum(found.infeasible.values()) == found.considered
    assert len({layout[:11] for layout in found.layouts}) == len(found.layouts)
    assert found.considered == space_of(found.question).size


@pytest.mark.parametrize("schedule", ["gpipe", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v"])
def test_other_schedules_are_planned_as_they_are_predicted(schedule: str) -> None:
    asked = {**DENSE, "schedule": schedule, "batch_tokens": "256Ki"}
    found = planned(asked)
    piped = [layout for layout in found.layouts if layout.pp > 1]
    assert piped and {layout.schedule for layout in piped} == {schedule}
    for layout in random.Random(5).sample(piped, 3):
        prediction = predict(options_of(asked, layout))
        assert prediction.seconds == pytest.approx(layout.seconds, rel=1e-12)
        assert prediction.memory
        assert prediction.memory.total == pytest.approx(layout.bytes, rel=1e-12)
        assert memory_of(found.question, layout) == pytest.approx(layout.bytes, rel=1e-12)


def test_the_top_is_the_head_of_the_whole_list() -> None:
    whole = planned(DENSE)
    for top in (1, 2, 7, 100):
        assert planned(DENSE, top).layouts == whole.layouts[:top]


def test_what_is_fixed_is_kept_and_finds_the_same_layouts() -> None:
    whole = planned(DENSE)
    fixed = planned({**DENSE, "tp": "2", "recompute": "full", "zero": "1"})
    expected = [
        layout
        for layout in whole.layouts
        if (layout.tp, layout.recompute, layout.zero) == (2, "full", 1)
    ]
    assert list(fixed.layouts) == expected != []
    assert fixed.considered < whole.considered


def test_limits_leave_out_what_exceeds_them() -> None:
    whole = planned(DENSE)
    limits = {"max_bytes": "40GB", "max_seconds": "1.02"}
    limited = planned({**DENSE, **limits})
    kept = [layout for layout in whole.layouts if layout.bytes <= 40e9 and layout.seconds <= 1.02]
    assert list(limited.layouts) == kept != []
    assert limited.infeasible["longer than --max-seconds"] > 0
    assert limited.infeasible["does not fit"] > whole.infeasible["does not fit"]


def test_where_memory_binds_the_plan_says_what_it_costs() -> None:
    whole = planned(DENSE, 1)
    tight = planned({**DENSE, "max_bytes": "30GB"}, 1)
    assert tight.too_large and tight.too_large.seconds < tight.layouts[0].seconds
    assert whole.layouts[0].seconds <= tight.layouts[0].seconds


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"virtual": "7"},
            "--virtual 7 divides 32 layers over no pipeline on these chips; use 2, ",
        ),
        ({"virtual": "2", "pp": "1"}, "no pipeline on these chips divides 32 layers into more"),
    ],
)
def test_chunks_that_no_pipeline_has_are_one_line(change: dict[str, str], said: str) -> None:
    """It used to say that 0 of 0 layouts were left out."""
    with pytest.raises(FlopbookError, match=said):
        planned({**DENSE, **change})


def test_the_smallest_count_that_fits_is_found() -> None:
    question = question_of({**DENSE, "model": "llama-3-70b", "chips": "2"})
    assert plan(question).layouts == ()
    count = smallest_count(question)
    assert count and planned({**DENSE, "model": "llama-3-70b", "chips": str(count)}, 1).layouts


def test_a_batch_that_is_not_asked_is_said() -> None:
    """A plan without --batch-tokens was refused, where the page takes 4 Mi tokens a step."""
    question = question_of({**DENSE, "batch_tokens": None})
    assert question.batch * question.run.shape.tokens == 4 * 2**20
    assert f"{question.batch:,} sequences" in question.inferred[0]
    asked = question_of({**DENSE, "batch_tokens": "4Mi"})
    assert plan(question, 1).layouts == plan(asked, 1).layouts
    assert question.inferred[1:] == asked.inferred


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": None}, "--model is missing"),
        ({"chips": "1.5"}, "--chips is 1.5"),
        ({"tp": "3"}, "does not make 8 chips"),
        ({"chips": "2000000"}, "expected at most 1,048,576"),
        ({"seq": "1", "batch_tokens": "2e9"}, "expected at most 1,073,741,824"),
        ({"dp": "4", "tp": "4"}, "does not make 8 chips"),
        ({"zero": "4"}, "--zero is 4"),
        ({"schedule": "best"}, "--schedule is 'best'"),
        ({"max_bytes": "0GB"}, "--max-bytes is 0GB"),
        ({"max_seconds": "3 apples"}, "apples"),
        ({"model": "llama-3-80b"}, "llama-3-80b"),
        ({"chip": "h1000"}, "h1000"),
        ({"stack": "tita"}, "tita"),
    ],
)
def test_a_mistake_is_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(FlopbookError, match=said) as caught:
        question_of({**DENSE, **change})
    assert "\n" not in str(caught.value)
