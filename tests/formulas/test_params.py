"""Parameters from the shape: laws of any shape, then published counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula, params

BASE = {"layers": 32, "d_model": 4096, "heads": 32, "vocab": 32000, "d_ff": 11008}
MIXTURE = {**BASE, "experts": 8, "experts_per_token": 2}
LATENT = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
PARTS = ("embedding", "attention", "ffn", "router", "norms", "states")

shapes = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 128),
        "d_model": st.integers(1, 256).map(lambda n: 64 * n),
        "vocab": st.integers(1, 10**6),
        "heads": st.sampled_from([1, 2, 4, 8, 16, 32, 64]),
        "d_ff": st.integers(1, 10**5),
        "ffn_kind": st.sampled_from(["gated", "plain"]),
        "biases": st.sampled_from(["none", "qkv", "all"]),
        "norm": st.sampled_from(["rms", "layer", "none"]),
        "qk_norm": st.sampled_from(["none", "head", "full"]),
        "positions": st.sampled_from(["rotary", "learned", "relative", "alibi", "none"]),
    }
).map(lambda shape: shape | {"context": 1024})
mixtures = st.fixed_dictionaries(
    {
        "experts": st.integers(2, 512),
        "expert_d_ff": st.integers(1, 10**5),
        "shared_experts": st.integers(0, 4),
    }
)


@given(shapes, mixtures, st.booleans())
def test_the_parts_are_the_whole(
    shape: dict[str, Any], mixture: dict[str, Any], mixed: bool
) -> None:
    out = params(**(shape | mixture if mixed else shape))
    assert out["total"] == sum(out[name] for name in PARTS)
    assert all(out[name] >= 0 and out[name].is_integer() for name in (*PARTS, "total", "active"))
    assert (
        (out["active"] < out["total"])
        if mixed
        else (out["active"] == out["total"] and out["router"] == 0)
    )


@given(shapes, st.sampled_from(["layers", "d_model", "heads", "vocab", "d_ff"]))
def test_a_larger_shape_has_more_parameters(shape: dict[str, Any], field: str) -> None:
    """Heads of fixed width: without one, more heads are only narrower heads."""
    fixed = shape | {"head_dim": 64}
    assert params(**(fixed | {field: 2 * shape[field]}))["total"] > params(**fixed)["total"]


@given(shapes)
def test_tied_embeddings_save_one_matrix(shape: dict[str, Any]) -> None:
    saved = params(**shape)["total"] - params(**shape, tied_embeddings="yes")["total"]
    assert saved == shape["vocab"] * shape["d_model"]


@given(shapes)
def test_fewer_key_heads_have_fewer_parameters(shape: dict[str, Any]) -> None:
    """One, some, and as many as heads: MQA <= GQA <= MHA, which is what no number means."""
    divisors = [n for n in range(1, shape["heads"] + 1) if shape["heads"] % n == 0]
    counts = [params(**shape, kv_heads=n)["attention"] for n in divisors]
    assert counts == sorted(counts) and counts[-1] == params(**shape)["attention"]


@given(shapes, st.integers(1, 128))
def test_a_model_of_windows_alone_is_one_of_their_shape(shape: dict[str, Any], width: int) -> None:
    """KV heads and head dimension of windowed layers, where all layers are such."""
    fixed = shape | {"head_dim": 64}
    windowed = fixed | {"window_layers": shape["layers"]}
    for keys in (n for n in range(1, shape["heads"] + 1) if shape["heads"] % n == 0):
        own = params(**windowed, window_kv_heads=keys, window_head_dim=width)
        # A scale for each head of the normalised queries and keys counts as in full layers.
        assert (
            own["attention"] == params(**{**fixed, "head_dim": width}, kv_heads=keys)["attention"]
        )
        assert params(**windowed, window_kv_heads=keys) == params(**fixed, kv_heads=keys)


@given(shapes, st.integers(1, 10**5), st.integers(2, 9))
def test_experts_in_all_layers_need_no_dense_width(
    shape: dict[str, Any], width: int, experts: int
) -> None:
    """Then a dense width changes nothing; a single expert is a dense block, and needs it."""
    bare = {name: size for name, size in shape.items() if name != "d_ff"}
    mixture = {"expert_d_ff": width, "experts": experts}
    assert params(**bare, **mixture) == params(**shape, **mixture)
    for lacking in ({"experts": 1}, {"dense_layers": 1}):
        with pytest.raises(FlopbookError, match="needs --d-ff"):
            params(**bare, **{**mixture, **lacking})


@given(shapes, st.integers(1, 10**5), st.integers(0, 4))
def test_one_expert_is_dense(shape: dict[str, Any], width: int, shared: int) -> None:
    """With one expert the other sizes of experts do not matter."""
    assert params(**shape, experts=1, expert_d_ff=width, shared_experts=shared) == params(**shape)


@given(shapes, mixtures, st.data())
def test_the_experts_that_a_token_visits_are_active(
    shape: dict[str, Any], mixture: dict[str, Any], data: Any
) -> None:
    """All experts visited: everything is active.

    One more visited: one more expert in each layer.
    """
    visited = data.draw(st.integers(1, mixture["experts"] - 1))
    everything = shape | mixture
    few, more = (params(**everything, experts_per_token=n) for n in (visited, visited + 1))
    one = params(**(everything | {"experts": mixture["experts"] + 1}), experts_per_token=visited)
    expert = one["ffn"] - few["ffn"]
    assert more["active"] - few["active"] == expert and more["total"] == few["total"]
    whole = params(**everything, experts_per_token=mixture["experts"])
    assert whole["active"] == whole["total"]


@given(shapes, mixtures)
def test_dense_layers_are_dense(shape: dict[str, Any], mixture: dict[str, Any]) -> None:
    """All layers dense: no router and the blocks of the dense model; the experts are nowhere."""
    dense = params(**shape, **mixture, dense_layers=shape["layers"])
    assert dense == params(**shape)


def test_a_shared_expert_is_one_more_block() -> None:
    """Beside eight routed experts a shared one of the same width has an eighth of their weights."""
    alone, beside = (params(**MIXTURE, shared_experts=n)["ffn"] for n in (0, 1))
    assert beside == alone * 9 / 8
    wide = params(**MIXTURE, shared_experts=1, shared_expert_d_ff=2 * BASE["d_ff"])["ffn"]
    assert wide == alone * 10 / 8


def test_attention_by_hand() -> None:
    """Width 8, two heads of 4, one key head: queries and output 8 x 8, keys and values 8 x 4."""
    small = {"layers": 1, "d_model": 8, "heads": 2, "kv_heads": 1, "vocab": 1, "d_ff": 1}
    assert params(**small)["attention"] == 2 * 8 * 8 + 2 * 8 * 4
    assert params(**small, head_dim=3)["attention"] == 2 * 8 * 6 + 2 * 8 * 3
    assert params(**small, biases="qkv")["attention"] == 192 + 8 + 2 * 4
    assert params(**small, biases="all")["attention"] == 192 + 8 + 2 * 4 + 8
    assert params(**small, positions="relative")["attention"] == 192 + 8 * 8


def test_latent_attention_by_hand() -> None:
    """DeepSeek-V3, one layer, from its matrices.

    Down and up for queries, down and up for keys and values, output.
    """
    shape = {"layers": 1, "d_model": 7168, "heads": 128, "vocab": 1, "d_ff": 1, **LATENT}
    keys = 7168 * (512 + 64) + 512 * 128 * (128 + 128)
    out = 128 * 128 * 7168
    assert (
        params(**shape, q_lora_rank=1536)["attention"]
        == 7168 * 1536 + 1536 * 128 * 192 + keys + out
    )
    assert params(**shape)["attention"] == 7168 * 128 * 192 + keys + out
    assert params(**shape, q_lora_rank=1536)["norms"] == 3 * 7168 + 1536 + 512


def test_ffn_and_norms_by_hand() -> None:
    small = {"layers": 2, "d_model": 8, "heads": 2, "vocab": 3, "d_ff": 5}
    assert params(**small)["ffn"] == 2 * 3 * 8 * 5
    assert params(**small, ffn_kind="plain")["ffn"] == 2 * 2 * 8 * 5
    assert params(**small, ffn_kind="plain", biases="all")["ffn"] == 2 * (2 * 8 * 5 + 5 + 8)
    assert params(**small, biases="all")["ffn"] == 2 * (3 * 8 * 5 + 2 * 5 + 8)
    assert params(**small)["norms"] == (2 * 2 + 1) * 8
    assert params(**small, norm="layer", norms_per_layer=1)["norms"] == (2 * 1 + 1) * 16
    assert params(**small, norm="none")["norms"] == 0
    assert params(**small, qk_norm="head")["norms"] == 40 + 2 * 2 * 4
    assert params(**small, qk_norm="full", kv_heads=1)["norms"] == 40 + 2 * (8 + 4)
    assert params(**small, positions="learned", context=7)["embedding"] == 2 * 3 * 8 + 7 * 8


def test_llama_exactly() -> None:
    """6,738,415,616 for Llama 2 7B and 8,030,261,248 for Llama 3 8B.

    Loaded weights, counted (raschka2026llms).
    """
    assert params(**BASE)["total"] == 6_738_415_616
    llama3 = {**BASE, "kv_heads": 8, "d_ff": 14336, "vocab": 128256}
    assert params(**llama3)["total"] == 8_030_261_248
    small = {
        "layers": 16,
        "d_model": 2048,
        "heads": 32,
        "kv_heads": 8,
        "d_ff": 8192,
        "vocab": 128256,
    }
    assert params(**small, tied_embeddings="yes")["total"] == 1_235_814_400  # Llama 3.2 1B
    assert params(**small)["total"] == 1_498_482_688  # the same, the shared matrix counted twice


def test_gpt_neox_and_pythia_exactly() -> None:
    """20,554,567,680 parameters (eleutherai2022neoxcard) and 11,846,072,320 (pythia).

    Of the latter 11,327,027,200 are no embeddings.
    """
    old = {"ffn_kind": "plain", "biases": "all", "norm": "layer"}
    assert (
        params(layers=44, d_model=6144, heads=64, vocab=50432, d_ff=24576, **old)["total"]
        == 20_554_567_680
    )
    out = params(layers=36, d_model=5120, heads=40, vocab=50688, d_ff=20480, **old)
    assert out["total"] == 11_846_072_320 and out["total"] - out["embedding"] == 11_327_027_200


def test_qwen_mixture_exactly() -> None:
    """30,532,122,624 for Qwen3 30B-A3B, loaded and counted (raschka2026llms)."""
    shape = {
        "layers": 48,
        "d_model": 2048,
        "heads": 32,
        "kv_heads": 4,
        "head_dim": 128,
        "vocab": 151936,
    }
    experts = {"experts": 128, "experts_per_token": 8, "expert_d_ff": 768}
    assert params(**shape, **experts, qk_norm="head")["total"] == 30_532_122_624


def test_gemma_exactly() -> None:
    """Embedding and other parameters of Gemma 2 to the last digit: gemmateam2024gemma2, Table 2."""
    for name, rest, embedding in (
        ("9b", 8_324_201_984, 917_962_752),
        ("27b", 26_047_480_320, 1_180_237_824),
    ):
        out = calculate("params", model=f"gemma-2-{name}")
        assert out["embedding"] == embedding and out["total"] - embedding == rest


def test_experts_of_mixtral_and_deepseek() -> None:
    """47B and 13B active (jiang2024mixtral).

    671B and 37B (deepseek2024v3), where the second is rounded down.
    """
    mixtral, deepseek = (
        calculate("params", model=name) for name in ("mixtral-8x7b", "deepseek-v3")
    )
    assert (round(mixtral["total"] / 1e9), round(mixtral["active"] / 1e9)) == (47, 13)
    assert round(deepseek["total"] / 1e9) == 671 and math.floor(deepseek["active"] / 1e9) == 37


WRONG = {
    "kv heads": ({"kv_heads": 64}, r"--kv-heads \d+ does not divide --heads \d+"),
    "odd kv heads": ({"kv_heads": 3}, "does not divide --heads 32: .*; use 2 or 4"),
    "window kv heads": ({"window_kv_heads": 3}, "--window-kv-heads 3 does not divide --heads 32"),
    "experts": (
        {"experts": 2, "experts_per_token": 3},
        "a token cannot visit more experts than there are",
    ),
    "dense": ({"experts": 2, "dense_layers": 33}, "--dense-layers 33 is larger than --layers 32"),
    "positions": ({"positions": "learned"}, "learned positions need --context"),
    "width": ({"d_ff": math.inf}, "feed-forward block needs --d-ff"),
    "width of dense layers": (
        {"d_ff": math.inf, "experts": 8, "expert_d_ff": 9, "dense_layers": 1},
        "feed-forward block needs --d-ff",
    ),
    "latent": ({"kv_lora_rank": 512}, "needs --qk-nope-head-dim and --v-head-dim"),
    "head width": (
        {"heads": 31},
        "--d-model 4096 is not a multiple of --heads 31; give --head-dim",
    ),
    "zero": ({"layers": 0}, "layers is 0, expected at least 1"),
    "half": ({"vocab": 1.5}, "expected a whole number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_shapes_are_refused(name: str) -> None:
    changed, message = WRONG[name]
    with pytest.raises(FlopbookError, match=message):
        params(**{**BASE, **changed})


def test_an_unknown_word_names_the_near_ones() -> None:
    with pytest.raises(UnknownName, match="unknown ffn-kind 'gate'; nearest: gated"):
        params(**BASE, ffn_kind="gate")


def test_zero_stands_for_none_of_them() -> None:
    none = dict.fromkeys(name for name, spec in get_formula("params").inputs.items() if spec.none)
    assert params(**BASE, **dict.fromkeys(none, 0)) == params(**BASE)
    assert calculate("params", **BASE, shared_experts="0")["total"] == params(**BASE)["total"]


def test_arrays_give_what_numbers_give() -> None:
    layers, experts = np.array([1.0, 16.0, 80.0]), np.array([1.0, 8.0, 256.0])
    both = params(
        **{**BASE, "layers": layers}, experts=experts, shared_experts=np.array([0.0, 1.0, 2.0])
    )
    for name, values in both.items():
        for i, value in enumerate(np.broadcast_to(values, 3)):
            one = params(
                **{**BASE, "layers": layers[i]}, experts=experts[i], shared_experts=float(i)
            )
            assert value == one[name]


@given(shapes, mixtures, st.sampled_from(["yes", "no"]))
def test_look_ups_are_no_work(shape: dict[str, Any], mixture: dict[str, Any], tied: str) -> None:
    """Rows that are looked up multiply nothing; a tied table is the output matrix as well."""
    out = params(**shape, **mixture, tied_embeddings=tied)
    places = 1024 * shape["d_model"] if shape["positions"] == "learned" else 0
    table = 0 if tied == "yes" else shape["vocab"] * shape["d_model"]
    assert out["active"] - out["compute"] == places + table


def test_weights_that_a_token_of_gpt_oss_is_multiplied_with() -> None:
    """5.13 billion, as its card counts the active ones: with the output matrix, without the input.

    openai2025gptoss.
    """
    assert round(calculate("params", model="gpt-oss-120b")["compute"] / 1e9, 2) == 5.13


def test_kinds_of_layers_by_hand() -> None:
    """Width 8, two heads of 4, one KV head, two layers: each kind changes what it should."""
    small = {"layers": 2, "d_model": 8, "heads": 2, "kv_heads": 1, "vocab": 1, "d_ff": 5}
    one = 2 * 8 * 8 + 2 * 8 * 4
    assert params(**small)["attention"] == 2 * one
    windowed = params(**small, window_layers=1, window_kv_heads=2, window_head_dim=3)
    assert windowed["attention"] == one + 8 * (2 * 6 + 2 * 6)
    biased = params(**small, window_layers=1, window_kv_heads=2, window_head_dim=3, biases="all")
    assert biased["attention"] - windowed["attention"] == (8 + 8 + 8) + (6 + 12 + 8)
    values = params(**small, v_head_dim=3)
    assert values["attention"] == 2 * 8 * (2 * 4 + 2 * 3 + 4 + 3)
    gated = params(**small, attention_gate="yes")
    assert gated["attention"] == 2 * (one + 8 * 8)
    state = params(**small, state_layers=1, state_layer_params=77, qk_norm="head")
    assert (state["states"], state["attention"]) == (77, one)
    assert state["norms"] == (2 * 2 + 1) * 8 + 2 * 4
    assert state["total"] == sum(state[name] for name in PARTS)
    alone = params(**small, ffn_layers=1, attention_layers=1, state_layers=0)
    assert (alone["ffn"], alone["attention"]) == (3 * 8 * 5, one)
    shape = {**small, **LATENT, "q_lora_rank": 6}
    indexed = params(**shape, sparse_layers=2, index_heads=3, index_head_dim=4)
    assert indexed["attention"] - params(**shape)["attention"] == 2 * (
        6 * 3 * 4 + 8 * 4 + 2 * 4 + 8 * 3
    )


def test_experts_stand_only_where_there_are_blocks() -> None:
    """Of 10 layers 4 have blocks, one of them dense: three have a router and experts."""
    small = {"layers": 10, "d_model": 8, "heads": 2, "vocab": 1, "d_ff": 5, "ffn_layers": 4}
    out = params(**small, dense_layers=1, experts=4, expert_d_ff=2)
    assert out["ffn"] == 3 * 8 * 5 + 3 * 4 * 3 * 8 * 2
    assert out["router"] == 3 * 4 * 8


def test_experts_in_a_latent_space() -> None:
    """A matrix down and one up for all of a layer; the experts between are as narrow as it."""
    small = {"layers": 3, "d_model": 8, "heads": 2, "vocab": 1, "d_ff": 5, "dense_layers": 1}
    mixture = {"experts": 4, "experts_per_token": 2, "expert_d_ff": 7}
    wide, narrow = (params(**small, **mixture, **more) for more in ({}, {"expert_d_model": 2}))
    assert narrow["ffn"] == 3 * 8 * 5 + 2 * (4 * 3 * 2 * 7 + 2 * 8 * 2)
    assert narrow["total"] - narrow["active"] == 2 * 2 * 3 * 2 * 7
    # As wide as the model, they only have those two matrices more.
    same = params(**small, **mixture, expert_d_model=8)
    assert same["ffn"] - wide["ffn"] == 2 * 2 * 8 * 8


def test_queries_through_a_narrow_matrix_and_a_gated_latent_output() -> None:
    small = {"layers": 2, "d_model": 8, "heads": 2, "kv_heads": 1, "vocab": 1, "d_ff": 5}
    narrow = params(**small, q_lora_rank=3)
    assert narrow["attention"] == 2 * (8 * 3 + 3 * 8 + 2 * 8 * 4 + 8 * 8)
    assert narrow["norms"] == (2 * 2 + 1) * 8 + 2 * 3
    windowed = params(**small, q_lora_rank=3, window_layers=2, window_head_dim=2)
    assert windowed["attention"] == 2 * (8 * 3 + 3 * 4 + 2 * 8 * 2 + 8 * 4)
    latent = {**small, **LATENT}
    gate = params(**latent, attention_gate="yes")["attention"] - params(**latent)["attention"]
    assert gate == 2 * 8 * 2 * LATENT["v_head_dim"]


def test_an_indexer_without_compressed_queries_takes_the_whole_width() -> None:
    small = {"layers": 2, "d_model": 8, "heads": 2, "vocab": 1, "d_ff": 5}
    indexed = params(**small, sparse_layers=1, index_heads=3, index_head_dim=4)
    assert indexed["attention"] - params(**small)["attention"] == (
        8 * 3 * 4 + 8 * 4 + 2 * 4 + 8 * 3
    )


def test_queries_and_keys_are_normalised_at_the_width_of_their_layer() -> None:
    small = {"layers": 3, "d_model": 8, "heads": 2, "kv_heads": 1, "vocab": 1, "d_ff": 5}
    mixed = {**small, "window_layers": 2, "window_kv_heads": 2, "window_head_dim": 3}
    plain = params(**mixed)["norms"]
    assert params(**mixed, qk_norm="head")["norms"] - plain == 2 * 4 + 2 * 2 * 3
    assert params(**mixed, qk_norm="full")["norms"] - plain == (8 + 4) + 2 * (6 + 6)
