"""Statements of the chapters on parallelism that a later reader found wrong."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import offload_step
from scripts.website.pages.benched import benched
from tests.support.rendering import text_of

RANKS = (8, 64)
HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "handbook"


def test_the_form_counts_experts_by_the_rough_rule() -> None:
    """295 tokens for each expert, where the text asks for 363 with their activations."""
    answer = calculate("ep-limit", chip="h100-sxm", model="deepseek-v3")
    tokens = answer["tokens_per_chip"] * answer["max_chips"]
    rough = calculate("min-batch", chip="h100-sxm")["tokens"] * 256 / 8
    assert tokens == pytest.approx(rough, rel=1e-3)
    assert "by the rough rule" in text_of("expert-and-context-parallelism")


def test_a_layout_with_fewer_expert_ranks_is_more_than_states_and_activations() -> None:
    """At EP 16 half of the rest are the tables at the ends and the logits of DeepSeek-V3."""
    memory = calculate(
        "memory",
        model="deepseek-v3",
        chip="h800-sxm",
        seq=4096,
        pp=16,
        dp=128,
        ep=16,
        zero=1,
        schedule="dualpipe",
        microbatches=120,
        recompute="full",
        attention="flash",
        dropout="no",
        optimizer_kind="adam-bf16",
        grad_bytes=4,
    )
    states = memory["weights"] + memory["gradients"] + memory["optimizer"]
    rest = memory["total"] - states
    assert rest - memory["activations"] > 20e9
    assert (memory["stage_extra"] + memory["logits"]) / rest > 0.5
    assert "embedding, head, logits and buffers" in text_of("choosing-a-configuration")


@pytest.mark.parametrize(("steps", "is_late"), [(2, False), (4, True)])
def test_nothing_does_two_things_at_once_while_states_are_on_the_host(
    steps: int, is_late: bool
) -> None:
    bars = offload_step.schedule(steps, is_late=is_late)
    for lane in range(len(offload_step.LANES)):
        own = [bar for bar in bars if bar.lane == lane]
        assert all(one.end <= two.start + 1e-9 for one, two in pairwise(own))


def test_an_update_a_step_late_hides_behind_four_sequences() -> None:
    """As the chapter computes: from 31,481 tokens on, and the figure has 32,768 in a step."""
    parts = offload_step.times()
    assert parts.update < parts.arithmetic < 1.1 * parts.update
    bars = offload_step.schedule(4, is_late=True)
    busy = sum(bar.end - bar.start for bar in bars if bar.lane == 0)
    assert busy == pytest.approx(max(bar.end for bar in bars if bar.lane == 0))
    assert "49 % of the time" in offload_step.figure().title


def test_at_full_memory_eight_ranks_decode_as_much_as_64() -> None:
    """Over the links of the rack; over the card of a desk-side computer it was a ratio of 0.92."""
    usual = {"model": "deepseek-v3", "chip": "nvidia/gb300-gpu", "dtype": "nvfp4", "seq": 4096}
    full = [calculate("serving", ep=ep, dp=ep, **usual)["likely_tokens_per_s"] / ep for ep in RANKS]
    assert full[1] / full[0] == pytest.approx(0.98, abs=0.01)
    for sequences, ratio in ((64, 0.43), (1024, 0.98)):
        steps = [
            calculate("decode", tp=1, dp=ep, ep=ep, batch=sequences * ep, **usual) for ep in RANKS
        ]
        bounds = [step["seconds"] + step["message_seconds"] for step in steps]
        assert bounds[1] / bounds[0] == pytest.approx(ratio, abs=0.01)
    assert "The rest is the same at both, but for an eighth more messages" in text_of("racks")


def test_cards_are_held_against_a_ring_in_which_they_set_the_pace() -> None:
    """Of eight hops of a ring one leaves the node, over a card; links carry the other seven."""
    rows = (("a100-sxm-80gb", "gtc-a100x32", 25e9), ("h100-sxm", "gtc-h100x32", 50e9))
    for name, row, card in rows:
        allowed = 8 * card
        assert allowed < chip(name).scaleup_bandwidth() / (7 / 8)
        assert 1 < allowed / float(benched("bus", row)) < 1.09
    assert "we take the rings over four servers of H100 above" in text_of("networks")


@pytest.mark.parametrize("ranks", RANKS)
def test_at_full_memory_weights_hide_behind_matmuls(ranks: int) -> None:
    """1,552 sequences of 4,096 tokens on each GB300, which eight of them have room for."""
    usual = {"model": "deepseek-v3", "chip": "nvidia/gb300-gpu", "dtype": "nvfp4", "seq": 4096}
    full = calculate("serving", ep=8, dp=8, **usual)["batch_fits"]
    step = calculate("decode", tp=1, dp=ranks, ep=ranks, batch=full / 8 * ranks, **usual)
    assert step["weight_seconds"] < step["compute_seconds"]
    whole = step["compute_seconds"] + step["kv_seconds"]
    assert step["seconds"] == pytest.approx(whole, rel=1e-3)


def test_not_every_framework_interleaves() -> None:
    """DeepSpeed has 1F1B alone and no chunks, as the table of its flags says."""
    rows = (HANDBOOK / "from-plan-to-flags.md").read_text(encoding="utf-8").splitlines()
    schedules, chunks = (
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in rows
        if row.startswith(("| schedules |", "| chunks |"))
    )
    assert (schedules[-1], chunks[-1]) == ("1F1B", "none")
    assert "Megatron-LM and torchtitan have it" in text_of("pipeline-parallelism")


def test_a_million_tokens_are_mostly_attention() -> None:
    """Of Llama 3.1 405B: 2 for each weight and token, and 4 H d for each pair under the mask."""
    tokens = 1e6
    dense, scores = 2 * 405.9e9 * tokens, 4 * 126 * 16384 * tokens**2 / 2
    assert scores / (dense + scores) == pytest.approx(0.84, abs=0.005)
    flop, port = chip("gb200-gpu").peak("bf16"), chip("gb200-gpu").scaleup_bandwidth()
    assert (dense + scores) / 8 / flop == pytest.approx(247, abs=1)
    assert tokens / 8 > 100 * 2 * flop / port * 8 / 128
    assert "2 * ll.layers * ll.heads * ll.head_dim" in text_of("racks")
