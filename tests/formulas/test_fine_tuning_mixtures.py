"""Fine-tuning of mixtures of experts, latent attention and recurrent layers."""

from __future__ import annotations

import pytest

from flopbook import calculate
from tests.support.tuning import tuned


def test_each_expert_has_adapters_and_a_token_meets_those_of_eight() -> None:
    """Qwen3 30B A3B has 128 experts of width 768 in each of 48 layers."""
    run = {"model": "qwen-3-30b-a3b", "seq": 2048, "rank": 4}
    alone, whole = (
        calculate("fine-tuning", **run, adapted="attention"),
        calculate("fine-tuning", **run),
    )
    expert = 48 * 4 * 3 * (2048 + 768)
    assert whole["trainable"] - alone["trainable"] == 128 * expert
    assert whole["flop_per_token"] - alone["flop_per_token"] == pytest.approx(6 * 8 * expert)


def test_activations_of_a_mixture_are_those_of_the_experts_visited() -> None:
    """Copies of a token for its experts and back, and a block as wide as these experts."""
    mixed = {"experts": 8, "experts_per_token": 2, "expert_d_ff": 4096, "d_ff": 11008}
    d, f = 4096, 2 * 4096
    kept = 2 * d + d + d + 4 * d + 3 * f + 2 * 2 * d
    assert tuned(**mixed)["activations"] == pytest.approx(32 * 1304 * (2 * kept + 4 * 32))
    frozen_products = kept - d - f - 2 * d
    assert tuned(**mixed, adapted="qv")["activations"] == pytest.approx(
        32 * 1304 * (2 * frozen_products + 4 * 32)
    )
    half = tuned(**mixed, dense_layers=16)["activations"]
    assert half == pytest.approx((tuned(**mixed)["activations"] + tuned()["activations"]) / 2)


def test_latent_attention_and_shared_experts_have_adapters() -> None:
    """deepseek2024v2, 2.1: two matrices of queries, two of keys and values, one out."""
    latent = {
        "q_lora_rank": 100,
        "kv_lora_rank": 50,
        "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 32,
        "v_head_dim": 80,
    }
    d, heads = 4096, 32
    queries = (d + 100) + (100 + heads * 96)
    pair = queries + (d + 50 + 32) + (50 + heads * (64 + 80))
    assert tuned(**latent, rank=1, adapted="qv")["trainable"] == 32 * pair
    out = heads * 80 + d
    assert tuned(**latent, rank=1, adapted="attention")["trainable"] == 32 * (pair + out)
    whole = {**latent, "q_lora_rank": 0}
    direct = pair - queries + d + heads * 96
    assert tuned(**whole, rank=1, adapted="qv")["trainable"] == 32 * direct
    mixed = {"experts": 4, "expert_d_ff": 1000, "shared_experts": 2, "shared_expert_d_ff": 700}
    shared = tuned(**mixed, rank=1)["trainable"] - tuned(rank=1, adapted="attention")["trainable"]
    assert shared == 32 * 3 * (4 * (d + 1000) + d + 1400)


def test_a_recurrent_mixer_has_adapters_in_and_out() -> None:
    """Half of the layers with a mixer of rows as many as its weights make."""
    states = {"state_layers": 16, "state_layer_params": 10 * 4096, "rank": 1}
    attention = tuned(rank=1, adapted="attention")["trainable"]
    assert tuned(**states, adapted="attention")["trainable"] == attention / 2
    blocks = tuned(rank=1)["trainable"] - attention
    mixers = tuned(**states)["trainable"] - attention / 2 - blocks
    assert mixers == 16 * (2 * 4096 + 10)


def test_mixtures_keep_the_weights_of_all_experts_and_compute_with_few() -> None:
    """Qwen3 30B A3B: 30.5 billion parameters in memory, about 3 billion met by a token."""
    run = {"model": "qwen-3-30b-a3b", "seq": 2048}
    lora = calculate("fine-tuning", **run, adapted="attention")
    assert lora["trainable"] == 48 * 8 * (2 * (2048 + 4096) + 2 * (2048 + 512))
    result = calculate("fine-tuning", **run, method="full")
    weights = result.inputs["params"].value
    assert result["weights"] == pytest.approx(2 * weights)
    assert result["flop_per_token"] == pytest.approx(6 * result.inputs["compute_params"].value)
    assert result["flop_per_token"] < 6 * weights / 5


def test_layers_without_a_block_have_its_adapters_and_activations_less() -> None:
    """Half of the layers have attention alone: no norm, no inputs and no products of a block."""
    d, f, tokens = 4096, 11008, 1304
    half = tuned(ffn_layers=16, rank=1)
    assert half["trainable"] == tuned(rank=1)["trainable"] - 16 * 3 * (d + f)
    kept = 2 * (d + d + 4 * d) + 4 * 32 + (2 * (d + d + 3 * f)) / 2
    assert half["activations"] == pytest.approx(32 * tokens * kept)


def test_rotated_queries_are_those_of_plain_attention() -> None:
    """Eager mode keeps queries and keys once more; latent attention has no such whole ones."""
    latent = {"kv_lora_rank": 50, "qk_nope_head_dim": 64, "v_head_dim": 80}
    d, f = 4096, 11008
    # Both norms in fp32 and the activated gate are all that eager mode adds.
    added = tuned(**latent, fusion="eager")["activations"] - tuned(**latent)["activations"]
    assert added == pytest.approx(32 * 1304 * (2 * 2 * d + 2 * f))
