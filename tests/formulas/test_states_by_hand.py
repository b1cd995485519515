"""Weights, gradients and optimizer of a device, and what of them lies on its host, on paper.

A model of ten layers, width 7, vocabulary 11: two tables of 77. Five experts of three matrices
7 x 3 in eight layers, 2,520 in all. With 4,000 parameters 1,326 are left for everything else.
ZeRO as in rajbhandari2020zero, pipelines as in qi2024zero.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas.model_states import model_states, states_here
from flopbook.formulas.offloading import offload, slower_updates
from flopbook.quantities.ops import inf

near = pytest.approx
TABLE, EXPERTS, REST = 77, 8 * 5 * 3 * 21, 4000 - 2 * 77 - 8 * 5 * 3 * 21
MODEL: dict[str, Any] = {
    **{"params": 4000, "layers": 10, "d_model": 7, "vocab": 11, "d_ff": 9},
    **{"experts": 5, "expert_d_ff": 3, "dense_layers": 2},
    **{"state": 12, "embedding_state": 8, "cast": 4},
}


def held(**options: Any) -> dict[str, Any]:
    return model_states(**{**MODEL, **options})


def test_a_device_alone_holds_all() -> None:
    found = held()
    assert found["all_weights"] == found["summed"] == 2 * 4000
    assert found["all_states"] == 12 * (REST + EXPERTS) + 8 * 2 * TABLE
    assert found["all_casts"] == 4 * 4000
    assert found["extra_weights"] == found["extra_gradients"] == found["extra_states"] == 0
    assert found["layer_params"] == (REST + EXPERTS) / 10
    assert found["outer_params"] == 2 * TABLE


def test_a_tied_table_is_one() -> None:
    found = held(tied_embeddings="yes")
    assert found["all_states"] == 12 * (4000 - TABLE) + 8 * TABLE
    assert found["outer_params"] == TABLE


@pytest.mark.parametrize(
    ("options", "experts"),
    [
        ({"ffn_kind": "plain"}, 8 * 5 * 2 * 21),
        ({"dense_layers": 0}, 10 * 5 * 3 * 21),
        ({"ffn_layers": 7}, 5 * 5 * 3 * 21),
        ({"expert_d_model": 4}, 8 * 5 * 3 * 12),
        ({"expert_d_ff": inf, "d_ff": 2}, 8 * 5 * 3 * 14),
        ({"experts": 2}, 8 * 2 * 3 * 21),
        ({"experts": 1}, 0),
        ({"expert_d_ff": inf, "d_ff": inf}, 0),
    ],
)
def test_experts_are_divided_once_more(options: dict[str, Any], experts: int) -> None:
    whole, divided = held(**options)["all_weights"], held(**options, ep=5)["all_weights"]
    assert whole - divided == near(2 * experts * 4 / 5)


def test_a_total_below_the_shape_leaves_nothing_for_the_rest() -> None:
    found = held(params=100)
    assert found["all_weights"] == 2 * (2 * TABLE + EXPERTS)
    assert found["layer_params"] == EXPERTS / 10


def test_ranks_and_stages_divide_weights() -> None:
    found = held(tp=2, pp=5)
    assert found["all_weights"] == near(2 * 4000 / 10)
    # The first stage has a table of 77 where a fifth of both would be 30.8.
    assert found["extra_weights"] == near(2 * (77 - 30.8) / 2)
    assert found["extra_states"] == near(8 * (77 - 30.8) / 2)
    assert found["all_casts"] == near(4 * (400 + 23.1))
    assert found["outer_params"] == 77 / 2
    assert found["layer_params"] == (REST + EXPERTS) / 2 / 10
    assert found["stages"] == 5
    assert held(tp=2, ep=5)["layer_params"] == near((REST / 2 + EXPERTS / 10) / 10)


@pytest.mark.parametrize(
    ("schedule", "ends", "copies"),
    [("1f1b", 77, 1), ("zb-v", 154, 1), ("dualpipe-v", 154, 1), ("dualpipe", 154, 2)],
)
def test_schedules_that_come_back_hold_both_ends(schedule: str, ends: int, copies: int) -> None:
    found = held(pp=5, schedule=schedule)
    assert found["all_weights"] == near(copies * 2 * 4000 / 5)
    assert found["extra_weights"] == near(2 * (ends - copies * 30.8))


# ZeRO over four replicas and two ranks of context, experts over two of the eight.
DIVIDED = {"dp": 4, "cp": 2, "ep": 2, "grad_bytes": 4}
SHARED = REST + 2 * TABLE


@pytest.mark.parametrize(
    ("zero", "weights", "gradients", "states"),
    [(0, 1, 1, 1), (1, 1, 1, 8), (2, 1, 8, 8), (3, 8, 8, 8)],
)
def test_stages_of_zero(zero: int, weights: int, gradients: int, states: int) -> None:
    """Each of the three is divided over as many devices as hold the same, experts over half."""
    found = held(zero=zero, **DIVIDED)

    def part(shards: int) -> float:
        return SHARED / shards + EXPERTS / 2 / max(shards / 2, 1)

    assert found["all_weights"] == near(2 * part(weights))
    assert found["summed"] == near(4 * part(gradients))
    common = 12 * REST + 8 * 2 * TABLE
    assert found["all_states"] == near(common / states + 12 * EXPERTS / 2 / max(states / 2, 1))
    assert found["all_casts"] == near(4 * part(states))
    assert found["shard"] == 8


def test_groups_of_hsdp_divide_less() -> None:
    assert held(zero=3, dp=8, hsdp=4)["all_weights"] == 2 * 4000 / 2
    assert held(zero=3, dp=8, hsdp=4)["shard"] == 2


def test_extras_of_a_stage_are_divided_too() -> None:
    found = held(zero=3, dp=4, pp=5, grad_accumulation="sharded")
    extra = 77 - 30.8
    assert found["extra_weights"] == found["extra_gradients"] == near(2 * extra / 4)
    assert found["extra_states"] == near(8 * extra / 4)
    assert found["all_casts"] == near(4 * (800 + extra) / 4)


@pytest.mark.parametrize(
    ("zero", "pp", "word", "width", "shards", "is_whole"),
    [
        (3, 1, "auto", 2, 8, 0),
        (3, 2, "auto", 4, 1, 1),
        (2, 1, "auto", 2, 8, 0),
        (2, 2, "auto", 2, 1, 0),
        (3, 1, "whole", 4, 1, 1),
        (3, 2, "sharded", 2, 8, 0),
        (3, 2, "none", 2, 8, 0),
    ],
)
def test_pipelines_add_up_whole_gradients(
    zero: int, pp: int, word: str, width: int, shards: int, is_whole: int
) -> None:
    """In fp32 under FSDP, which reduces them after the last micro-batch alone."""
    found = held(zero=zero, dp=8, pp=pp, grad_accumulation=word)
    assert found["summed"] == near(width * 4000 / pp / shards)
    assert found["is_whole"] == is_whole


def test_wide_gradients_stay_as_wide() -> None:
    found = held(zero=3, dp=8, pp=2, grad_bytes=8)
    assert found["summed"] == 8 * 4000 / 2


HELD = {
    **{"all_weights": 100, "summed": 50, "all_states": 300, "all_casts": 40},
    **{"extra_weights": 3, "extra_gradients": 5, "extra_states": 7},
}


@pytest.mark.parametrize(
    ("where", "weights", "gradients", "states"),
    [("no", 1, 1, 1), ("optimizer", 1, 1, 0), ("gradients", 1, 0, 0), ("parameters", 0, 0, 0)],
)
def test_the_host_takes_states_then_gradients_then_weights(
    where: str, weights: int, gradients: int, states: int
) -> None:
    assert states_here(**HELD, offload=where) == {
        "weights": 100 * weights,
        "gradients": 50 * gradients,
        "optimizer_state": 300 * states,
        "stage_extra": 3 * weights + 5 * gradients + 7 * states,
        "made": 0,
        "cast_gradients": 40 * states,
        "fetches": 1 - weights,
        "streams": 1 - gradients,
    }


def test_without_buffers_gradients_are_made_on_the_way() -> None:
    found = states_here(**HELD, grad_accumulation="none")
    assert (found["gradients"], found["made"]) == (0, 50)
    assert states_here(**HELD, grad_accumulation="none", offload="gradients")["made"] == 0


# 960 parameters over four replicas: 240 on each; a link of 10 bytes a second.
HOST: dict[str, Any] = {
    **{"params": 960, "host_bandwidth": 10, "dp": 4, "microbatches": 3},
    **{"update_bytes": 28, "host_rate": 1000, "host_state": 12},
}


def moved(**options: Any) -> dict[str, Any]:
    return offload(**{**HOST, **options})


def test_states_on_the_host_move_gradients_down_and_weights_up_once() -> None:
    """Both 480 bytes, 48 s beside an update of four chips' 240 x 28 bytes, 26.88 s."""
    found = moved(offload="optimizer")
    assert (found["down"], found["up"]) == (480, 480)
    assert found["update_seconds"] == near(4 * 240 * 28 / 1000)
    assert found["exposed"] == near(48)
    assert found["host_bytes"] == 4 * 240 * 12
    slow = moved(offload="optimizer", host_rate=500)
    assert slow["exposed"] == slow["update_seconds"] == near(53.76)
    # The wider one of what goes down and what comes up.
    assert moved(offload="optimizer", grad_bytes=4)["exposed"] == near(96)
    assert moved(offload="optimizer", bytes_per_param=3)["exposed"] == near(72)


def test_gradients_on_the_host_move_down_in_each_micro_batch() -> None:
    """1,440 bytes beside the backward passes, two thirds of the time; then weights come up."""
    found = moved(offload="gradients", compute_seconds=90)
    assert (found["down"], found["up"]) == (1440, 480)
    assert found["exposed"] == near(144 - 60 + 48)
    assert moved(offload="gradients", compute_seconds=300)["exposed"] == near(48)
    assert moved(offload="gradients")["exposed"] == near(144 + 48)
    assert found["host_bytes"] == 4 * 240 * (12 + 2)


def test_weights_on_the_host_are_fetched_twice_a_micro_batch() -> None:
    """2 x 3 x 480 bytes: half in the forward passes of 30 s, half in the backward ones of 60 s."""
    found = moved(offload="parameters", compute_seconds=90)
    assert (found["down"], found["up"]) == (1440, 2880)
    assert found["exposed"] == near((144 - 30) + (144 - 60) + 26.88)
    assert found["host_bytes"] == 4 * 240 * (12 + 2 + 2)
    wide = moved(offload="parameters", compute_seconds=90, grad_bytes=4)
    assert wide["exposed"] == near((144 - 30) + (288 - 60) + 26.88)


def test_activations_go_down_and_come_up() -> None:
    """50 bytes of each of three micro-batches, both ways; a host keeps one of each chip."""
    options = {"offload": "optimizer", "activations": 50, "offload_activations": "yes"}
    found, without = moved(**options, compute_seconds=9), moved(offload="optimizer", activations=50)
    assert (found["down"], found["up"]) == (480 + 150, 480 + 150)
    assert found["exposed"] == near((15 - 3) + (15 - 6) + 48)
    assert found["host_bytes"] - without["host_bytes"] == 4 * 50
    both = moved(**{**options, "offload": "parameters"}, compute_seconds=90)
    assert both["exposed"] == near((144 - 30) + (144 + 15 - 60) + 26.88)
    long = moved(**{**options, "activations": 600}, compute_seconds=90)
    assert long["exposed"] == near((180 - 30) + (180 - 60) + 48)


@pytest.mark.parametrize(
    ("dp", "chips", "sharing"), [(4, inf, 4), (16, inf, 8), (16, 2, 2), (1, inf, 1)]
)
def test_chips_share_a_host(dp: int, chips: float, sharing: int) -> None:
    found = moved(offload="optimizer", dp=dp, host_chips=chips)
    assert found["host_bytes"] == near(sharing * 960 / dp * 12)
    assert found["update_seconds"] == near(sharing * 960 / dp * 28 / 1000)


def test_nothing_on_the_host_but_activations() -> None:
    found = moved(offload="no", activations=50, offload_activations="yes", compute_seconds=1000)
    assert found["update_seconds"] == 0


def test_updates_of_deepspeed_take_ten_times_as_long() -> None:
    size = slower_updates.function
    assert size(110e9, 3, 6) == near(4.5)
    assert size(100e9, 3, 6) == size(110e9, 3, 0) == 0
    assert size(110e9, 3, 0.5) == near(54)
