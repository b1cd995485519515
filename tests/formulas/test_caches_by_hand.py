"""Caches, reads and scores of a few tokens, counted on paper one by one.

Every pair of a token and one that it sees is listed by plain loops, which share nothing with the
closed forms of the formulas.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from flopbook.formulas.caches import heads_have_a_width, scales_of_narrow_values, unfilled_pages
from flopbook.formulas.layer_kinds import (
    attention_widths,
    head_width,
    kept_values,
    kv_widths,
    layer_counts,
    seen_tokens,
    sequence_pairs,
    sequence_work,
    step_reads,
    step_work,
    unmasked_work,
)

NONE = {"windowed": 0, "indexing": 0, "in_window": 0, "index_entries": 0}


def test_layers_are_of_one_kind_each() -> None:
    """Of twelve layers one is chunked, two are sparse, one is compressed, three keep a state."""
    kinds = {"chunk_layers": 1, "sparse_layers": 2, "compressed_layers": 1, "state_layers": 3}
    found = layer_counts(layers=12, window=8, window_layers=4, **kinds)
    assert found == {"windowed": 4, "full": 1, "indexing": 2}
    assert layer_counts(layers=12, window_layers=4, **kinds)["windowed"] == 0
    assert layer_counts(layers=12, window=8, **kinds)["windowed"] == 5
    assert layer_counts(layers=12, index_layers=1, **kinds)["indexing"] == 1


def test_full_attention_beside_a_state() -> None:
    """Falcon-H1: both in every layer, so that no layer is left for a window."""
    found = layer_counts(layers=12, full_layers=12, state_layers=12, window=8)
    assert found == {"windowed": 0, "full": 12, "indexing": 0}
    assert layer_counts(layers=12, full_layers=2, window=8)["windowed"] == 10


def test_a_head_is_given_or_a_part_of_the_model() -> None:
    assert head_width(heads=4, head_dim=3, d_model=20) == {"head_size": 3}
    assert head_width(heads=4, d_model=20) == {"head_size": 5}
    # Without a number of heads all of them are as wide as the model.
    assert head_width(heads=0, head_dim=3, d_model=20) == {"head_size": 20}
    assert head_width(heads=1, head_dim=3) == {"head_size": 3}
    assert head_width(heads=1) == {"head_size": 0}


def test_a_key_and_a_value_together() -> None:
    assert attention_widths(head_size=5) == {"both": 10, "window_both": 10}
    found = attention_widths(head_size=5, v_head_dim=1, window_head_dim=1)
    assert found == {"both": 6, "window_both": 2}


def test_keys_and_values_of_a_token() -> None:
    found = kv_widths(heads=4, kv_heads=2, both=10, window_both=3)
    assert (found["kv_width"], found["window_width"]) == (20, 6)
    assert (found["cut_heads"], found["window_cut_heads"]) == (2, 2)
    own = kv_widths(heads=4, kv_heads=2, both=10, window_both=3, window_kv_heads=1)
    assert (own["window_width"], own["window_cut_heads"]) == (3, 1)
    shared = kv_widths(heads=4, kv_heads=2, both=10, window_both=3, key_is_value="yes")
    assert (shared["kv_width"], shared["window_width"]) == (10, 3)


def test_a_latent_vector_is_one_for_all_heads() -> None:
    found = kv_widths(heads=4, both=10, window_both=10, kv_lora_rank=1, qk_rope_head_dim=2)
    assert found["kv_width"] == found["window_width"] == 3
    assert found["cut_heads"] == found["window_cut_heads"] == 1


def test_tokens_that_a_layer_sees() -> None:
    """Eleven tokens; entries of two and of four; a chunk of three, a window of five."""
    found = seen_tokens(
        seq=11,
        full=2,
        window=5,
        chunk=3,
        chunk_layers=1,
        sparse_layers=3,
        selected_tokens=4,
        index_compression=2,
        compressed_layers=1,
        compression=4,
        side_window=3,
    )
    assert found == {
        "in_window": 5,
        "in_chunk": 3,
        "index_entries": 5,
        "packed": 2,
        "at_side": 3,
        "met": 2 * 11 + 3 + 3 * (4 + 3) + (2 + 3),
    }
    few = seen_tokens(seq=11, full=0, sparse_layers=1, selected_tokens=99)
    assert few["met"] == 11


KEPT: dict[str, Any] = {
    "seq": 11,
    "windowed": 4,
    "full": 3,
    "indexing": 2,
    "in_window": 5,
    "in_chunk": 3,
    "index_entries": 5,
    "packed": 2,
    "at_side": 3,
    "kv_width": 8,
    "window_width": 6,
    "cut_heads": 2,
    "window_cut_heads": 1,
    "degree": 4,
    "chunk_layers": 1,
    "sparse_layers": 3,
    "index_head_dim": 7,
    "index_compression": 2,
    "compressed_layers": 1,
    "compression": 4,
    "state_layers": 2,
    "state_values": 20,
}


def test_what_a_sequence_keeps() -> None:
    """Full layers all tokens, a chunk its three, entries beside their window, windows five."""
    found = kept_values(**KEPT)
    wide = 8 * (3 * 11 + 3 + 3 * (5 + 3) + (2 + 3))
    windows, index = 6 * 4 * 5, 2 * 7 * 5
    assert found["kept"] == wide + windows + index
    # Two KV heads are cut twice, one not at all; every rank has the index.
    assert found["kept_on_chip"] == wide / 2 + windows + index
    waiting = 2 * 1 * 4 * 8 + 4 * 2 * (3 * 8 + 2 * 7)
    assert found["kept_state"] == 2 * 20 + waiting
    assert found["kept_state_on_chip"] == 2 * 20 / 4 + waiting
    # Of full windows and chunks nothing grows; entries grow by parts.
    assert found["growing"] == 3 * 8 + (3 * 8 + 2 * 7) / 2 + 8 / 4


def test_entries_of_one_token_wait_for_nothing() -> None:
    found = kept_values(**{**KEPT, "index_compression": 1, "compressed_layers": 0})
    assert found["kept_state"] == 2 * 20


def test_layers_that_share_a_cache_keep_none() -> None:
    found, shared = (
        kept_values(**KEPT, **more)
        for more in ({}, {"shared_kv_layers": 3, "shared_window_layers": 1})
    )
    assert found["kept"] - shared["kept"] == 2 * 8 * 11 + 1 * 6 * 5
    assert found["growing"] - shared["growing"] == 2 * 8


def test_what_is_not_full_yet_grows() -> None:
    filling = {"in_window": 11, "in_chunk": 11, "at_side": 11}
    more = kept_values(**{**KEPT, **filling})["growing"] - kept_values(**KEPT)["growing"]
    assert more == (3 + 1) * 8 + 4 * 6 + 1 * 8


def test_what_a_step_reads() -> None:
    sizes = {name: KEPT[name] for name in (*NONE, "kv_width", "window_width", "cut_heads")}
    found = step_reads(
        **sizes, met=50, window_cut_heads=1, degree=4, index_head_dim=7, state_layers=2,
        state_values=20,
    )  # fmt: skip
    assert found["read_on_chip"] == 8 * 50 / 2 + 6 * 4 * 5 + 2 * 7 * 5
    assert found["moved_state_on_chip"] == 2 * 2 * 20 / 4


def test_what_the_scores_of_a_step_take() -> None:
    """Widths of key and value times heads and tokens; a state is updated and read."""
    sizes = {"windowed": 4, "indexing": 2, "in_window": 5, "index_entries": 5, "met": 50}
    state = {"state_layers": 2, "state_values": 20}
    found = step_work(
        heads=3, both=10, window_both=4, index_heads=6, index_head_dim=7, **sizes, **state
    )
    states = 2 * 40
    assert found["token_work"] == 3 * 10 * 50 + 3 * 4 * 4 * 5 + 2 * 6 * 7 * 5 + states
    latent = step_work(heads=3, both=10, window_both=4, kv_lora_rank=1, qk_rope_head_dim=2, **sizes)
    assert latent["token_work"] == 3 * (2 * 1 + 2) * (50 + 4 * 5)


@pytest.mark.parametrize("tokens", [1, 2, 7, 12])
@pytest.mark.parametrize("size", [1, 3, 5])
def test_pairs_are_those_that_a_loop_counts(tokens: int, size: int) -> None:
    """A token at place n, from 1, sees n tokens, or those of its window, its chunk, its entries."""
    found = sequence_pairs(
        read_tokens=tokens, window=size, chunk=size, selected_tokens=2, index_compression=2,
        compression=size, side_window=size,
    )  # fmt: skip
    places = range(1, tokens + 1)
    assert found["full_pairs"] == sum(places)
    assert found["window_pairs"] == sum(min(n, size) for n in places)
    assert found["side_pairs"] == found["window_pairs"]
    assert found["chunk_pairs"] == sum((n - 1) % size + 1 for n in places)
    assert found["index_pairs"] == sum(n // 2 for n in places)
    assert found["selected_pairs"] == sum(min(n // 2, 2) for n in places)
    assert found["packed_pairs"] == sum(n // size for n in places)


def test_without_limits_all_tokens_are_seen() -> None:
    found = sequence_pairs(read_tokens=9)
    assert found["window_pairs"] == found["chunk_pairs"] == found["full_pairs"] == 45
    assert found["side_pairs"] == 0


PAIRS = {
    "full_pairs": 45,
    "window_pairs": 30,
    "chunk_pairs": 18,
    "index_pairs": 20,
    "selected_pairs": 14,
    "packed_pairs": 6,
    "side_pairs": 24,
}


def test_what_the_scores_of_a_sequence_take() -> None:
    layers = {"windowed": 4, "full": 3, "chunk_layers": 1, "sparse_layers": 2}
    rest = {
        "compressed_layers": 1, "indexing": 2, "index_heads": 6, "index_head_dim": 7,
        "state_layers": 2, "state_values": 20,
    }  # fmt: skip
    sizes = {"head_size": 5, "read_tokens": 9, "both": 10, "window_both": 4}
    found = sequence_work(heads=3, **sizes, **layers, **rest, **PAIRS)
    assert (found["pair_width"], found["window_pair"]) == (30, 12)
    seen = 3 * 45 + 18 + 2 * (14 + 24) + (6 + 24)
    states = 2 * 40 * 9
    assert found["score_work"] == 30 * seen + 12 * 4 * 30 + 2 * 6 * 7 * 20 + states
    latent = {"kv_lora_rank": 1, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 3}
    wide = sequence_work(heads=3, **sizes, **layers, **rest, **PAIRS, **latent)
    assert wide["pair_width"] == wide["window_pair"] == 3 * (4 + 2 + 3)
    # Without a number of heads keys and values are as wide as the model together.
    open_heads = sequence_work(heads=0, **sizes, **layers, **rest, **PAIRS)
    assert open_heads["pair_width"] == open_heads["window_pair"] == 10
    narrow = {**sizes, "head_size": 3}
    one_head = sequence_work(heads=1, **narrow, **layers, **rest, **PAIRS)
    assert (one_head["pair_width"], one_head["window_pair"]) == (10, 4)


def test_without_a_mask_every_query_meets_every_key() -> None:
    found = unmasked_work(
        seq=11, windowed=4, indexing=2, in_window=5, index_entries=5, met=50, pair_width=30,
        window_pair=12, index_heads=6, index_head_dim=7, state_layers=2, state_values=20,
    )  # fmt: skip
    each = 30 * 50 + 12 * 4 * 5 + 2 * 6 * 7 * 5 + 2 * 40
    assert found["rectangle"] == 11 * each


def test_what_a_cache_leaves_out() -> None:
    """Half a page of 16 tokens; an eighth of a byte of scales for a value of half a byte."""
    assert unfilled_pages.function(80) == pytest.approx(0.1)
    size = scales_of_narrow_values.function
    assert size(0.5, 100, 0) == pytest.approx(0.25)
    assert size(0.5, 100, 40) == pytest.approx(0.15)
    assert size(0.25, 100, 0) == pytest.approx(0.5)
    assert size(1, 100, 0) == size(0.51, 100, 0) == 0


def test_heads_are_as_wide_as_something_says() -> None:
    known = heads_have_a_width.function
    assert known(5, math.inf, 0) and known(math.inf, 5, 0) and known(math.inf, math.inf, 1)
    assert not known(math.inf, math.inf, 0)
