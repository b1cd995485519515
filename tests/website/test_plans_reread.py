"""What a strict reader found wrong in the chapters from tensor parallelism to low precision."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.prediction.layouts import SHARDED_OPTIMIZER
from flopbook.prediction.usual_layouts import USUAL_RECOMPUTE
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
