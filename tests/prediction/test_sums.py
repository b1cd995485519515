"""What software and blocks change of the sums of tensor parallelism, and of launches."""

from __future__ import annotations

import pytest

from flopbook.prediction.layouts import training_run
from tests.support.training_rows import FITTED, layout, parts, row


def test_blocks_in_parallel_share_a_sum() -> None:
    """Attention and feed-forward of one input are summed once (MegaScale; PaLM)."""
    words = "parallel transformer block + sliding-window attention"
    run = layout(run={"algorithm_changes": words})
    assert run.has_parallel_blocks and not layout().has_parallel_blocks
    assert parts(run).tensor_parallel == pytest.approx(0.5 * parts(layout()).tensor_parallel)


def test_sums_of_pytorch_are_waited_for_unless_they_are_asynchronous() -> None:
    everything = {**FITTED, "tp_exposed": 1.0, "tp_overlapped": 1.0}
    plain = training_run(row(run={"software": "torchtitan"}), 2025)
    assert parts(plain).tensor_parallel == pytest.approx(parts(plain, everything).tensor_parallel)
    cut = training_run(row(run={"software": "torchtitan, async TP"}), 2025)
    assert parts(cut).tensor_parallel < 0.5 * parts(plain).tensor_parallel


@pytest.mark.parametrize("words", ["--tp-comm-overlap", "async TP"])
def test_software_may_say_that_its_sums_overlap(words: str) -> None:
    run = {"software": f"Megatron-LM, {words}"}
    named, plain = row(run=run), row(run={"software": "Megatron-LM"})
    early, late = (parts(training_run(one, 2023)).tensor_parallel for one in (plain, named))
    assert late == pytest.approx(FITTED["tp_overlapped"] * early)


def test_what_is_recomputed_is_launched_again() -> None:
    """With nothing but launches to wait for, four passes take a third longer than three."""
    slow = {**FITTED, "launch": 10.0}
    again, once = layout(run={"recompute": "full"}), layout()
    ratio = parts(again, slow).launches / parts(once, slow).launches
    assert ratio == pytest.approx(4 / 3, rel=0.02)
