"""What is counted of a shape beside its parameters, on paper: widths, shares, layers of a kind.

A mixture of ten layers, width 7, two of them dense with blocks of 11; five experts 3 wide, of which
a token visits two; six heads of width 5 with two keys; vocabulary 11.
"""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from flopbook.architectures import counts, layers
from flopbook.architectures.shape import Shape
from flopbook.data.claims import Claim
from flopbook.data.models import Model

near = pytest.approx
SIZES: dict[str, Any] = {
    **{"layers": 10, "d_model": 7, "heads": 6, "kv_heads": 2, "head_dim": 5, "vocab": 11},
    **{"d_ff": 11, "ffn": "gated", "tied_embeddings": "no", "biases": "none"},
}
MIXTURE = {**SIZES, "experts": 5, "experts_per_token": 2, "expert_d_ff": 3, "dense_layers": 2}
ATTENTION = 560  # 7 x 30 twice, 7 x 10 twice
EXPERT, DENSE, ROUTER = 3 * 21, 3 * 77, 35


def shape(sizes: dict[str, Any]) -> Shape:
    claims = tuple(
        Claim(
            field,
            value,
            "own2026test",
            datetime.date(2026, 1, 1),
            "none" if isinstance(value, str) else "count",
            basis="printed",
            locator="here",
        )
        for field, value in sizes.items()
        if value is not None
    )
    kind = "moe" if sizes.get("experts") else "dense"
    return Shape(Model("own/test", kind, "test", "", "a model for tests", claims))


def count(name: str, sizes: dict[str, Any]) -> float | None:
    counted = counts.COUNTED[name](shape(sizes))
    return None if counted is None else counted.value


@pytest.mark.parametrize(
    ("changes", "width"),
    [
        ({}, (2 * 11 + 8 * 6) // 10),
        ({"dense_layers": None}, 6),
        ({"dense_layers": None, "d_ff": 1111}, 6),
        ({"dense_layers": 1}, (11 + 9 * 6) // 10),
        ({"ffn_layers": 4}, (2 * 11 + 2 * 6) // 4),
        ({"shared_experts": 1}, (2 * 11 + 8 * 9) // 10),
        ({"shared_experts": 2, "shared_expert_d_ff": 4}, (2 * 11 + 8 * 14) // 10),
        ({"expert_d_model": 14}, (2 * 11 + 8 * 12) // 10),
        ({"d_ff": None, "dense_layers": None}, 6),
    ],
)
def test_the_block_that_a_token_meets(changes: dict[str, Any], width: int) -> None:
    assert count("block_d_ff", {**MIXTURE, **changes}) == width


def test_a_dense_block_is_as_wide_as_it_says() -> None:
    assert count("block_d_ff", SIZES) == 11


@pytest.mark.parametrize(
    ("sizes", "share"),
    [
        (SIZES, ATTENTION / DENSE),
        ({**SIZES, "ffn": "plain"}, ATTENTION / (2 * 77)),
        (MIXTURE, ATTENTION / (3 * 7 * 7)),
    ],
)
def test_attention_over_the_block(sizes: dict[str, Any], share: float) -> None:
    assert count("attention_share", sizes) == near(share)


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        ({}, ATTENTION / (2 * EXPERT)),
        ({"ffn": "plain"}, ATTENTION / (2 * 2 * 21)),
        ({"dense_layers": None}, ATTENTION / (2 * EXPERT)),
        ({"dense_layers": 1}, ATTENTION / (2 * EXPERT)),
        ({"ffn_layers": 4}, ATTENTION / (2 * EXPERT)),
        ({"expert_d_model": 14}, ATTENTION / (2 * 2 * EXPERT)),
        ({"shared_experts": 1}, (ATTENTION + EXPERT) / (2 * EXPERT)),
        ({"shared_experts": 2}, (ATTENTION + 2 * EXPERT) / (2 * EXPERT)),
        ({"shared_experts": 2, "shared_expert_d_ff": 4}, (ATTENTION + 2 * 84) / (2 * EXPERT)),
        ({"experts_per_token": 5}, ATTENTION / (5 * EXPERT)),
        ({"experts_per_token": 5, "ffn": "plain"}, ATTENTION / (5 * 2 * 21)),
        ({"experts_per_token": 1}, ATTENTION / EXPERT),
        (
            {"ffn": "plain", "shared_experts": 1},
            (ATTENTION + 2 * 21) / (2 * 2 * 21),
        ),
    ],
)
def test_attention_and_shared_experts_over_routed_ones(
    changes: dict[str, Any], share: float
) -> None:
    assert count("beside_share", {**MIXTURE, **changes}) == near(share)


@pytest.mark.parametrize(
    ("changes", "expert_layers"),
    [({}, 8), ({"dense_layers": None}, 10), ({"ffn_layers": 4}, 2), ({"dense_layers": 1}, 9)],
)
def test_layers_with_experts(changes: dict[str, Any], expert_layers: int) -> None:
    assert count("expert_layers", {**MIXTURE, **changes}) == expert_layers
    assert count("expert_layers", SIZES) is None


def test_the_part_of_a_checkpoint_that_is_narrow() -> None:
    """Routed experts, or all but tables, routers and norms."""
    experts = 8 * 5 * EXPERT
    norms = 2 * 10 * 7 + 7
    total = 10 * ATTENTION + 2 * DENSE + experts + 8 * ROUTER + 2 * 77 + norms
    assert shape(MIXTURE).parts["total"] == total
    narrow = {**MIXTURE, "weight_format_of": "experts"}
    assert count("weight_format_share", narrow) == near(experts / total)
    rest = total - 2 * 77 - 8 * ROUTER - norms
    layers_too = {**MIXTURE, "weight_format_of": "layers"}
    assert count("weight_format_share", layers_too) == near(rest / total)


def test_marketed_counts_within_a_hundredth_need_no_note() -> None:
    total = 10 * (ATTENTION + DENSE) + 2 * 77 + 147
    for factor, is_told in ((1.005, False), (0.995, False), (1.015, True), (0.985, True)):
        picked = counts.COUNTED["params"](shape({**SIZES, "params": total * factor}))
        assert picked is not None and picked.value == total
        assert any("published as" in note for note in picked.notes) is is_told


@pytest.mark.parametrize(
    ("pattern", "counted"),
    [
        ("5 x (1 window, 1 full)", {"window_layers": 5}),
        ("4 state, 6 full", {"state_layers": 4, "attention_layers": 6}),
        ("4 state, 6 state+full", {"state_layers": 10, "full_layers": 6, "attention_layers": 6}),
        ("10 state+full", {"state_layers": 10, "full_layers": 10, "attention_layers": 10}),
        ("3 none, 7 full", {"attention_layers": 7}),
        ("1 none, 9 full", {"attention_layers": 9}),
        ("10 chunk", {"chunk_layers": 10}),
        ("2 sparse, 8 sparse-reuse", {"sparse_layers": 10, "index_layers": 2}),
        ("10 state", {"state_layers": 10}),
    ],
)
def test_layers_of_each_kind(pattern: str, counted: dict[str, int]) -> None:
    layered = shape({**SIZES, "attention_pattern": pattern, "window": 4})
    names = (*counted, "window_layers", "chunk_layers", "sparse_layers", "attention_layers")
    found = {name: layers.COUNTED[name](layered) for name in names}
    numbers = {name: each.value for name, each in found.items() if each and each.value}
    assert numbers == counted


def test_windows_without_a_size_are_none() -> None:
    layered = shape({**SIZES, "attention_pattern": "5 window, 5 full"})
    assert layers.COUNTED["window_layers"](layered) is None


def test_layers_that_share_a_cache_are_the_last_ones() -> None:
    layered = shape(
        {**SIZES, "attention_pattern": "5 x (1 window, 1 full)", "window": 4, "shared_kv_layers": 3}
    )
    shared = layers.COUNTED["shared_window_layers"](layered)
    assert shared is not None and shared.value == 1


def test_a_recurrent_mixer_without_optional_sizes() -> None:
    """Heads of keys as those of values, no convolution and no low rank."""
    sizes = {**SIZES, "state_kind": "lightning", "state_heads": 6, "state_head_dim": 5}
    values, params = (
        layers.COUNTED[name](shape(sizes)) for name in ("state_values", "state_layer_params")
    )
    assert values is not None and values.value == 6 * 5 * 5
    assert params is not None and params.value > 0


def test_a_mixer_without_convolution_and_rank() -> None:
    """One head of 6 channels with 2 values each, on a model 7 wide: in, out and gate 7 x 6 each."""
    sizes = {**SIZES, "state_kind": "mamba", "state_heads": 1, "state_head_dim": 6}
    one = shape({**sizes, "state_key_heads": 1, "state_key_dim": 2})
    values, params = (layers.COUNTED[name](one) for name in ("state_values", "state_layer_params"))
    assert values is not None and values.value == 6 * 2
    around, steps, small = 3 * 42 + 6, 6 * 4 + 6, 6 * 3 + 4
    assert params is not None and params.value == around + steps + small
