"""Attention of a layer small enough to count its matrices on paper.

Model width 7, six heads of width 5, two KV heads, ten layers. Multi-head and grouped queries as in
vaswani2017attention and ainslie2023gqa, latent attention as in deepseek2024v2.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas.attention_weights import attention_weights

SMALL: dict[str, Any] = {"layers": 10, "d_model": 7, "heads": 6, "kv_heads": 2, "head_dim": 5}
# 7 x 30 for queries and as many for the output, 7 x 10 each for keys and values.
GROUPED = 210 + 210 + 70 + 70
LATENT = {"kv_lora_rank": 1, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2, "v_head_dim": 5}
# Queries 7 x 6 x 5; down to 1 + 2; keys and values 1 x 6 x (3 + 5); output 6 x 5 x 7.
OF_LATENT = 210 + 7 * 3 + 48 + 210
SPARSE = {"sparse_layers": 4, "index_heads": 3, "index_head_dim": 2}
NARROW_WINDOW = {"window_layers": 4, "window_head_dim": 1, "window_kv_heads": 1}

LAYER = {
    "grouped queries": ({}, GROUPED),
    "as many keys as queries": ({"kv_heads": 99}, 4 * 210),
    "biases of queries, keys and values": ({"biases": "qkv"}, GROUPED + 30 + 10 + 10),
    "all biases": ({"biases": "all"}, GROUPED + 30 + 10 + 10 + 7),
    "queries once more for positions": ({"positions": "relative"}, GROUPED + 210),
    "a gate for each entry of the output": ({"attention_gate": "yes"}, GROUPED + 210),
    "values of width one": ({"v_head_dim": 1}, 210 + 42 + 70 + 14),
    "one vector for key and value": ({"key_is_value": "yes"}, GROUPED - 70),
    "queries through one number": ({"q_lora_rank": 1}, GROUPED - 210 + 7 + 30),
    "output through one number for each of three groups": (
        {"o_lora_rank": 1, "o_groups": 3},
        GROUPED - 210 + 30 + 3 * 7,
    ),
    "latent": (LATENT, OF_LATENT),
    "latent with narrow queries": ({**LATENT, "q_lora_rank": 2}, OF_LATENT - 210 + 14 + 60),
    "latent with a gate": ({**LATENT, "attention_gate": "yes"}, OF_LATENT + 210),
}


def count(**options: Any) -> dict[str, Any]:
    return attention_weights(**{**SMALL, **options})


@pytest.mark.parametrize("name", LAYER)
def test_a_layer_is_the_sum_of_its_matrices(name: str) -> None:
    options, layer = LAYER[name]
    assert count(**options)["attention_all"] == 10 * layer


def test_heads_share_the_width_of_the_model() -> None:
    shared = attention_weights(layers=1, d_model=12, heads=6)
    assert shared["head_sizes"] == 2
    assert shared["attention_all"] == 4 * 12 * 12


@pytest.mark.parametrize(("options", "attending"), [({"state_layers": 4}, 6), ({}, 10)])
def test_layers_with_a_state_have_no_attention(options: Any, attending: int) -> None:
    found = count(**options)
    assert found["attending"] == attending
    assert found["attention_all"] == attending * GROUPED
    assert found["head_sizes"] == attending * 5
    assert found["queries"] == attending * 30
    assert found["key_values"] == attending * 10


def test_a_number_of_layers_with_attention_goes_before_that_of_states() -> None:
    assert count(attention_layers=3, state_layers=4)["attention_all"] == 3 * GROUPED


def test_windowed_layers_have_widths_of_their_own() -> None:
    """Heads of width 1 and one KV head: 7 x 6 in and out, and 7 for key and value each."""
    found = count(**NARROW_WINDOW)
    assert found["attention_all"] == 6 * GROUPED + 4 * (42 + 42 + 7 + 7)
    assert found["head_sizes"] == 6 * 5 + 4 * 1
    assert found["queries"] == 6 * found["head_sizes"]
    assert found["key_values"] == 6 * 10 + 4 * 1


def test_windowed_layers_are_as_wide_as_the_others_where_nothing_else_is_said() -> None:
    found, plain = count(window_layers=4), count()
    assert found == plain


def test_narrow_matrices_and_biases_hold_in_windows_too() -> None:
    """Queries through 4 numbers, outputs through 4 for each of 3 groups, windowed heads of 3."""
    narrow = {"q_lora_rank": 4, "o_lora_rank": 4, "o_groups": 3, "biases": "all"}
    wide = (28 + 4 * 30) + (30 * 4 + 3 * 4 * 7) + 7 * 20 + (30 + 20 + 7)
    windowed = (28 + 4 * 18) + (18 * 4 + 3 * 4 * 7) + 7 * 6 + (18 + 6 + 7)
    found = count(**narrow, window_layers=4, window_head_dim=3, window_kv_heads=1)
    assert found["attention_all"] == 6 * wide + 4 * windowed


def test_one_vector_for_key_and_value_in_windows() -> None:
    found = count(key_is_value="yes", window_layers=10, window_head_dim=3, window_kv_heads=1)
    assert found["attention_all"] == 10 * (126 + 126 + 7 * 3)


def test_an_indexer_has_queries_a_key_and_a_weight_of_each_head() -> None:
    """Queries 7 x 6 and a key 7 x 2, two vectors of its norm, weights 7 x 3 (DeepSeek-V3.2)."""
    indexer = 7 * 6 + 7 * 2 + 2 * 2 + 7 * 3
    assert count(**SPARSE)["attention_all"] == 10 * GROUPED + 4 * indexer
    assert count(**SPARSE, index_layers=2)["attention_all"] == 10 * GROUPED + 2 * indexer
    assert count(**SPARSE, index_layers=9)["attention_all"] == 10 * GROUPED + 4 * indexer


def test_queries_of_an_indexer_come_from_narrow_ones() -> None:
    narrow = GROUPED - 210 + 4 * 7 + 4 * 30
    found = count(**SPARSE, q_lora_rank=4)["attention_all"]
    assert found == 10 * narrow + 4 * (4 * 6 + 7 * 2 + 2 * 2 + 7 * 3)


def test_a_compressor_makes_entries_of_values_and_gates() -> None:
    """DeepSeek-V4: values and gates of this entry and the next, 4 x 7 a column; a place for each of
    twice 2 tokens, and a norm. An entry of its own for the indexer, two wide."""
    column = 4 * 7 + 2 * 2 + 1
    indexer = 7 * 6 + column * 2 + 7 * 3
    found = count(**SPARSE, index_compression=2)["attention_all"]
    assert found == 10 * GROUPED + 4 * indexer + 4 * 5 * column


def test_entries_of_many_tokens_do_not_overlap() -> None:
    """Values and gates, 2 x 7 a column of five; a place for each of 2 tokens, and a norm."""
    found = count(compressed_layers=3, compression=2)["attention_all"]
    assert found == 10 * GROUPED + 3 * 5 * (2 * 7 + 2 + 1)
    assert count(compressed_layers=3)["attention_all"] == 10 * GROUPED
