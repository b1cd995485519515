"""Statements of thirteen chapters that their sources contradict, beside what is right.

Each phrase stood in a chapter once, and each number here is computed again from its inputs.
"""

from __future__ import annotations

import random

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.ledger.rows import ledger_row
from tests.website.test_handbook_errors import text_of

KINDS = ("all-reduce", "off-all-reduce", "all-gather", "reduce-scatter")


@pytest.mark.parametrize("tp", [1, 2, 8])
def test_tp_inside_a_node_leaves_the_limit_across_nodes_where_it_was(tp: int) -> None:
    """Through a card comes 1/8 of each layer, with TP or without; so do FLOPs for each byte."""
    peak, card, node = 989.4e12, 50e9, 8
    groups_in_a_node = node / tp  # each GPU brings in its part of what the node gathers
    through_a_card = 2 / tp / groups_in_a_node / card  # seconds for each weight of a layer
    for_a_token = 2 / tp * tp / peak  # a TP rank has 1/tp of the layer, and tp ranks' tokens
    assert through_a_card / for_a_token == pytest.approx(2474, abs=1)
    assert "bytes and FLOPs are what they were" in text_of("fsdp")


def test_one_ring_is_eight_times_as_slow_as_eight_cards_at_the_same_rate() -> None:
    """2 (511/512) GB through one card of 50 GB/s, against 2 (63/64) of an eighth."""
    options = {"op": "all-reduce", "chip": "h100-sxm", "chips": 512, "scaleout_bandwidth": 50e9}
    one_ring, eight = 2 * 511 / 512 / 50, 2 * 63 / 64 / 8 / 50
    assert round(one_ring / eight) == 8
    assert calculate("collective", **options, bytes=1e9)["seconds"] == pytest.approx(eight, rel=0.1)


def test_a_switch_that_adds_speeds_up_the_all_reduce_alone() -> None:
    """Measured on 8 H200: gathers and scatters run at the rate of the ring."""
    rate = {name: _stated(f"nvls-{name}") for name in KINDS}
    assert rate["all-reduce"] / rate["off-all-reduce"] == pytest.approx(1.31, abs=0.01)
    for other in ("all-gather", "reduce-scatter"):
        assert rate[other] / rate["off-all-reduce"] == pytest.approx(0.99, abs=0.01)


def test_half_of_the_gpus_did_not_take_twice_as_long_to_train() -> None:
    """T/(1 - x) has 2 on half of the GPUs; verl took 1.16, 1.18 and 0.99 times as long."""
    on_all = [_stated(f"verl-7b-training{end}") for end in ("-32", "-64", "")]
    on_half = [_stated(f"verl-7b-training-apart-{gpus}") for gpus in (16, 32, 64)]
    slower = [half / whole for half, whole in zip(on_half, on_all, strict=True)]
    assert slower == pytest.approx([1.16, 1.18, 0.99], abs=0.005)
    assert "which is the worst case" in text_of("reinforcement-learning")


@pytest.mark.parametrize(("model", "params"), [("30b", 30.5e9), ("235b", 235e9)])
def test_a_measured_sync_takes_several_times_what_its_bytes_need(model: str, params: float) -> None:
    """Weights in bf16 through one port of 50 GB/s, with and without a checkpoint engine."""
    bound = 2 * params / 50e9
    assert 2 * bound < _stated(f"verl-sync-{model}-engine") < _stated(f"verl-sync-{model}")


def test_the_largest_mixture_gains_most_from_a_step_off() -> None:
    """All pairs on equal GPUs of one release, not only the one that got slower."""
    gains = {
        name: _stated(f"nemorl-{name}-turns") / _stated(f"nemorl-{name}-apart")
        for name in ("deepseek", "deepseek-far", "235b", "235b-far", "30b")
    }
    assert min(gains["deepseek"], gains["deepseek-far"]) > 1.5 > max(gains["235b"], gains["30b"])


@pytest.mark.parametrize("seed", [0, 1])
def test_two_pools_beat_taking_turns_if_part_of_a_step_is_the_same_for_any_batch(
    seed: int,
) -> None:
    """The shares that generation and training need within the time of taking turns leave GPUs."""
    draws = random.Random(seed)
    fixed, grows, train = (draws.uniform(1, 60) for _ in range(3))
    turns = fixed + grows + train
    assert grows / (turns - fixed) + train / turns < 1
    assert grows / (grows + train) + train / (grows + train) == pytest.approx(1)


def test_the_bubble_of_the_context_table_is_the_same_in_each_row() -> None:
    """Eight micro-batches on eight stages: 7/15 of the time, however many context ranks."""
    assert round(100 * 7 / (8 + 7)) == 47
    assert "it is the same in all" in text_of("context-parallelism")


def test_a_mixture_layer_has_more_flop_than_its_share_of_the_active_parameters() -> None:
    """Projections, causal scores at 4,096 tokens, eight routed experts and the shared one."""
    projections = calculate("params", model="deepseek-v3")["attention"] / 61
    experts = 6 * 7168 * 2048 * 9
    scores = 2 * (192 + 128) * 128 * 4096 / 2
    assert (2 * projections + experts + scores) / 1e6 == pytest.approx(1335, abs=1)


def test_a_narrow_expert_asks_for_a_quarter_more_tokens_than_the_ridge() -> None:
    """1/(1/295.5 - 1/7168 - 1/2048) = 363 tokens."""
    batch = calculate("min-batch", chip="h800-sxm", d_model=7168, d_ff=2048)
    assert batch["tokens_exact"] / batch["tokens"] == pytest.approx(1.23, abs=0.005)


def test_a_causal_ring_over_nodes_needs_twice_the_tokens_that_the_form_shows() -> None:
    options = {"chip": "a100-sxm-80gb", "model": "llama-2-7b", "seq": 131072}
    unmasked = calculate("cp-limit", **options)
    masked = calculate("cp-limit", **options, causal="yes")
    assert masked["across_tokens"] == pytest.approx(2 * unmasked["across_tokens"])


def test_a_row_of_tiles_is_the_worst_order_and_costs_half_of_no_cache_at_all() -> None:
    """133 strips for 132 tiles: 2.3 times the arithmetic, where no cache would be 4.7 times."""
    peak, memory, tile, processors = 989.4e12, 3.35e12, 128, 132
    arithmetic = 2 * tile * tile * processors / peak  # for each number of the sums' length
    row = (1 + processors) * tile * 2 / memory
    assert row / arithmetic == pytest.approx(2.3, abs=0.05)
    assert 2 * processors * tile * 2 / memory / arithmetic == pytest.approx(4.6, abs=0.1)


@pytest.mark.parametrize("devices", [4, 8, 64])
def test_a_ring_uses_both_directions_of_each_link(devices: int) -> None:
    """V/(2w) holds only if a block leaves over either link at the rate of one direction."""
    options = {"op": "all-gather", "topology": "ring", "chips": devices, "bytes": 1e9, "axes": 1}
    options |= {"chip": "tpu-v5p", "startup": 0, "ramp": 0, "efficiency": 1}
    both = calculate("collective", **options)["bandwidth_seconds"]
    assert both == pytest.approx(1e9 / (2 * 100e9) * (1 - 1 / devices), rel=1e-6)


def _stated(row: str) -> float:
    return float(ledger_row(row).stated.value or 0)
