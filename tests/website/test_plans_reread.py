"""What a strict reader found wrong in the chapters from tensor parallelism to low precision."""

from __future__ import annotations

import math
import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.prediction.layouts import SHARDED_OPTIMIZER
from flopbook.prediction.usual_layouts import USUAL_RECOMPUTE
from scripts.website.figures import figure_of
from tests.support import rendering
from tests.support.rendering import rendered, text_of

pytestmark = rendering.READS_THE_HANDBOOK

# Of the plan in "From a plan to flags": TP 4, 8 stages of ten chunks, 16 replicas.
TOKENS, WIDTH, TP, CHUNKS = 32 * 8192, 8192, 4, 10


def shown(chapter: str) -> str:
    """What a reader sees of a chapter, on one line."""
    return " ".join(re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).split())


def test_the_script_for_llama_switches_dropout_off() -> None:
    """Megatron Core drops a tenth unless told not to (transformer_config.py at d98e8a6)."""
    (script,) = (
        block
        for block in text_of("from-plan-to-flags").split("```")
        if block.startswith("bash") and "torchrun" in block
    )
    assert "--attention-dropout 0 --hidden-dropout 0" in script


def test_bytes_on_the_wire_are_those_of_the_order_that_the_script_asks_for() -> None:
    """Two stages share a node, so half of what they send stays; replicas share none."""
    stages = TOKENS * 2 * 2 * WIDTH / TP * CHUNKS / 2
    layers = calculate("params", model="llama-3-70b")
    held = (layers["attention"] + layers["ffn"]) / TP / 8
    gradients = 6 * held * 15 / 16
    text = shown("from-plan-to-flags")
    assert f"{stages / 1e9:.0f} GB between stages and {gradients / 1e9:.0f} GB for" in text


def test_a_pipeline_that_fills_four_times_loses_four_times_as_much() -> None:
    """AutoModel fills and drains for every local batch: 8 micro-batches or all 32."""
    lost = [
        calculate("bubble", schedule="interleaved", stages=8, virtual=10, microbatches=each)
        for each in (8, 32)
    ]
    few, all_at_once = (100 * each["fraction"] for each in lost)
    assert few == pytest.approx(4 * all_at_once, rel=0.07)
    text = shown("from-plan-to-flags")
    assert f"lose {few:.0f} percent where 32 lose {all_at_once:.0f}" in text


def test_a_recipe_that_fills_sixteen_times_in_a_step() -> None:
    """80 layers by 4 over 4 stages, 4 micro-batches in a fill, or all 64 of a replica."""
    few, all_at_once = (
        calculate("bubble", schedule="interleaved", stages=4, virtual=5, microbatches=each)
        for each in (4, 64)
    )
    answer = shown("from-plan-to-flags").partition("A recipe of AutoModel")[2]
    assert "are 5 on each" in answer and "so a step has 16" in answer
    assert f"beside 4: {100 * few['fraction']:.0f} percent" in answer
    assert f"and {100 * all_at_once['fraction']:.1f} percent is lost" in answer


def test_what_is_assumed_of_megatron_is_not_told_as_its_default() -> None:
    assert USUAL_RECOMPUTE["megatron-core"] == "selective" and "megatron-core" in SHARDED_OPTIMIZER
    assert "| Megatron: none; `--recompute-granularity selective`" in text_of("from-plan-to-flags")
    text = text_of("prediction")
    assert "What the stack does unless told otherwise" not in text
    assert "stacks that shard the optimizer by default" not in text
    assert "shard and recompute nothing" in text


def test_errors_after_a_common_factor_are_those_of_throughput() -> None:
    """Predicted over measured less one, as the chapter counts: 1/1.1 and 1.2/1.1."""
    low, high = 100 * (1 - 1 / 1.1), 100 * (1.2 / 1.1 - 1)
    text = shown("prediction")
    assert f"predicted {low:.0f} percent too low and that of the last {high:.0f} percent" in text


def test_the_width_for_four_fifths_of_the_peak_follows_from_the_printed_ratio() -> None:
    question, _, answer = (
        shown("tensor-parallelism").partition("From which width")[2].partition("Answer")
    )
    ratio = re.search(r"w\$ is ([\d,]+)\.", question)
    assert ratio
    width = 56 / 3 * float(ratio[1].replace(",", ""))
    assert f"{round(width, -3):,.0f}. Neither the batch" in answer


def test_the_best_split_follows_from_what_stands_above_its_picture() -> None:
    above, _, below = text_of("mixed-parallelism").partition('{{ figure("fsdp-tensor-split"')
    assert "$\\frac{3}{2} F$" in above and "(1.5 * F)" in above and "(1.5 * F)" in below
    best = math.sqrt(500_000 / (1.5 * 28_672) * 2 * 1024)
    assert f"two axes against one, it is {best:.0f}:" in shown("mixed-parallelism")


def test_no_two_pictures_of_the_smallest_batch_are_of_one_chip() -> None:
    """The torus has its times, the rack its ratios."""
    text = text_of("mixed-parallelism")
    assert 'figure("batch-time")' in text
    assert 'figure("fsdp-tensor-ratio", chip="gb200-gpu"' in text
    assert "from 245 tokens each with both kinds, from 765" in figure_of("batch-time").title
    rack = chip("gb200-gpu")
    alpha = rack.peak("bf16") / rack.scaleup_bandwidth()
    drawn = figure_of("fsdp-tensor-ratio", chip="gb200-gpu", d_ff=1.5 * 28_672, chips=64, axes=1)
    least = 4 * alpha**2 / (1.5 * 28_672)
    assert f"{least:,.0f} tokens each, FSDP alone from {alpha:,.0f}" in drawn.title


def test_the_fourth_layout_waits_for_weights_that_cards_bring_in() -> None:
    """Gathered, gathered again and scattered, for each of eight micro-batches."""
    weights = 2 * calculate("params", model="llama-3-70b")["total"]
    seconds = 8 * 3 * weights / (8 * 50e9)
    assert f"eight micro-batches: {seconds:.1f} s through" in shown("choosing-a-configuration")
