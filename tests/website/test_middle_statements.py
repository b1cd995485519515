"""Statements of the middle chapters that a reader counted anew: latencies, defaults, pictures."""

from __future__ import annotations

import itertools
import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import layout_map, mixed_lanes, two_batches
from scripts.website.figures.overlap import idle_share
from tests.support.rendering import READS_THE_HANDBOOK, rendered

pytestmark = READS_THE_HANDBOOK

INSIDE, ACROSS = 3.4, 14.0  # microseconds of a step of NCCL's ring, protocol Simple


def prose(chapter: str) -> str:
    text = re.sub(r"</?[a-z][^<>]*>", "", rendered(f"handbook/{chapter}.md"))
    return " ".join(text.replace("\xa0", " ").split())


def megatron_takes(count: int, stages: int, group: int) -> bool:
    """Whether chunks run with so many micro-batches in groups of this many."""
    return stages <= group <= count and not 0 < count % group < stages


def test_one_step_of_a_ring_over_two_nodes_crosses_the_network() -> None:
    """Of n - 1 steps over all ranks as many cross as there are nodes, less one."""
    two, one = 14 * INSIDE + ACROSS, 7 * INSIDE
    assert 2 * one < two < 15 * ACROSS / 3
    assert "takes more than twice the latency" in prose("from-plan-to-flags")


def test_chunks_run_with_groups_of_more_micro_batches_than_stages() -> None:
    assert [group for group in (12, 16, 20) if megatron_takes(32, 12, group)] == [16, 20]
    assert not megatron_takes(8, 16, 16)  # fewer than the stages: no group helps
    text = prose("choosing-a-configuration")
    assert f"groups of 12 leave {32 % 12}, fewer than the stages" in text
    for chapter in ("from-plan-to-flags", "pipeline-parallelism"):
        assert "by default" in re.findall(r"[^.]*multiples of the stages", prose(chapter))[0]


def test_gradients_in_bf16_save_more_than_their_own_line() -> None:
    """Buffers of the first stage and what the allocator reserves shrink with them."""
    run = {"model": "llama-3-70b", "chip": "h100-sxm", "seq": 8192, "tp": 4, "pp": 8, "dp": 16}
    run |= {"zero": 1, "schedule": "interleaved", "virtual": 10, "microbatches": 32}
    run |= {"recompute": "none", "attention": "flash", "dropout": "no", "sequence_parallel": "yes"}
    whole, half = (calculate("memory", **run, grad_bytes=size) for size in (4, 2))
    saved = float(whole["total"] - half["total"])
    assert saved > 1.1 * float(half["gradients"])
    assert f"{saved / 1e9:.2g} GB less" in prose("from-plan-to-flags")


def test_panels_of_mixed_blocks_are_as_long_as_their_titles_say() -> None:
    """Two blocks forward and back are 6 of arithmetic, and TP 4 is the shortest."""
    drawn = {
        degree: max(bar.end for bar in mixed_lanes.middle(degree)) / 6
        for degree in mixed_lanes.DEGREES
    }
    for degree, times in drawn.items():
        weights, tokens = mixed_lanes.traffic(degree)
        assert times == pytest.approx(max(1 + tokens / 2, weights))
    assert min(drawn, key=lambda degree: drawn[degree]) == 256


def test_the_wait_of_two_halves_is_that_of_the_last_exchange() -> None:
    """It does not grow with the layers, so its share of a whole model is small."""
    layers = two_batches.mixture_layers()
    few, all_of_them = (two_batches.schedule(2, count) for count in (two_batches.LAYERS, layers))
    waits = [idle_share(bars) * max(bar.end for bar in bars) for bars in (few, all_of_them)]
    assert waits[0] == pytest.approx(waits[1])
    assert f"{100 * idle_share(all_of_them):.1f} % in {layers}" in two_batches.figure().title


def test_more_chips_lower_the_rate_only_from_some_number_on() -> None:
    first = layout_map.falls_from()
    rates = [
        [
            layout.mfu
            for chips in layout_map.CHIPS
            if chips >= first and (layout := layout_map.chosen(name, chips))
        ]
        for name in layout_map.MODELS
    ]
    assert all(low < high for each in rates for high, low in itertools.pairwise(each))
    assert layout_map.CHIPS[0] < first < layout_map.CHIPS[-1]
    assert f"From {first:,} chips on" in layout_map.figure().caption


def test_two_counts_of_one_limit_differ_by_the_square_of_the_rate_of_a_link() -> None:
    ours, theirs = chip("google/tpu-v5p").scaleup_bandwidth() / 6, 90e9
    block = {"peak": 459e12, "axes": 3, "d_ff": 30000}
    needs = [
        float(calculate("mixed-limit", link_bandwidth=rate, **block)["tokens_per_chip"])
        for rate in (ours, theirs)
    ]
    assert needs[1] / needs[0] == pytest.approx((ours / theirs) ** 2)
    assert f"with $\\alpha^2$, {needs[1] / needs[0]:.2f} times" in prose("mixed-parallelism")


def test_attention_in_the_count_of_a_step_makes_it_longer() -> None:
    """400 TFLOP/s on 16,384 chips and 2,048 sequences of 8,192 tokens."""
    dense = 6 * float(calculate("params", model="llama-3-405b")["total"])
    scores = 12 * 126 * 16384 * 8192
    step = (dense + scores) * 2048 * 8192 / (16384 * 400e12)
    said = prose("choosing-a-configuration")
    assert f"scores of attention, it is up to {step:.1f} s" in said
