"""Rules of layers, heads and layouts at the very sizes where they begin to hold."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas import conditions, inference, inference_parts, layer_inputs, weights
from flopbook.formulas.conditions import Rule
from flopbook.formulas.optimizer_states import optimizer_states
from flopbook.formulas.training_buffers import training_buffers
from flopbook.quantities.ops import inf

LAYERS = {
    **{"layers": 10, "window": inf, "window_layers": inf, "chunk": inf, "chunk_layers": 0},
    **{"sparse_layers": 0, "selected_tokens": inf, "index_layers": inf, "compressed_layers": 0},
    **{"compression": 1, "full_layers": inf, "state_layers": 0, "state_values": 0},
    **{"shared_kv_layers": 0, "shared_window_layers": 0, "attention_layers": inf},
    **{"dense_layers": 0, "ffn_layers": inf, "expert_layers": inf},
}
HEADS = {
    **{"heads": 12, "kv_heads": inf, "window_kv_heads": 0, "tp": 1, "kv_lora_rank": 0},
    **{"d_model": 24, "head_dim": inf, "experts": 1, "experts_per_token": 1, "d_ff": inf},
    **{"expert_d_ff": inf, "qk_nope_head_dim": 0, "v_head_dim": 0, "axes": 1, "chip_axes": 3},
    **{"chips": inf, "dp": inf, "ep": 1, "batch": 8, "params": 100, "compute_params": 90},
    **{"vocab": 0, "tied_embeddings": "no", "positions": "rotary", "context": inf, "chip": "any"},
}
KINDS = {"chunk_layers": 1, "sparse_layers": 2, "compressed_layers": 3}
NAMED = (conditions, inference, inference_parts, layer_inputs, weights)
RULES = {
    name: rule for room in NAMED for name, rule in vars(room).items() if isinstance(rule, Rule)
}

Case = tuple[str, dict[str, Any], bool]
CASES: tuple[Case, ...] = (
    ("kv_heads_are_shared", {"kv_heads": 4}, True),
    ("kv_heads_are_shared", {"kv_heads": 5}, False),
    ("kv_heads_are_shared", {}, True),
    ("window_kv_heads_are_shared", {"window_kv_heads": 1}, True),
    ("window_kv_heads_are_shared", {"window_kv_heads": 5}, False),
    ("window_kv_heads_are_shared", {}, True),
    ("window_kv_heads_are_shared", {"heads": 7, "window_kv_heads": 0}, True),
    ("tp_divides_heads", {"tp": 6}, True),
    ("tp_divides_heads", {"tp": 5}, False),
    ("tp_divides_heads", {"tp": inf, "heads": 7}, True),
    ("tp_divides_kv_heads", {"tp": 2, "kv_heads": 4}, True),
    ("tp_divides_kv_heads", {"tp": 12, "kv_heads": 4}, True),
    ("tp_divides_kv_heads", {"tp": 6, "kv_heads": 4}, False),
    ("tp_divides_kv_heads", {"tp": 6, "kv_heads": 4, "kv_lora_rank": 1}, True),
    ("tp_divides_kv_heads", {"tp": inf, "kv_heads": 5}, True),
    ("tp_divides_kv_heads", {"tp": 8}, False),
    ("visited_experts_exist", {"experts": 2, "experts_per_token": 2}, True),
    ("visited_experts_exist", {"experts": 2, "experts_per_token": 3}, False),
    ("dense_layers_exist", {"dense_layers": 10}, True),
    ("dense_layers_exist", {"dense_layers": 11}, False),
    ("feed_forward_has_a_width", {"d_ff": 1}, True),
    ("feed_forward_has_a_width", {}, False),
    ("feed_forward_has_a_width", {"experts": 2, "expert_d_ff": 1}, True),
    ("feed_forward_has_a_width", {"experts": 2}, False),
    ("feed_forward_has_a_width", {"expert_d_ff": 1}, False),
    ("feed_forward_has_a_width", {"experts": 2, "expert_d_ff": 1, "dense_layers": 1}, False),
    ("latent_attention_has_widths", {}, True),
    ("latent_attention_has_widths", {"kv_lora_rank": 1}, False),
    ("latent_attention_has_widths", {"kv_lora_rank": 1, "v_head_dim": 1}, False),
    ("latent_attention_has_widths", {"kv_lora_rank": 1, "qk_nope_head_dim": 1}, False),
    (
        "latent_attention_has_widths",
        {"kv_lora_rank": 1, "qk_nope_head_dim": 1, "v_head_dim": 1},
        True,
    ),
    ("chip_has_the_axes", {"axes": 3}, True),
    ("chip_has_the_axes", {"axes": 4}, False),
    # Layers.
    ("kinds_fit_the_layers", {**KINDS, "window": 8, "window_layers": 4}, True),
    ("kinds_fit_the_layers", {**KINDS, "window": 8, "window_layers": 5}, False),
    ("kinds_fit_the_layers", {**KINDS, "window_layers": 5}, True),
    ("kinds_fit_the_layers", {**KINDS, "state_layers": 4}, True),
    ("kinds_fit_the_layers", {**KINDS, "window": 8, "state_layers": 4}, True),
    ("kinds_fit_the_layers", {**KINDS, "state_layers": 5}, False),
    ("kinds_fit_the_layers", {**KINDS, "full_layers": 4, "state_layers": 10}, True),
    ("kinds_fit_the_layers", {**KINDS, "full_layers": 4, "state_layers": 11}, False),
    ("kinds_fit_the_layers", {**KINDS, "full_layers": 5}, False),
    ("windows_have_a_size", {}, True),
    ("windows_have_a_size", {"window_layers": 1}, False),
    ("windows_have_a_size", {"window_layers": 0}, True),
    ("windows_have_a_size", {"window_layers": 1, "window": 8}, True),
    ("chunks_have_a_size", {"chunk_layers": 1}, False),
    ("chunks_have_a_size", {"chunk_layers": 1, "chunk": 8}, True),
    ("chunks_have_a_size", {}, True),
    ("states_have_a_size", {"state_layers": 1}, False),
    ("states_have_a_size", {"state_layers": 1, "state_values": 1}, True),
    ("states_have_a_size", {}, True),
    ("sparse_layers_select", {"sparse_layers": 1}, False),
    ("sparse_layers_select", {"sparse_layers": 1, "selected_tokens": 8}, True),
    ("sparse_layers_select", {}, True),
    ("indexers_have_layers", {"index_layers": 2, "sparse_layers": 2}, True),
    ("indexers_have_layers", {"index_layers": 3, "sparse_layers": 2}, False),
    ("indexers_have_layers", {"sparse_layers": 2}, True),
    ("compressed_layers_have_a_ratio", {}, True),
    ("compressed_layers_have_a_ratio", {"compressed_layers": 1}, False),
    ("compressed_layers_have_a_ratio", {"compressed_layers": 1, "compression": 2}, True),
    ("some_layer_keeps_something", {"full_layers": 0}, False),
    ("some_layer_keeps_something", {"full_layers": 0, "window": 8}, True),
    *(
        ("some_layer_keeps_something", {"full_layers": 0, name: 1}, True)
        for name in (*KINDS, "state_layers", "full_layers")
    ),
    ("shared_caches_have_an_owner", {"shared_kv_layers": 9}, True),
    ("shared_caches_have_an_owner", {"shared_kv_layers": 10}, False),
    ("shared_caches_have_an_owner", {**KINDS, "shared_kv_layers": 3}, True),
    ("shared_caches_have_an_owner", {**KINDS, "shared_kv_layers": 4}, False),
    ("shared_caches_have_an_owner", {**KINDS, "state_layers": 2, "shared_kv_layers": 1}, True),
    ("shared_caches_have_an_owner", {**KINDS, "state_layers": 2, "shared_kv_layers": 2}, False),
    ("shared_caches_have_an_owner", {"full_layers": 1, "shared_kv_layers": 1}, False),
    ("shared_caches_have_an_owner", {"full_layers": 2, "shared_kv_layers": 1}, True),
    ("shared_caches_have_an_owner", {"full_layers": 0}, True),
    *(
        (
            "shared_caches_have_an_owner",
            {"window": 8, "window_layers": 4, "shared_kv_layers": n, "shared_window_layers": m},
            kept,
        )
        for n, m, kept in ((8, 3, True), (4, 4, False), (9, 3, False), (2, 3, False), (3, 3, True))
    ),
    (
        "shared_caches_have_an_owner",
        {"window_layers": 4, "shared_kv_layers": 1, "shared_window_layers": 1},
        False,
    ),
    (
        "shared_caches_have_an_owner",
        {"window": 8, "full_layers": 2, "shared_kv_layers": 7, "shared_window_layers": 7},
        True,
    ),
    # Weights.
    ("learned_positions_have_places", {"positions": "learned"}, False),
    ("learned_positions_have_places", {"positions": "learned", "context": 8}, True),
    ("learned_positions_have_places", {}, True),
    ("heads_divide_the_model_width", {"d_model": 36}, True),
    ("heads_divide_the_model_width", {"d_model": 25}, False),
    ("heads_divide_the_model_width", {"d_model": 25, "head_dim": 2}, True),
    ("heads_divide_the_model_width", {"d_model": 25, "kv_lora_rank": 1}, True),
    ("attending_layers_exist", {"window_layers": 10}, True),
    ("attending_layers_exist", {"window_layers": 11}, False),
    ("attending_layers_exist", {"window_layers": 0, "state_layers": 10}, True),
    ("attending_layers_exist", {"window_layers": 0, "state_layers": 11}, False),
    ("attending_layers_exist", {"window_layers": 6, "state_layers": 4}, True),
    ("attending_layers_exist", {"window_layers": 7, "state_layers": 4}, False),
    ("attending_layers_exist", {"window_layers": 3, "attention_layers": 3}, True),
    ("attending_layers_exist", {"window_layers": 4, "attention_layers": 3}, False),
    ("attending_layers_exist", {**KINDS, "window_layers": 0, "attention_layers": 5}, True),
    ("attending_layers_exist", {**KINDS, "window_layers": 0, "attention_layers": 4}, False),
    ("dense_blocks_exist", {"dense_layers": 4, "ffn_layers": 4}, True),
    ("dense_blocks_exist", {"dense_layers": 5, "ffn_layers": 4}, False),
    # Counts and layouts of inference.
    ("met_weights_exist", {"compute_params": 100}, True),
    ("met_weights_exist", {"compute_params": 101}, False),
    ("embeddings_fit", {"vocab": 3}, True),
    ("embeddings_fit", {"vocab": 4}, False),
    ("embeddings_fit", {"vocab": 3, "d_model": 30}, False),
    ("embeddings_fit", {"vocab": 4, "d_model": inf}, True),
    ("embeddings_fit", {"vocab": 1, "d_model": inf, "compute_params": 1}, True),
    ("tables_fit", {"vocab": 4}, True),
    ("tables_fit", {"vocab": 5}, False),
    ("tables_fit", {"vocab": 4, "d_model": 25}, False),
    ("tables_fit", {"vocab": 5, "tied_embeddings": "yes"}, True),
    ("tables_fit", {"vocab": 5, "d_model": inf}, True),
    ("tables_fit", {"vocab": 1, "d_model": inf, "params": 1}, True),
    ("tables_fit", {"vocab": 2, "positions": "learned", "context": 2}, True),
    ("tables_fit", {"vocab": 2, "positions": "learned", "context": 3}, False),
    ("tables_fit", {"vocab": 2, "context": 3}, True),
    ("tables_fit", {"vocab": 4, "positions": "learned"}, True),
    ("tables_fit", {"tied_embeddings": "yes", "d_model": 100}, True),
    ("tables_fit", {"vocab": 0, "d_model": 100, "positions": "learned"}, True),
    ("expert_layers_are_some", {"expert_layers": 10}, True),
    ("expert_layers_are_some", {"expert_layers": 11}, False),
    ("expert_layers_are_some", {}, True),
    ("expert_layers_are_some", {"layers": 0}, True),
    ("tp_divides_chips", {"chips": 12, "tp": 4}, True),
    ("tp_divides_chips", {"chips": 12, "tp": 5}, False),
    ("tp_divides_chips", {"chips": 12, "tp": inf}, True),
    ("tp_divides_chips", {"tp": 5}, True),
    ("tp_divides_chips", {"tp": 1}, True),
    ("chips_are_tp_times_dp", {"chips": 12, "tp": 4, "dp": 3}, True),
    ("chips_are_tp_times_dp", {"chips": 12, "tp": 4, "dp": 2}, False),
    ("chips_are_tp_times_dp", {"chips": 12, "tp": 4}, True),
    ("chips_are_tp_times_dp", {"chips": 12, "tp": inf, "dp": 2}, True),
    ("chips_are_tp_times_dp", {"tp": 4, "dp": 2}, True),
    ("chips_fill_the_heads", {"chips": 6, "tp": inf}, True),
    ("chips_fill_the_heads", {"chips": 5, "tp": inf}, False),
    ("chips_fill_the_heads", {"chips": 5, "tp": 1}, True),
    ("chips_fill_the_heads", {"tp": inf, "heads": 7}, True),
    ("chips_fill_the_heads", {"chips": 10, "tp": inf, "dp": 5}, True),
    ("chips_fill_the_heads", {"chips": 10, "tp": inf, "dp": 4}, False),
    ("chips_fill_the_heads", {"chips": 10, "tp": inf, "dp": 2}, False),
    ("chips_fill_the_heads", {"chips": 10, "tp": inf, "ep": 5}, True),
    ("chips_fill_the_heads", {"chips": 6, "tp": inf, "kv_heads": 4}, False),
    ("chips_fill_the_heads", {"chips": 6, "tp": inf, "kv_heads": 4, "kv_lora_rank": 1}, True),
    ("chips_fill_the_heads", {"chips": 6, "tp": inf, "kv_heads": 3}, True),
    ("chips_fill_the_heads", {"chips": 3, "tp": inf, "kv_heads": 6}, True),
    ("chips_fill_the_heads", {"tp": inf, "dp": 5}, True),
    ("ep_divides_the_replicas", {"chips": 12, "tp": 2, "ep": 3}, True),
    ("ep_divides_the_replicas", {"chips": 12, "tp": 2, "ep": 4}, False),
    ("ep_divides_the_replicas", {"chips": 12, "tp": inf, "ep": 5}, True),
    ("ep_divides_the_replicas", {"dp": 6, "ep": 3}, True),
    ("ep_divides_the_replicas", {"dp": 6, "ep": 4}, False),
    ("ep_divides_the_replicas", {"ep": 5}, True),
    ("replicas_have_sequences", {"dp": 8}, True),
    ("replicas_have_sequences", {"dp": 9}, False),
    ("replicas_have_sequences", {"chips": 16, "tp": 2}, True),
    ("replicas_have_sequences", {"chips": 18, "tp": 2}, False),
    ("replicas_have_sequences", {"chips": 99, "tp": inf}, True),
    ("replicas_have_sequences", {"chips": 99, "tp": inf, "ep": 9}, False),
    ("replicas_have_sequences", {"ep": 8}, True),
    ("replicas_have_sequences", {"ep": 9}, False),
)  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "is_kept"), CASES)
def test_a_rule_at_its_edge(name: str, changes: dict[str, Any], is_kept: bool) -> None:
    assert RULES[name].is_kept({**HEADS, **LAYERS, **changes}) is is_kept


def test_every_rule_is_among_these() -> None:
    own = {
        name
        for name, rule in RULES.items()
        if rule.function.__module__ in {room.__name__ for room in NAMED}
    }
    assert own == {name for name, _, _ in CASES}


OPTIMIZERS = {
    # Bytes of a parameter in bf16: a master copy of 4, moments of 4 each.
    "adam": 4 + 8,
    "adam-bf16": 4 + 4,
    "adam-8bit": 4 + 2,
    "adam-pure": 4,
    "adafactor": 4 + 8 / 100,
    "sgd": 4,
    "muon": 4 + 4,
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_bytes_of_an_optimizer(kind: str) -> None:
    found = optimizer_states(d_model=100, optimizer_kind=kind)
    assert found["state"] == OPTIMIZERS[kind]
    assert found["embedding_state"] == (12 if kind == "muon" else OPTIMIZERS[kind])
    assert found["cast"] == (0 if kind == "adam-pure" else 4)
    wide = optimizer_states(d_model=100, optimizer_kind=kind, bytes_per_param=4, grad_bytes=4)
    pure = kind == "adam-pure"
    assert wide["state"] == pytest.approx(8 if pure else OPTIMIZERS[kind] - 4)
    assert wide["cast"] == 0
    assert optimizer_states(d_model=100, optimizer_kind=kind, grad_bytes=4)["cast"] == 0
    narrow = optimizer_states(d_model=100, optimizer_bytes=1, optimizer_kind="adam-pure")
    assert narrow["state"] == 2


# Ten layers of 50 parameters and 30 beside them, divided over four.
BUFFERS: dict[str, Any] = {
    **{"layers": 10, "layer_params": 50, "outer_params": 30, "shard": 4, "is_whole": 0},
    **{"fetches": 0, "streams": 0, "zero": 3, "group_bytes": 1000},
}


@pytest.mark.parametrize(
    ("options", "weights", "gradients"),
    [
        ({}, 2 * (2 * 50 + 30), (2 + 4) * 50),
        ({"prefetch": 3}, 2 * (3 * 50 + 30), 300),
        ({"prefetch": 99}, 2 * (10 * 50 + 30), 300),
        ({"reshard": "no"}, 2 * (10 * 50 + 30), 300),
        ({"pp": 2}, 2 * (5 * 50 + 30), 300),
        ({"pp": 2, "reshard": "yes"}, 2 * (2 * 50 + 30), 300),
        ({"is_whole": 1}, 260, 0),
        ({"shard": 1}, 0, 0),
        ({"shard": 2}, 260, 300),
        ({"zero": 2}, 0, 0),
        ({"zero": 2, "fetches": 1}, 260, 0),
        ({"zero": 2, "streams": 1}, 0, 300),
        ({"bytes_per_param": 4, "grad_bytes": 4}, 4 * 130, 8 * 50),
    ],
)
def test_what_is_whole_for_a_while(options: dict[str, Any], weights: int, gradients: int) -> None:
    found = training_buffers(**{**BUFFERS, **options})
    assert (found["gathered_weights"], found["gathered_gradients"]) == (weights, gradients)


@pytest.mark.parametrize(
    ("degrees", "groups"),
    [({}, 0), ({"dp": 2}, 1), ({"tp": 2}, 1), ({"pp": 2}, 1), ({"cp": 2}, 2), ({"ep": 2}, 1),
     ({"dp": 2, "tp": 2, "pp": 2, "cp": 2, "ep": 2}, 5)],
)  # fmt: skip
def test_each_kind_of_parallelism_has_a_group(degrees: dict[str, int], groups: int) -> None:
    assert training_buffers(**BUFFERS, **degrees)["communication"] == 1000 * groups
