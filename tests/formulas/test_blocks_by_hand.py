"""Feed-forward blocks and what a layer keeps for its backward pass, counted on paper.

Widths are small numbers without a common factor. Activations as in korthikanti2022reducing: a value
for each input of a product, a byte for each entry of a mask.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas.layer_activations import layer_activations
from flopbook.formulas.weights import feed_forward_weights

BLOCK: dict[str, Any] = {"layers": 10, "d_model": 7, "d_ff": 11}
MIXTURE = {**BLOCK, "experts": 5, "expert_d_ff": 3, "dense_layers": 2}


def blocks(**options: Any) -> dict[str, Any]:
    return feed_forward_weights(**{**BLOCK, **options})


def test_a_gated_block_has_three_matrices_and_a_plain_one_two() -> None:
    assert blocks()["ffn_all"] == 10 * 3 * 77
    assert blocks(ffn_kind="plain")["ffn_all"] == 10 * 2 * 77
    assert blocks()["routers"] == blocks()["sparse"] == 0


def test_biases_stand_beside_each_matrix() -> None:
    assert blocks(biases="all")["ffn_all"] == 10 * (3 * 77 + 2 * 11 + 7)
    assert blocks(biases="qkv")["ffn_all"] == 10 * 3 * 77


def test_some_layers_have_no_block() -> None:
    assert blocks(ffn_layers=4)["ffn_all"] == 4 * 3 * 77


def test_experts_stand_in_all_but_the_dense_layers() -> None:
    found = feed_forward_weights(**MIXTURE)
    assert (found["expert"], found["sparse"]) == (3 * 21, 8)
    assert found["ffn_all"] == 2 * 3 * 77 + 8 * 5 * 63
    assert found["routers"] == 8 * 5 * 7
    assert feed_forward_weights(**{**MIXTURE, "experts": 2})["sparse"] == 8


def test_experts_are_as_wide_as_blocks_where_nothing_else_is_said() -> None:
    found = blocks(experts=5)
    assert found["expert"] == 3 * 77
    assert feed_forward_weights(layers=1, d_model=7, experts=2)["expert"] == 0


def test_shared_experts_are_as_wide_as_the_others_or_as_they_say() -> None:
    plain = feed_forward_weights(**MIXTURE)["ffn_all"]
    beside = feed_forward_weights(**MIXTURE, shared_experts=2)["ffn_all"]
    assert beside - plain == 8 * 2 * 63
    wide = feed_forward_weights(**MIXTURE, shared_experts=2, shared_expert_d_ff=4)["ffn_all"]
    assert wide - plain == 8 * 2 * 3 * 28


def test_experts_with_biases() -> None:
    found = feed_forward_weights(**MIXTURE, biases="all", shared_experts=1)
    assert found["expert"] == 63 + 2 * 3 + 7
    dense = 2 * (3 * 77 + 2 * 11 + 7)
    assert found["ffn_all"] == dense + 8 * (5 * 76 + 76)


def test_experts_in_a_narrow_space_share_two_matrices() -> None:
    """A model width of 2 inside: down and up once for all experts of a layer."""
    found = feed_forward_weights(**MIXTURE, expert_d_model=2)
    assert found["expert"] == 3 * 3 * 2
    assert found["ffn_all"] == 2 * 3 * 77 + 8 * (5 * 18 + 2 * 14)
    with_bias = feed_forward_weights(**MIXTURE, expert_d_model=2, biases="all")
    assert with_bias["expert"] == 18 + 2 * 3 + 2


# A gated layer with six heads of width 5, two of them for keys, in bf16.
LAYER: dict[str, Any] = {
    "layers": 10,
    "d_model": 7,
    "heads": 6,
    "kv_heads": 2,
    "head_dim": 5,
    "windowed": 0,
    "in_window": 0,
    "met": 10 * 100,
    "blocks": 10,
    "sparse": 0,
    "dense_width": 11,
    "expert_width": 0,
    "expert_model": 7,
    "matrices": 3,
}
# Inputs of two norms and of two residual sums; queries, their result, keys and values; gate, up and
# their product. Flash attention keeps four bytes for each head.
UNCUT, RESIDUAL, STATISTICS = 2 * 2 * 7, 2 * 2 * 7, 6 * 4


def kept(**options: Any) -> float:
    return float(layer_activations(**{**LAYER, **options})["kept"])


def again(**options: Any) -> float:
    return float(layer_activations(**{**LAYER, **options})["again"])


CUT = 2 * (2 * 30 + 2 * 10 + 33)
ALL = UNCUT + RESIDUAL + CUT + STATISTICS
# Scores of 100 tokens for each head: two bytes each, and with dropout a result and a mask.
SOFTMAX = 6 * 100 * 2
DROPPED = 6 * 100 * (2 + 2 + 1)

KEPT = {
    "a gated layer": ({}, ALL),
    "a plain layer without dropout": (
        {"matrices": 2, "dropout": "no", "attention": "flash"},
        ALL - 2 * 11,
    ),
    "eager mode": ({"fusion": "eager"}, ALL + 2 * (11 + 30 + 10)),
    "norms": ({"norms_per_layer": 4}, ALL + 2 * 2 * 7),
    "residual streams": ({"residual_streams": 3}, ALL + 2 * RESIDUAL),
    "masks": ({"dropout": "yes"}, ALL + 2 * 7),
    "scores": ({"attention": "scores", "recompute": "none"}, ALL - STATISTICS + SOFTMAX),
    "scores with dropout": (
        {"attention": "scores", "recompute": "none", "dropout": "yes"},
        ALL - STATISTICS + DROPPED + 2 * 7,
    ),
    "no scores": ({"attention": "scores"}, ALL - STATISTICS),
    "narrow activations": ({"activation_bytes": 1}, (ALL - STATISTICS) / 2 + STATISTICS),
    "half of the layers with attention": (
        {"attention_layers": 5},
        ALL - STATISTICS / 2 - 2 * (60 + 20) / 2 - 2 * 7 / 2,
    ),
    "half of the layers with a state of 140 weights": (
        {"state_layers": 5, "state_layer_params": 140},
        ALL - STATISTICS / 2 - 2 * (60 + 20) / 2 + 2 * 20 / 2,
    ),
    "half of the layers with a block": ({"blocks": 5}, ALL - 2 * 33 / 2 - 2 * 7 / 2),
    "latent attention": (
        {"kv_lora_rank": 1, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2, "v_head_dim": 4},
        ALL - 2 * 80 + 2 * 2 * 6 * 9 + 2 * (1 + 2),
    ),
    "narrow queries and outputs": (
        {"q_lora_rank": 4, "o_lora_rank": 3, "o_groups": 2},
        ALL + 2 * (4 + 3 * 2),
    ),
    "two experts of five, in eight layers": (
        {"sparse": 8, "expert_width": 3, "experts_per_token": 2, "expert_model": 6},
        ALL - 2 * 33 + 2 * 3 * (2 * 11 + 8 * 6) / 10 + 2 * 8 * 2 * 2 * 6 / 10,
    ),
    "a shared expert beside": (
        {"sparse": 10, "expert_width": 3, "shared_experts": 1},
        ALL - 2 * 33 + 2 * 3 * (3 + 3) + 2 * 2 * 7,
    ),
    "a wider shared expert": (
        {"sparse": 10, "expert_width": 3, "shared_experts": 2, "shared_expert_d_ff": 4},
        ALL - 2 * 33 + 2 * 3 * (3 + 8) + 2 * 2 * 7,
    ),
    "two ranks": ({"tp": 2}, UNCUT + RESIDUAL + CUT / 2 + STATISTICS / 2),
    "two ranks with sequence parallelism": ({"tp": 2, "sequence_parallel": "yes"}, ALL / 2),
    "two ranks, gathered": (
        {"tp": 2, "sequence_parallel": "gathered"},
        UNCUT / 2 + RESIDUAL + CUT / 2 + STATISTICS / 2,
    ),
    "full recomputation": ({"recompute": "full"}, 2 * 7),
    "full recomputation of three streams, two ranks": (
        {"recompute": "full", "residual_streams": 3, "tp": 2, "sequence_parallel": "yes"},
        2 * 3 * 7 / 2,
    ),
    "three layers of a stage of five": (
        {"recompute": "full", "recompute_layers": 3, "pp": 2},
        0.6 * 14 + 0.4 * ALL,
    ),
    "more layers than there are": ({"recompute": "full", "recompute_layers": 11}, 2 * 7),
    "every second product": (
        {"recompute": "selective-op"},
        14 + 2 * (2 * 30 + 10 + 11 + 7) + STATISTICS,
    ),
    "every second product of two ranks": (
        {"recompute": "selective-op", "tp": 2},
        14 + 2 * ((2 * 30 + 10 + 11) / 2 + 7) + STATISTICS / 2,
    ),
    "every second product of plain blocks": (
        {"recompute": "selective-op", "matrices": 2, "dropout": "no", "attention": "flash"},
        14 + 2 * (2 * 30 + 10 + 11) + STATISTICS,
    ),
    "every second product, few blocks": (
        {"recompute": "selective-op", "blocks": 5},
        14 + 2 * (2 * 30 + 10 + 11 / 2 + 7 / 2) + STATISTICS,
    ),
    "every second product of latent attention": (
        {
            "recompute": "selective-op",
            **{"kv_lora_rank": 1, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2, "v_head_dim": 4},
        },
        14 + 2 * (6 * (3 + 2 + 2 * 4) + 11 + 7) + STATISTICS,
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_a_token_leaves_behind(name: str) -> None:
    options, bytes_of_a_token = KEPT[name]
    assert kept(**options) == pytest.approx(bytes_of_a_token, rel=1e-12)


def test_open_sizes_are_those_of_the_model() -> None:
    """Heads share the width of the model, and each has a key of its own."""
    sizes = {**LAYER, "d_model": 12}
    del sizes["head_dim"], sizes["kv_heads"]
    given = {**sizes, "head_dim": 2, "kv_heads": 6}
    assert layer_activations(**sizes) == layer_activations(**given)


def test_plain_blocks_have_dropout_and_scores() -> None:
    plain = kept(matrices=2, recompute="none")
    assert plain == ALL - 2 * 11 - STATISTICS + 2 * 7 + DROPPED


def test_windows_shorten_the_rows_of_scores() -> None:
    full = {"attention": "scores", "recompute": "none", "dropout": "no"}
    short = kept(**full, met=0, windowed=10, in_window=30)
    assert kept(**full) - short == 6 * 70 * 2


def test_what_is_dropped_is_computed_again() -> None:
    assert again() == 0
    assert again(attention="scores") == SOFTMAX
    assert again(recompute="none") == 0
    assert again(recompute="full") == ALL
    assert again(recompute="selective-op") == ALL - kept(recompute="selective-op")
    narrow = {"recompute": "selective-op", "d_model": 900, "norms_per_layer": 1, "blocks": 1}
    assert again(**narrow) >= 0


@pytest.mark.parametrize(("word", "side"), [("yes", 3), ("gathered", 3), ("no", 1)])
def test_only_sequence_parallelism_divides_rows(word: str, side: int) -> None:
    assert layer_activations(**LAYER, tp=3, sequence_parallel=word)["side"] == side
