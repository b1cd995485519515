"""What two readers found wrong in the chapters on flags, context parallelism and the batch."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from tests.support import rendering
from tests.support.rendering import rendered, text_of

pytestmark = rendering.READS_THE_HANDBOOK


def shown(chapter: str) -> str:
    """What a reader sees of a chapter, on one line."""
    return " ".join(re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).split())


def answer(question: str) -> str:
    """The answer to an exercise of the chapter on flags."""
    after = shown("from-plan-to-flags").split(question)[1]
    return after.split('success "Answer"')[1].split("??? success")[0]


def test_groups_of_attention_in_sglang_are_switched_on() -> None:
    """Without the switch --dp makes replicas, as the table of the chapter says."""
    assert "--enable-dp-attention" in answer("A mixture is served on 16 GPUs")


def test_the_plan_with_fsdp_starts() -> None:
    """torchtitan asks for a length; Megatron-FSDP refuses the one connection of the script."""
    flags = answer("Write the plan of this chapter with FSDP")
    assert "max_context_length" in flags
    assert "CUDA_DEVICE_MAX_CONNECTIONS" in flags


def test_a_bubble_with_chunks_can_be_computed_from_the_chapter() -> None:
    """Two exercises ask for one: stages less one over chunks, beside the micro-batches."""
    lost = calculate("bubble", schedule="interleaved", stages=8, virtual=10, microbatches=32)
    assert lost["fraction"] == pytest.approx((8 - 1) / 10 / (32 + (8 - 1) / 10))
    assert "$(K - 1) / V$ micro-batches beside the $m$" in text_of("from-plan-to-flags")


def test_two_jobs_miss_their_memory_by_what_their_switch_stores() -> None:
    """The answer counts bytes per parameter; the question prints two results of the planner."""
    asked = shown("from-plan-to-flags").split("Four jobs were meant")[1]
    number = r"([\d.]+)(?:&nbsp;|\s)GB"
    plan = float(re.search(rf"peaks at {number}", asked)[1])  # type: ignore[index]
    unsharded = float(re.search(rf"Job A peaks at {number}", asked)[1])  # type: ignore[index]
    narrow = float(re.search(rf"job B at {number}", asked)[1])  # type: ignore[index]
    more = float(re.search(rf"a twentieth are {number}", asked)[1])  # type: ignore[index]
    less = float(re.search(rf"instead of 4 are {number}", asked)[1])  # type: ignore[index]
    assert more == pytest.approx(unsharded - plan, abs=0.15)
    assert less == pytest.approx(plan - narrow, abs=0.15)


@pytest.mark.parametrize("ranks", [4, 16])
def test_the_last_rank_of_a_causal_cut_has_less_than_half_of_the_scores(ranks: int) -> None:
    """Nearly twice its share is not most of the work."""
    scores = [2 * rank + 1 for rank in range(ranks)]  # halves of a block
    assert scores[-1] / sum(scores) < 1 / 2
    assert scores[-1] / sum(scores) * ranks == pytest.approx(2 - 1 / ranks)
    assert "does most of the work" not in text_of("context-parallelism")


def test_steps_depend_on_the_optimizer_as_well_as_on_the_data() -> None:
    """Muon bears larger batches than AdamW (Essential AI 2025, abstract)."""
    assert "belongs to the data, and to the optimizer" in text_of("batch")


def test_a_sharded_optimizer_hides_fp32_gradients_from_as_many_tokens_on() -> None:
    """4 bytes behind 4 FLOPs and 2 behind 2; a whole sum of fp32 has 8 bytes behind 4."""
    hidden = calculate("dp-limit", chip="nvidia/h100-sxm", scaleout_bandwidth=50e9)
    whole = 8 / 4 * float(hidden["across_tokens"])
    assert f"hides from {whole:,.0f} tokens on" in shown("batch").replace("&nbsp;", " ")
