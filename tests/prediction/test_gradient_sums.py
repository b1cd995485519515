"""Gradients are summed in their own width, behind the backward pass where the software is told to;
chips without a switch share their links out among the others of a board.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.prediction.layouts import RunLayout, training_run
from flopbook.prediction.software_words import gradient_bytes, overlaps_gradients
from tests.support.training_rows import FITTED, parts, row


@pytest.mark.parametrize(
    ("software", "is_overlapped"),
    [
        ("Megatron-LM", False),
        ("Primus / Megatron-LM", False),
        ("Megatron-LM, --tp-comm-overlap, --overlap-grad-reduce", True),
        ("NeMo container 26.06", True),
        ("megatron-core", True),
        ("", True),
    ],
)
def test_plain_megatron_hides_no_gradient_sum(software: str, is_overlapped: bool) -> None:
    assert overlaps_gradients(software) is is_overlapped


def test_a_sum_that_nothing_hides_takes_longer() -> None:
    plain, told = (
        training_run(row(run={"software": words}, zero_stage=1), 2024)
        for words in ("Megatron-LM", "Megatron-LM, --overlap-grad-reduce")
    )
    assert parts(plain).gradients[0] > parts(told).gradients[0]


@pytest.mark.parametrize(
    ("precision", "width"), [("fp16 mixed", 2), ("bf16", 4), ("fp8", 4), ("bf16/fp16 mixed", 4)]
)
def test_the_width_of_gradients_is_that_of_their_format(precision: str, width: float) -> None:
    assert gradient_bytes(precision) == width


def test_whole_weights_exchange_both_ways_in_the_width_of_gradients() -> None:
    """8 bytes a weight in bf16 and 4 in fp16; a sharded optimizer gathers 2 in place of 4."""

    def waited(precision: str, zero: int) -> Any:
        run = training_run(row(run={"precision": precision}, zero_stage=zero), 2021)
        return parts(run._replace(chips=1e9)).gradients[0]

    hop = parts(training_run(row(zero_stage=0), 2021)._replace(gradient_bytes=0.0)).gradients[0]
    assert (waited("bf16", 0) - hop) / (waited("fp16", 0) - hop) == pytest.approx(2)
    assert (waited("bf16", 1) - hop) / (waited("bf16", 0) - hop) == pytest.approx(6 / 8)


def on_board(chip: str, node: int, **degrees: Any) -> RunLayout:
    said = row(**degrees)
    hardware = {"chip": chip, "n_chips": 64, "chips_per_node": node}
    return training_run(said._replace(hardware=hardware), 2025, "NeMo")


@pytest.mark.parametrize(
    ("chip", "node", "has_switch"),
    [
        ("H200-SXM", 4, False),
        ("A100-SXM-80GB", 4, False),
        ("H200-SXM", 8, True),
        ("GB200-NVL72", 4, True),
        ("MI300X", 4, True),
    ],
)
def test_boards_of_four_have_no_switch(chip: str, node: int, has_switch: bool) -> None:
    assert on_board(chip, node, tp=2, dp=32).has_switch is has_switch


def test_two_chips_of_a_board_of_four_share_a_third_of_their_links() -> None:
    """All four together use all their links."""
    for ranks, slowdown in ((2, 3.0), (4, 1.0)):
        small, large = (on_board("H200-SXM", node, tp=ranks, dp=64 // ranks) for node in (4, 8))
        ratio = parts(small).tensor_parallel[0] / parts(large).tensor_parallel[0]
        assert ratio == pytest.approx(slowdown)


def test_a_scale_for_each_row_slows_products_down() -> None:
    one, each = (
        training_run(row(run={"precision": f"float8 {words}wise"}), 2025, "torchtitan")
        for words in ("tensor", "row")
    )
    assert parts(each).products[0] > parts(one).products[0]


def shared(words: str, **degrees: Any) -> RunLayout:
    """A run of 64 replicas in InternEvo, whose states so many ranks share."""
    said = {"software": f"InternEvo, {words}"}
    return training_run(row(run=said, tp=1, zero_stage=1, **{"dp": 64, **degrees}), 2023)


@pytest.mark.parametrize(
    ("words", "groups"), [("zero1=-1", 1), ("zero1=8", 8), ("zero1=64", 1), ("zero1=128", 1)]
)
def test_states_are_shared_by_as_many_ranks_as_a_row_says(words: str, groups: float) -> None:
    run = shared(words)
    assert run.hsdp == groups and run.has_owners and run.gradient_bytes == 2
    assert not training_run(row(), 2023).has_owners


def test_owners_send_one_by_one_what_ranks_gather_together() -> None:
    """As many broadcasts as ranks own tensors, and no more than there are tensors."""
    one = shared("zero1=-1")
    layers = one.shape.layers

    def waits(ranks: float, **changes: Any) -> float:
        run = one._replace(dp=ranks, chips=ranks, gradient_bytes=0.0, **changes)
        quiet = {**FITTED, "hop": 0.0}
        return float(parts(run).gradients[0] - parts(run, quiet).gradients[0])

    for ranks in (8.0, 64.0, 512.0, 4096.0):
        together = waits(ranks, has_owners=False) / 2  # half of it are the sums
        broadcasts = waits(ranks) - together
        assert broadcasts / together == pytest.approx(min(ranks, 9 * layers) / layers)


def test_states_shared_in_a_node_wait_less_for_more_nodes() -> None:
    """Owners of a node broadcast to its ranks alone, however many nodes there are."""

    def gradients(ranks: float, groups: float) -> float:
        run = shared("zero1=-1")._replace(dp=ranks, chips=ranks, hsdp=groups)
        return float(parts(run).gradients[0])

    near = gradients(1024, 128) - gradients(256, 32)
    assert near < gradients(1024, 1) - gradients(256, 1)
