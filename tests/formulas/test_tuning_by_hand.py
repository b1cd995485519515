"""Parts of fine-tuning for a model small enough to count its matrices on paper.

Ten layers, width 7, six heads of width 5 with two keys, blocks 11 wide. An adapter of rank r has r
times both sides of its matrix (hu2021lora).
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas import tuning_parts as parts
from flopbook.quantities.ops import inf

near = pytest.approx
BLOCK: dict[str, Any] = {"layers": 10, "d_model": 7, "d_ff": 11}
MIXTURE = {**BLOCK, "experts": 5, "experts_per_token": 2, "expert_d_ff": 3, "dense_layers": 2}


def blocks(**options: Any) -> dict[str, Any]:
    return parts.tuned_blocks(**{**BLOCK, **options})


def test_sides_of_blocks() -> None:
    found = blocks()
    assert found["block_sides"] == found["met_sides"] == 10 * 3 * 18
    assert (found["block_width"], found["block_share"], found["copies"]) == (11, 1, 0)
    assert blocks(ffn_kind="plain")["block_sides"] == 10 * 2 * 18
    few = blocks(ffn_layers=4)
    assert (few["block_sides"], few["block_share"]) == (4 * 3 * 18, 0.4)
    assert few["block_width"] == near(4.4)


def test_sides_of_experts() -> None:
    """Every expert has adapters; a token meets those of two."""
    found = parts.tuned_blocks(**MIXTURE)
    dense = 2 * 18
    assert found["block_sides"] == 3 * (dense + 8 * 5 * 10)
    assert found["met_sides"] == 3 * (dense + 8 * 2 * 10)
    assert found["block_width"] == near((2 * 11 + 8 * 2 * 3) / 10)
    assert found["copies"] == near(8 * 2 * 7 / 10)
    pair = parts.tuned_blocks(**{**MIXTURE, "experts": 2})
    assert pair["block_sides"] == 3 * (dense + 8 * 2 * 10)


def test_shared_experts_are_one_block() -> None:
    plain = parts.tuned_blocks(**MIXTURE)
    shared = parts.tuned_blocks(**MIXTURE, shared_experts=2)
    assert shared["block_sides"] - plain["block_sides"] == 3 * 8 * (7 + 6)
    assert shared["met_sides"] - plain["met_sides"] == 3 * 8 * (7 + 6)
    assert shared["block_width"] - plain["block_width"] == near(8 * 6 / 10)
    one = parts.tuned_blocks(**MIXTURE, shared_experts=1, shared_expert_d_ff=4)
    assert one["block_sides"] - plain["block_sides"] == 3 * 8 * (7 + 4)


def test_open_widths() -> None:
    wide = blocks(experts=5, experts_per_token=1)
    assert wide["block_sides"] == 3 * 10 * 5 * 18
    narrow = parts.tuned_blocks(**MIXTURE, expert_d_model=4)
    assert narrow["met_sides"] == 3 * (2 * 18 + 8 * 2 * 7)
    assert narrow["copies"] == near(8 * 2 * 4 / 10)
    without = parts.tuned_blocks(
        layers=10, d_model=7, experts=5, experts_per_token=1, expert_d_ff=3, dense_layers=2
    )
    assert without["met_sides"] == 3 * (2 * 7 + 8 * 10)


ATTENTION: dict[str, Any] = {"layers": 10, "d_model": 7, "heads": 6, "kv_heads": 2, "head_dim": 5}
QUERY, KEY, VALUE, OUT = 7 + 30, 7 + 10, 7 + 10, 30 + 7
LATENT = {"kv_lora_rank": 1, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2, "v_head_dim": 4}
# Queries 7 to 30; the entry 7 to 1 + 2; keys and values 1 to 6 x 7; the output 24 to 7.
LATENT_PAIR, LATENT_OUT = (7 + 30) + (7 + 3) + (1 + 42), 24 + 7


def attention(**options: Any) -> dict[str, Any]:
    return parts.tuned_attention(**{**ATTENTION, **options})


def test_sides_of_attention() -> None:
    found = attention()
    assert found["attention_sides"] == 10 * (QUERY + KEY + VALUE + OUT)
    assert attention(adapted="qv")["attention_sides"] == 10 * (QUERY + VALUE)
    assert attention(adapted="attention")["attention_sides"] == found["attention_sides"]
    assert (found["attended"], found["entered"]) == (1, 1)
    assert found["attention_kept"] == 30 + 30 + 10 + 10
    assert found["rotated"] == 40
    narrow = attention(v_head_dim=1)
    assert narrow["attention_sides"] == 10 * (QUERY + KEY + (7 + 2) + (6 + 7))
    assert narrow["attention_kept"] == 6 * 6 + 2 * 6
    assert attention(kv_heads=99)["rotated"] == 60


def test_heads_share_the_width_of_the_model() -> None:
    found = parts.tuned_attention(layers=1, d_model=12, heads=6)
    assert found["attention_sides"] == 4 * 24


def test_sides_of_latent_attention() -> None:
    found = attention(**LATENT)
    assert found["attention_sides"] == 10 * (LATENT_PAIR + LATENT_OUT)
    assert attention(**LATENT, adapted="qv")["attention_sides"] == 10 * LATENT_PAIR
    assert found["attention_kept"] == 2 * 6 * 9 + 1 + 2
    assert found["rotated"] == 0
    ranked = attention(**LATENT, q_lora_rank=1)
    assert ranked["attention_sides"] - found["attention_sides"] == 10 * 2
    assert ranked["attention_kept"] - found["attention_kept"] == 1


def test_layers_with_a_state() -> None:
    """Four of ten; 70 weights are ten rows: sides of 7 + 7 and the rows."""
    state = {"state_layers": 4, "state_layer_params": 70}
    found = attention(**state)
    every = QUERY + KEY + VALUE + OUT
    assert found["attention_sides"] == 6 * every + 4 * (14 + 10)
    assert attention(**state, adapted="attention")["attention_sides"] == 6 * every
    assert attention(**state, adapted="qv")["attention_sides"] == 6 * (QUERY + VALUE)
    assert (found["attended"], found["entered"]) == (0.6, 1)
    assert found["attention_kept"] == near((6 * 80 + 4 * 10) / 10)
    assert found["rotated"] == near(24)
    beside = attention(**state, attention_layers=3)
    assert (beside["attended"], beside["entered"]) == (0.3, 0.7)
    both = attention(**state, attention_layers=10)
    assert both["entered"] == 1
    one = attention(state_layers=1, state_layer_params=70)
    assert one["attention_sides"] == 9 * every + 24


TRAINED: dict[str, Any] = {
    **{"params": 1000, "layers": 10, "d_model": 7, "vocab": 11, "rank": 3},
    **{"attention_sides": 100, "block_sides": 50, "met_sides": 20},
}


def test_adapters_have_a_rank() -> None:
    found = parts.trained_parameters(**TRAINED)
    assert found["trained"] == found["added"] == 3 * 150
    assert found["added_met"] == 3 * 120
    assert found["tables"] == 154
    assert found["layer_params"] == near(84.6)
    slim = parts.trained_parameters(**TRAINED, adapted="qv", method="qlora")
    assert slim["added"] == slim["added_met"] == slim["trained"] == 300
    tied = parts.trained_parameters(**TRAINED, tied_embeddings="yes")
    assert tied["tables"] == 77
    small = parts.trained_parameters(**{**TRAINED, "params": 100})
    assert small["layer_params"] == 0


def test_without_adapters() -> None:
    full = parts.trained_parameters(**TRAINED, method="full")
    assert (full["added"], full["added_met"], full["trained"]) == (0, 0, 1000)
    top = parts.trained_parameters(**TRAINED, method="frozen", trained_layers=2)
    assert (top["added"], top["added_met"]) == (0, 0)
    assert top["trained"] == near(169.2)
    every = parts.trained_parameters(**TRAINED, method="frozen", trained_layers=99)
    assert every["trained"] == near(846)


STATES: dict[str, Any] = {
    **{"params": 1000, "layers": 10, "tables": 154, "layer_params": 84.6, "added": 450},
    **{"trained": 450, "state": 12, "cast": 4},
}


@pytest.mark.parametrize(
    ("options", "width", "weights"),
    [
        ({}, 2, 2 * 1450),
        ({"frozen_bytes": 1}, 1, 846 + 2 * 604),
        ({"method": "full", "added": 0, "frozen_bytes": 1}, 2, 2000),
        ({"method": "frozen", "added": 0, "trained": 169.2, "frozen_bytes": 1}, 1, 1000 + 323.2),
        ({"method": "frozen", "added": 0, "trained": 900, "frozen_bytes": 1}, 1, 2000),
        ({"params": 100}, 2, 2 * 604),
        ({"frozen_bytes": 1, "params": 100}, 1, 2 * 604),
    ],
)
def test_frozen_weights_are_as_narrow_as_they_are_stored(
    options: dict[str, Any], width: float, weights: float
) -> None:
    found = parts.tuning_states(**{**STATES, **options})
    assert (found["width"], found["weights_held"]) == (width, near(weights))


def test_quantised_weights_have_four_bits_and_their_scales() -> None:
    found = parts.tuning_states(**STATES, method="qlora")
    assert 0.5 < found["width"] < 0.53
    assert found["weights_held"] == near(846 * found["width"] + 2 * 604)


@pytest.mark.parametrize(
    ("zero", "weights", "gradients", "states"),
    [(0, 1, 1, 1), (1, 1, 1, 4), (2, 1, 4, 4), (3, 4, 4, 4)],
)
def test_replicas_divide_states(zero: int, weights: int, gradients: int, states: int) -> None:
    found = parts.tuning_states(**STATES, zero=zero, dp=4)
    assert found["weights_held"] == 2900 / weights
    assert found["gradients_held"] == 2 * 450 / gradients
    assert found["optimizer_held"] == 12 * 450 / states
    assert found["cast_gradients"] == 4 * 450 / states
    gathered = 2 * 2 * 84.6 + 2 * 154
    assert found["gathered_weights"] == near(gathered if zero == 3 else 0)


def test_what_is_gathered() -> None:
    assert parts.tuning_states(**STATES, zero=3, dp=1)["gathered_weights"] == 0
    many = parts.tuning_states(**STATES, zero=3, dp=2, prefetch=99, frozen_bytes=1)
    assert many["gathered_weights"] == near(846 + 2 * 154)


KEPT: dict[str, Any] = {
    **{"layers": 10, "d_model": 7, "heads": 6, "matrices": 3, "block_width": 11},
    **{"block_share": 1, "copies": 0, "attended": 1, "entered": 1, "attention_kept": 80},
    **{"rotated": 40},
}
# Two norms, inputs of attention and block and of the last product, attention, two inner products
# and a number for each head.
NORMS, INPUTS, INNER, HEADS = 2 * 2 * 7, 2 * (7 + 7 + 11), 2 * 2 * 11, 24
LAYER = NORMS + INPUTS + 160 + INNER + HEADS


@pytest.mark.parametrize(
    ("options", "layer"),
    [
        ({}, LAYER),
        ({"adapted": "qv"}, LAYER - 2 * 18),
        ({"adapted": "qv", "method": "qlora"}, LAYER),
        ({"fusion": "eager"}, LAYER + NORMS + 80 + 22),
        ({"matrices": 2}, LAYER - 22),
        ({"matrices": 2, "fusion": "eager"}, LAYER - 22 + NORMS + 80),
        ({"block_share": 0.5}, LAYER - 7 - 7),
        ({"entered": 0.5}, LAYER - 7 - 7),
        ({"copies": 3}, LAYER + 6 + 6),
        ({"attended": 0.5}, LAYER - 12),
        ({"activation_bytes": 4}, 2 * (LAYER - HEADS) + HEADS),
    ],
)
def test_what_a_layer_keeps_of_a_token(options: dict[str, Any], layer: float) -> None:
    found = parts.tuning_activations(**{**KEPT, **options})
    assert (found["reached"], found["kept"], found["again"]) == (10, near(10 * layer), 0)


def test_recomputed_frozen_and_offloaded_layers() -> None:
    again = parts.tuning_activations(**KEPT, recompute="full")
    assert (again["kept"], again["again"]) == (10 * 14, LAYER)
    top = parts.tuning_activations(**KEPT, method="frozen", trained_layers=3)
    assert (top["reached"], top["kept"]) == (3, 3 * LAYER)
    more = parts.tuning_activations(**KEPT, method="frozen", trained_layers=99)
    assert more["reached"] == 10
    assert parts.tuning_activations(**KEPT, offload="yes")["kept"] == 0


@pytest.mark.parametrize(
    ("rule", "values", "is_kept"),
    [
        ("trained_layers_exist", (10, 10, "frozen"), True),
        ("trained_layers_exist", (10, 11, "frozen"), False),
        ("trained_layers_exist", (10, 11, "lora"), True),
        ("frozen_models_train_layers", (1, "lora"), True),
        ("frozen_models_train_layers", (2, "lora"), False),
        ("frozen_models_train_layers", (2, "frozen"), True),
        ("adapters_are_narrow", (7, 7), True),
        ("adapters_are_narrow", (7, 8), False),
        ("recurrent_layers_exist", (10, inf, 10), True),
        ("recurrent_layers_exist", (10, inf, 11), False),
        ("recurrent_layers_exist", (10, 10, 0), True),
        ("recurrent_layers_exist", (10, 11, 0), False),
    ],
)
def test_rules_of_tuning(rule: str, values: tuple[Any, ...], is_kept: bool) -> None:
    statement = getattr(parts, rule)
    assert statement.is_kept(dict(zip(statement.parameters, values, strict=True))) is is_kept
