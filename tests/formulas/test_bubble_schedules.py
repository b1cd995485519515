"""Pipeline bubble with split backward passes.

Laws, published figures, and input that no closed form covers.

That each form equals a run of its schedule is in tests/schedules.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import bubble
from flopbook.formulas.pipeline import SCHEDULES

halves = st.integers(1, 200)
seconds = st.floats(1e-6, 1e3)
LATER = ("zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v")


def shape(stages: int, extra: int) -> dict[str, float]:
    """A shape that every schedule runs: an even number of stages, and enough micro-batches."""
    return {"stages": 2.0 * stages, "microbatches": 4.0 * stages * extra}


@given(halves, st.integers(1, 50), st.sampled_from(SCHEDULES), seconds)
def test_the_outputs_fit_together(stages: int, extra: int, schedule: str, forward: float) -> None:
    out = bubble(schedule=schedule, forward=forward, **shape(stages, extra))
    idle = out["total_seconds"] - out["ideal_seconds"]
    assert 0 <= out["fraction"] < 1
    assert idle == pytest.approx(
        out["fraction"] * out["total_seconds"], rel=1e-9, abs=1e-9 * out["total_seconds"]
    )
    assert out["overhead"] * out["ideal_seconds"] == pytest.approx(
        idle, rel=1e-6, abs=1e-9 * out["total_seconds"]
    )
    assert out["ideal_seconds"] == pytest.approx(
        3 * forward * shape(stages, extra)["microbatches"], rel=1e-12
    )


@given(halves, st.integers(1, 50), st.sampled_from(SCHEDULES), seconds)
def test_the_share_does_not_depend_on_the_unit_of_time(
    stages: int, extra: int, schedule: str, forward: float
) -> None:
    one, other = (
        bubble(schedule=schedule, forward=f, **shape(stages, extra)) for f in (1.0, forward)
    )
    assert other["fraction"] == pytest.approx(one["fraction"], rel=1e-12, abs=1e-15)
    assert other["total_seconds"] == pytest.approx(forward * one["total_seconds"], rel=1e-12)


@given(halves, st.integers(1, 50))
def test_each_step_of_the_history_loses_less(stages: int, extra: int) -> None:
    """At equal times: 1F1B, then ZB-H1, then ZB-H2 and ZB-V, which lose nothing within a stage."""
    made = {s: bubble(schedule=s, **shape(stages, extra)) for s in SCHEDULES}
    assert made["1f1b"]["fraction"] > made["zb-h1"]["fraction"] > made["zb-h2"]["fraction"] == 0
    assert made["zb-v"]["fraction"] == 0
    assert made["1f1b"]["fraction"] > made["dualpipe"]["fraction"]


@given(halves, st.integers(1, 50))
def test_zero_bubble_costs_memory_or_a_second_chunk(stages: int, extra: int) -> None:
    held = {s: bubble(schedule=s, **shape(stages, extra))["peak_microbatches"] for s in SCHEDULES}
    count = 2 * stages
    assert held["zb-h1"] == held["zb-v"] == held["1f1b"] == count
    assert held["zb-h2"] == 2 * count - 1
    assert held["dualpipe"] == count + 1 and held["dualpipe-v"] == count + 0.5


@given(
    st.integers(1, 500),
    st.integers(1, 500),
    st.sampled_from(["zb-h1", "zb-h2"]),
    seconds,
    seconds,
    seconds,
)
def test_putting_off_weights_never_costs_time(
    stages: int, microbatches: int, schedule: str, forward: float, inputs: float, weights: float
) -> None:
    assume(weights <= min(forward, inputs))
    given_ = {"forward": forward, "backward_input": inputs, "backward_weight": weights}
    plain = bubble(stages=stages, microbatches=microbatches, **given_)
    other = bubble(stages=stages, microbatches=microbatches, schedule=schedule, **given_)
    assert -1e-12 <= other["fraction"] <= plain["fraction"] + 1e-12
    assert plain["peak_microbatches"] <= other["peak_microbatches"] <= microbatches


@pytest.mark.parametrize("schedule", [s for s in SCHEDULES if s != "dualpipe"])
def test_one_stage_waits_for_nobody(schedule: str) -> None:
    assert bubble(stages=1, microbatches=2, schedule=schedule)["fraction"] == 0


def test_two_stages_of_dualpipe_are_one_meeting_point() -> None:
    assert bubble(stages=2, microbatches=4, schedule="dualpipe")["fraction"] == 0


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_without_end_of_microbatches_nothing_is_lost(schedule: str) -> None:
    assert bubble(stages=64, microbatches=64 * 15_625, schedule=schedule)["fraction"] < 1e-4


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_backward_pass_left_out_is_as_long_as_a_forward_pass(schedule: str) -> None:
    given_ = {"stages": 4, "microbatches": 16, "schedule": schedule, "forward": 0.01}
    assert bubble(**given_) == bubble(**given_, backward_input=0.01, backward_weight=0.01)


def test_what_dualpipe_prints_for_eight_stages() -> None:
    """deepseek2025dualpipe, table of the README: bubbles of 21, 7 and 6.

    With PP = 8, F = W = 1, B = 2 and F&B = 3.
    """
    times = {
        "stages": 8,
        "microbatches": 20,
        "forward": 1.0,
        "backward_input": 1.0,
        "backward_weight": 1.0,
    }
    idle = {}
    for schedule in ("1f1b", "zb-h1", "dualpipe"):
        out = bubble(schedule=schedule, **times)
        idle[schedule] = out["total_seconds"] - out["ideal_seconds"]
    assert idle == {"1f1b": 21, "zb-h1": 7, "dualpipe": 6}


@given(st.integers(2, 64), st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.01, 1))
def test_the_formulas_of_the_dualpipe_table(
    half: int, forward: float, inputs: float, share: float
) -> None:
    """(PP-1)(F+B), (PP-1)(F+B-2W) and (PP/2-1)(F&B+B-3W).

    B is the whole backward pass and F&B = F + B.

    DualPipe-V has PP/2 devices with two chunks each, so half as many stages, and times twice those
    of a chunk.
    """
    weights = min(forward, inputs) * share
    pp, whole = 2 * half, inputs + weights
    given_ = {
        "microbatches": 4.0 * pp,
        "forward": forward,
        "backward_input": inputs,
        "backward_weight": weights,
    }

    def idle(schedule: str, stages: float, **times: float) -> float:
        out = bubble(schedule=schedule, stages=stages, **{**given_, **times})
        return float(out["total_seconds"] - out["ideal_seconds"])

    near = {"rel": 1e-9, "abs": 1e-9 * 4 * pp * (forward + whole)}
    assert idle("1f1b", pp) == pytest.approx((pp - 1) * (forward + whole), **near)
    assert idle("zb-h1", pp) == pytest.approx((pp - 1) * (forward + whole - 2 * weights), **near)
    even, whole = {"backward_input": forward}, forward + weights
    printed = (pp / 2 - 1) * (forward + whole + whole - 3 * weights)
    assert idle("dualpipe", pp, **even) == pytest.approx(printed, **near)
    twice = {"forward": 2 * forward, "backward_input": 2 * forward, "backward_weight": 2 * weights}
    assert idle("dualpipe-v", half, **twice) == pytest.approx(printed, **near)


def test_activations_of_the_dualpipe_table() -> None:
    """PP, PP, PP + 1 and PP + 1, in chunks; a stage of DualPipe-V has two of them."""
    held = {
        s: bubble(schedule=s, stages=8, microbatches=32)["peak_microbatches"]
        for s in ("1f1b", "zb-h1", "dualpipe")
    }
    assert held == {"1f1b": 8, "zb-h1": 8, "dualpipe": 9}
    assert 2 * bubble(schedule="dualpipe-v", stages=4, microbatches=32)["peak_microbatches"] == 9


@given(st.integers(2, 200), st.integers(1, 100))
def test_zb_h1_leaves_a_third_of_the_idle_time(stages: int, extra: int) -> None:
    """qi2024zero: at equal times a third of 1F1B's bubble, in seconds.

    The README of their code divides the share, (p-1)/(m+p-1), by three as well; that is too small,
    since the step gets shorter too: the share is (p-1)/(3m+p-1). With p = 8 and m = 24 the table
    would say 7.5 %, it is 8.9 %.
    """
    given_ = {"stages": stages, "microbatches": stages * extra}
    plain, other = bubble(**given_), bubble(schedule="zb-h1", **given_)
    assert other["overhead"] == pytest.approx(plain["overhead"] / 3, rel=1e-12)
    assert other["fraction"] > plain["fraction"] / 3
    assert other["fraction"] == pytest.approx(
        (stages - 1) / (3 * stages * extra + stages - 1), rel=1e-12
    )


def test_the_third_that_is_not_one() -> None:
    share = bubble(schedule="zb-h1", stages=8, microbatches=24)["fraction"]
    printed = bubble(stages=8, microbatches=24)["fraction"] / 3
    assert (round(100 * share, 1), round(100 * printed, 1)) == (8.9, 7.5)


@given(st.integers(2, 100), st.integers(1, 50), st.integers(1, 16))
def test_the_overhead_that_megatron_prints(stages: int, groups: int, virtual: int) -> None:
    """narayanan2021efficient, section 2.2: (p-1)/m of the ideal, (1/v)(p-1)/m with v chunks."""
    out = bubble(
        schedule="interleaved", stages=stages, microbatches=stages * groups, virtual=virtual
    )
    assert out["overhead"] == pytest.approx((stages - 1) / (stages * groups) / virtual, rel=1e-12)


def test_two_chunks_on_eight_stages() -> None:
    """Claim 004-L0043 of the seed.

    (K-1)/M falls from 0.875 to 0.4375, which is at most 30 % faster.
    """
    plain = bubble(stages=8, microbatches=8)
    other = bubble(schedule="interleaved", virtual=2, stages=8, microbatches=8)
    assert (plain["overhead"], other["overhead"]) == (0.875, 0.4375)
    assert plain["total_seconds"] / other["total_seconds"] == pytest.approx(1.304348, rel=1e-6)


def test_one_microbatch_on_sixteen_stages_is_nearly_all_bubble() -> None:
    """A planner without a bubble (llm-analysis) hardly charges for a single micro-batch.

    It has 3.81 ms of a GPU per token with one micro-batch, 3.65 with eight.

    Sixteen stages with one micro-batch are idle for 94 % of the time, so one costs 5.6 times as
    much as eight.
    """
    one, eight = (bubble(stages=16, microbatches=m) for m in (1, 8))
    assert one["fraction"] == 15 / 16
    per_microbatch = [out["total_seconds"] / out["ideal_seconds"] for out in (one, eight)]
    assert per_microbatch[0] / per_microbatch[1] == pytest.approx(16 / (23 / 8), rel=1e-12)
    assert 3.81 / 3.65 < 1.05


@given(st.integers(2, 64), st.integers(1, 1000))
def test_a_pipeline_is_no_linear_speed_up(stages: int, microbatches: int) -> None:
    """A planner (aiconfigurator) takes eight stages as eight times as fast, measured 6.65.

    No batch reaches eight.
    """
    out = bubble(stages=stages, microbatches=microbatches)
    assert stages * (1 - out["fraction"]) < stages


def test_larger_microbatches_do_not_shrink_the_bubble() -> None:
    """The founding slides call M the size of a micro-batch.

    At a fixed batch larger ones are fewer, and lose more.
    """
    sizes = [bubble(stages=8, microbatches=64 / size)["fraction"] for size in (1, 2, 4, 8)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


@pytest.mark.parametrize("schedule", LATER)
def test_arrays_equal_floats(schedule: str) -> None:
    stages, microbatches = np.array([2.0, 4.0, 16.0]), np.array([8.0, 64.0, 32.0])
    forward, weights = np.array([1.0, 0.5, 2.0]), np.array([1.0, 0.25, 1.0])
    given_ = {"forward": forward, "backward_input": forward, "backward_weight": weights}
    out = bubble(schedule=schedule, stages=stages, microbatches=microbatches, **given_)
    for i in range(3):
        single = {name: float(value[i]) for name, value in given_.items()}
        expected = bubble(
            schedule=schedule, stages=stages[i], microbatches=microbatches[i], **single
        )
        assert {name: np.broadcast_to(value, 3)[i] for name, value in out.items()} == expected


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"schedule": "dualpipe", "stages": 5, "microbatches": 20},
        "dualpipe needs an even number of stages",
    ),
    ({"schedule": "dualpipe", "microbatches": 9}, "dualpipe needs an even number of micro-batches"),
    ({"schedule": "dualpipe", "microbatches": 6}, "at least twice as many micro-batches as stages"),
    (
        {"schedule": "dualpipe-v", "microbatches": 7},
        "at least twice as many micro-batches as stages",
    ),
    (
        {"schedule": "zb-v", "microbatches": 6},
        r"needs at least 2 x stages - 1 micro-batches, not .*; see --timeline",
    ),
    ({"schedule": "zb-h1", "virtual": 2}, "virtual stages belong to the interleaved schedule"),
    (
        {"schedule": "zb-h1", "backward_weight": 1.1},
        "--backward-weight no longer than --forward and --backward-input",
    ),
    (
        {"schedule": "zb-h2", "backward_input": 0.9},
        "--backward-weight no longer than --forward and --backward-input",
    ),
    (
        {"schedule": "zb-v", "backward_input": 0.9, "backward_weight": 0.5},
        "--forward no longer than --backward-input",
    ),
    ({"schedule": "dualpipe", "backward_input": 1.5}, "--forward equal to --backward-input"),
    ({"schedule": "dualpipe-v", "backward_weight": 1.5}, "and --backward-weight no longer"),
    ({"schedule": "zb-h1", "backward_weight": np.array([0.5, 1.1])}, "--backward-weight no longer"),
    ({"schedule": "dualpipe", "stages": np.array([4.0, 5.0])}, "an even number of stages"),
    ({"forward": 0}, "forward is 0, expected more than 0"),
    ({"backward_input": 0}, "backward_input is 0, expected more than 0"),
    ({"backward_weight": -1}, "backward_weight is -1, expected more than 0"),
    ({"forward": math.nan}, "forward is not a number"),
    ({"forward": math.inf}, "forward is inf, which is not a plausible size"),
    ({"forward": 1e7}, "not a plausible size; expected at most 1e.06"),
    ({"forward": "10"}, "forward is '10', expected a number"),
    ({"microbatches": 8.5}, "microbatches is 8.5, expected a whole number"),
    ({"stages": 1e7}, "not a plausible size"),
]


@pytest.mark.parametrize(("given_", "message"), REFUSED)
def test_what_no_closed_form_covers_is_refused(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        bubble(**{"stages": 4, "microbatches": 8, **given_})


def test_times_as_people_write_them() -> None:
    """And the ones that were not given do not show up as if they were zero."""
    result = calculate(
        "bubble",
        stages=8,
        microbatches=32,
        schedule="ZB-H1",
        forward="10ms",
        backward_weight="8 ms",
    )
    assert result["total_seconds"] == pytest.approx(32 * 0.028 + 7 * 0.012, rel=1e-12)
    assert "backward_input" not in result.inputs and result.inputs[
        "backward_weight"
    ].value == pytest.approx(0.008)
    with pytest.raises(FlopbookError, match="--forward"):
        calculate("bubble", stages=8, microbatches=32, forward="10GB")
