"""What a third reading of seven chapters found wrong, recomputed beside words that are right."""

from __future__ import annotations

import re

import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.pipelines import Times, plan, simulate
from scripts.website.figures import (
    bucket_sizes,
    layer_roofline,
    memory_wall,
    pipeline_schedule,
    sm_core,
)
from scripts.website.figures.narrow import charts_sheet
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of


def printed(chapter: str) -> str:
    """A chapter as readers see it: filled, without tags, on one line."""
    return " ".join(re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).split())


@READS_THE_HANDBOOK
def test_an_exchange_of_sites_has_no_backward_pass_to_hide_behind() -> None:
    """2.1 seconds on the wire beside a step of 125 ms: all of it is lost, however rare."""
    small = shape("gpt-3-1.3b")
    step = 6 * small.params * small.batch_tokens / 64 / chip("h100-sxm").peak("bf16")
    wire = 2 * small.params / 1.25e9
    lost = {every: 100 * wire / (wire + every * step) for every in (1, 100, 500)}
    assert list(lost.values()) == pytest.approx([94.4, 14.4, 3.3], abs=0.1)
    assert wire / step == pytest.approx(17, abs=0.2)
    said = printed("data-parallelism")
    assert "a hundred times slower" not in said and "exposed in full" in said
    assert "2.1 s, 17 times a step" in said
    assert "would cost 94 percent of the time, after each 100 steps 14 percent, after 500 3.3." in (
        said
    )


def test_the_limit_that_comes_first_is_named_behind_the_last_of_the_three() -> None:
    text = text_of("data-parallelism")
    heads = ["## The batch can be too large", "## Which limit comes first?", "## Worked example"]
    places = [text.index(head) for head in heads]
    assert places == sorted(places)


@READS_THE_HANDBOOK
def test_servers_apart_are_compared_at_the_same_pace() -> None:
    """At 30 ms a server that also reads is full at 2.5 requests per second: 8 for 20, not 6.7."""
    server = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}
    prompt = calculate("prefill", **server, seq=4096)["likely_seconds"]
    steps = {
        batch: calculate("serving", **server, seq=4352, batch=batch)["likely_seconds"]
        for batch in (38, 64)
    }
    rate = (1 - steps[38] / 30e-3) / prompt  # what is left of 30 ms at 38 sequences
    assert rate == pytest.approx(2.5, abs=0.05)
    assert rate * 512 * 30e-3 == pytest.approx(38, abs=1)
    full = 1 / (prompt + 512 * steps[64] / 64)
    assert 64 / (full * 512) == pytest.approx(42e-3, abs=1e-3)
    said = printed("serving")
    assert "together a token then takes 42 ms" in said
    assert "full at 2.5 requests per second" in said and "so it takes 8 of them" in said
    assert "5.3 in all, a third fewer than 8" in said


@READS_THE_HANDBOOK
def test_a_chunk_is_not_the_budget_of_an_iteration() -> None:
    """vLLM's budget counts the 64 answers of the batch too."""
    said = printed("serving")
    assert "How many prompt tokens may a chunk have, to keep an iteration" in said
    assert "2,322 tokens. In vLLM, whose budget counts the answers of the batch too" in said
    assert f"that is {2322 + 64:,} tokens" in said


def test_an_exercise_on_longer_prompts_prints_the_formulas_that_it_asks_for() -> None:
    text = text_of("serving")
    assert "formulas of the last chapter" not in text
    assert "A prefill does $2N$ FLOPs for each token" in text


def test_tests_of_a_node_suit_what_their_maker_says() -> None:
    """Two minutes of them belong behind a job that failed, and there is a fourth level."""
    text = text_of("reliability-and-energy")
    assert "the second its end if it failed" in text and "and longer (4)" in text
    assert 'cite("nvidia2026dcgmguide")' in text


@READS_THE_HANDBOOK
def test_a_run_that_never_restarts_pays_with_spares() -> None:
    """Half an hour for a spare is 0.13 percent of 128 replicas; a day without one 6.1."""
    run = shape("llama-3-405b")
    between = run.observed_hours / run.interruptions
    assert 100 / 128 * 1800 / between == pytest.approx(0.126, abs=0.001)
    missing = 86400 / between
    assert (missing, 100 * missing / 128) == pytest.approx((7.76, 6.06), abs=0.01)
    said = printed("reliability-and-energy")
    assert "0.13 percent of the machine, where restarts" in said
    assert "7.8 replicas would be missing on average, 6.1 percent" in said


def test_megatron_is_asked_for_shards_by_its_flags() -> None:
    text = text_of("from-plan-to-flags")
    assert "a mode of its own, to which" not in text
    for flag in (
        "--use-megatron-fsdp",
        "--data-parallel-sharding-strategy optim_grads_params",
        "--no-gradient-accumulation-fusion",
        "--ckpt-format fsdp_dtensor",
    ):
        assert flag in text


def test_eight_gpus_hold_dense_shards_and_experts_by_the_same_rule() -> None:
    rows = text_of("from-plan-to-flags").split("| GPU | 0 |")[1]
    cells = re.findall(r"\d, \d", rows.split("(MaxText")[0])
    dense, experts = cells[:8], cells[8:16]
    assert dense == [f"{rank // 2}, {rank % 2}" for rank in range(8)]  # FSDP 4, TP 2
    assert experts == [f"{rank // 4}, {rank % 4}" for rank in range(8)]  # FSDP 2, EP 4


@READS_THE_HANDBOOK
def test_rates_are_printed_with_the_digits_that_their_quotients_need() -> None:
    """989.5 over 10.2 is 97, over 10 it is 99; eight chips of 575 W more make 10.2 kW."""
    assert chip("h100-sxm").peak("bf16") / 10.2e12 == pytest.approx(97, abs=0.1)
    assert "delivers 10.2 TB/s, so data that stay in it meet a ridge of 97" in printed("roofline")
    assert (10_200 - 8 * 700) / 8 == 575
    assert "add 575 W to each chip" in printed("accelerators")


@READS_THE_HANDBOOK
def test_attention_in_training_is_derived_where_its_point_stands() -> None:
    found = {(part.job, part.name): part.intensity for part in layer_roofline.parts()}
    said = printed("roofline")
    assert round(found["training", "attention"]) == 3277 and "an intensity of 3,277" in said
    assert ("training", "query matrix") in found and "query matrix" in said


@READS_THE_HANDBOOK
def test_weights_in_four_bits_need_a_quarter_of_the_batch() -> None:
    quarter = chip("h100-sxm").peak("bf16") / chip("h100-sxm").memory_bandwidth() / 4
    assert round(quarter) == 74 and "a quarter of the ridge, 74 tokens" in printed("roofline")


@READS_THE_HANDBOOK
@pytest.mark.parametrize(
    ("name", "schedule", "virtual"),
    [
        ("GPipe", "gpipe", 1),
        ("1F1B", "1f1b", 1),
        ("Interleaved, $V$ = 4", "interleaved", 4),
        ("ZB-H1", "zb-h1", 1),
        ("ZB-H2", "zb-h2", 1),
        ("ZB-V", "zb-v", 1),
        ("DualPipe, weights twice", "dualpipe", 1),
        ("DualPipe-V", "dualpipe-v", 1),
    ],
)
def test_schedules_stand_with_what_a_wait_for_the_norm_leaves(
    name: str, schedule: str, virtual: int
) -> None:
    """From the first pass of any stage to the last of all, run pass by pass."""
    run = simulate(plan(schedule, 8, 32, virtual), Times(1.0, 1.0, 1.0))
    spans = [slot[:2] for stage in run.timed for slot in stage]
    whole = max(end for _, end in spans) - min(start for start, _ in spans)
    row = printed("pipeline-parallelism").split(f"| {name} |")[1].split("% |")[1]
    assert row.strip() == f"{100 * (1 - 96 / float(whole)):.1f}"


@pytest.mark.parametrize("schedule", ["zb-h2", "zb-v"])
def test_a_picture_without_a_bubble_says_how_it_is_counted(schedule: str) -> None:
    drawn = pipeline_schedule.figure(schedule)
    assert "from its own first pass to its own last" in drawn.caption


@READS_THE_HANDBOOK
def test_the_bubble_of_a_real_step_is_seven_fifths_of_a_micro_batch() -> None:
    said = printed("pipeline-parallelism")
    assert "takes 1.8 s for the eight of them and 220 ms for one" in said
    assert "$7/5$ of one, 310 ms, of which the fit finds 92 percent" in said


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
