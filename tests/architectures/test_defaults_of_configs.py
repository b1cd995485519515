"""What a configuration leaves out is what its class has by default.

Defaults are those of the configuration classes in Transformers (JambaConfig, BambaConfig,
NemotronHConfig, MiniMaxConfig, Llama4TextConfig).
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.architectures.config import Config
from flopbook.architectures.huggingface import shape_of
from flopbook.architectures.quantised import weight_format
from flopbook.errors import FlopbookError
from tests.support.huggingface_configs import DEEPSEEK, LLAMA, SAME, like
from tests.support.hybrid_configs import ERNIE, JAMBA, KIMI, LLAMA_4, MAMBA2, NEMOTRON, QWEN_NEXT

BAMBA = {**LLAMA, **MAMBA2, "model_type": "bamba", "attn_layer_indices": [9]}
MINIMAX = {**SAME["mixtral"][0], "model_type": "minimax", "num_hidden_layers": 5}


def read(config: dict[str, Any], *left_out: str, **changed: Any) -> dict[str, Any]:
    kept = {key: value for key, value in {**config, **changed}.items() if key not in left_out}
    return dict(shape_of(Config(kept, "config")))


def refused(config: dict[str, Any], **changed: Any) -> str:
    with pytest.raises(FlopbookError) as caught:
        read(config, **changed)
    return str(caught.value)


DEFAULTS = [
    (BAMBA, "mamba_expand", {"state_heads": 128, "state_head_dim": 64}),
    (BAMBA, "mamba_n_groups", {"state_key_heads": 1}),
    (JAMBA, "mamba_expand", {"state_head_dim": 8192, "state_heads": 1, "state_key_heads": 1}),
    (JAMBA, "mamba_dt_rank", {"state_rank": 256}),
    (JAMBA, "expert_layer_period", {"dense_layers": 16}),
    (NEMOTRON, "n_groups", {"state_key_heads": 8}),
    (NEMOTRON, "conv_kernel", {"state_conv": 4}),
    (LLAMA_4, "interleave_moe_layer_step", {"shared_experts": 1}),
    (DEEPSEEK, "moe_layer_freq", {"dense_layers": 3, "shared_experts": 1}),
    (ERNIE, "moe_layer_interval", {"experts": 64, "dense_layers": 1}),
    (QWEN_NEXT, "nothing", {"shared_experts": 1, "shared_expert_d_ff": 512}),
]


@pytest.mark.parametrize(("config", "left_out", "sizes"), DEFAULTS)
def test_what_is_left_out_has_a_default(
    config: dict[str, Any], left_out: str, sizes: dict[str, int]
) -> None:
    found = read(config, left_out)
    assert {name: found.get(name) for name in sizes} == sizes


def test_every_layer_of_llama_4_may_have_experts() -> None:
    assert "dense_layers" not in read(LLAMA_4, "interleave_moe_layer_step")
    step = read(LLAMA_4, interleave_moe_layer_step=LLAMA_4["num_hidden_layers"])
    assert step["dense_layers"] == LLAMA_4["num_hidden_layers"] - 1
    listed = read(LLAMA_4, moe_layers=list(range(LLAMA_4["num_hidden_layers"])))
    assert "dense_layers" not in listed


def test_one_layer_of_experts_is_enough() -> None:
    """Of four layers three are dense; four would leave none."""
    found = read(DEEPSEEK, num_hidden_layers=4)
    assert found["dense_layers"] == 3
    assert "all 3 layers are dense" in refused(DEEPSEEK, num_hidden_layers=3)
    every = read(DEEPSEEK, "first_k_dense_replace", num_hidden_layers=1)
    assert every["layers"] == 1 and "dense_layers" not in every


def test_ranks_of_steps_are_rounded_up() -> None:
    """A sixteenth of the width: 257 for 4,097."""
    assert read(JAMBA, hidden_size=4097, num_attention_heads=17)["state_rank"] == 257
    assert read(JAMBA, mamba_dt_rank=7)["state_rank"] == 7


def test_experts_of_jamba_stand_at_an_offset() -> None:
    """Of seven layers those with number 1, 3 and 5 have experts; those with 0, 2, 4, 6 are four."""
    sizes: dict[str, Any] = {"num_hidden_layers": 7, "attn_layer_period": 7}
    assert read(JAMBA, **sizes)["dense_layers"] == 4
    assert read(JAMBA, "expert_layer_offset", **sizes)["dense_layers"] == 3
    assert "dense_layers" not in read(JAMBA, "expert_layer_offset", expert_layer_period=1)
    assert "experts" not in read(JAMBA, num_experts=1)
    assert read(JAMBA, num_experts=2)["experts"] == 2
    message = "expert_layer_offset is 2, but the layers repeat after 2"
    assert message in refused(JAMBA, expert_layer_offset=2)
    assert read(JAMBA, "attn_layer_offset", attn_layer_period=4)["attention_pattern"] == (
        "1 full, 3 state"
    )


def test_attention_of_bamba_is_listed() -> None:
    assert read(BAMBA, attn_layer_indices=[31])["attention_pattern"] == "31 state, 1 full"
    assert "the last of 32 layers is 31" in refused(BAMBA, attn_layer_indices=[32])
    assert "not the inner width 8192" in refused(BAMBA, mamba_d_head=63)
    assert read(BAMBA, mamba_d_head=64)["state_head_dim"] == 64


def test_layers_of_minimax_alternate() -> None:
    """Softmax first where no list says otherwise."""
    pattern = "2 x (1 full, 1 state), 1 full"
    assert read(MINIMAX)["attention_pattern"] == pattern
    assert read(MINIMAX, head_dim=77)["state_head_dim"] == 77
    assert read(MINIMAX)["state_head_dim"] == 4096 // 32


def test_layers_of_kimi_are_counted_from_one() -> None:
    linear = KIMI["linear_attn_config"]
    given = {**linear, "kda_layers": [1, 2, 3, 5, 6, 7]}
    assert read(KIMI, linear_attn_config=given)["attention_pattern"] == "3 state, 1 full"
    for wrong in ([0, 1, 2, 3, 5, 6, 7], [1, 2, 3, 5, 6], [1, 2, 3, 5, 6, 7, 9]):
        twisted = {**linear, "kda_layers": wrong}
        assert "are not the layers 1 to 8" in refused(KIMI, linear_attn_config=twisted)
    first = {**linear, "full_attn_layers": [1]}
    assert read(KIMI, linear_attn_config=first)["attention_pattern"] == "1 full, 7 state"


def test_blocks_of_nemotron() -> None:
    found = read(NEMOTRON)
    assert (found["layers"], found["ffn_layers"], found["dense_layers"]) == (6, 2, 1)
    no_dense = read(NEMOTRON, num_hidden_layers=3, hybrid_override_pattern="ME*")
    assert no_dense["ffn_layers"] == 1 and "dense_layers" not in no_dense
    of_experts = [key for key in NEMOTRON if "expert" in key]
    pattern = {"num_hidden_layers": 3, "hybrid_override_pattern": "M-*"}
    no_experts = read(NEMOTRON, *of_experts, "moe_intermediate_size", **pattern)
    assert no_experts["ffn_layers"] == 1 and "experts" not in no_experts


def test_experts_of_granite_stand_beside_one_shared_block() -> None:
    config = {**LLAMA, **MAMBA2, "model_type": "granitemoehybrid", "num_hidden_layers": 4}
    config |= {"attn_layer_indices": [3], "shared_intermediate_size": 1024}
    found = read(config, num_local_experts=8, num_experts_per_tok=2)
    assert (found["shared_experts"], found["shared_expert_d_ff"]) == (1, 1024)
    assert found["expert_d_ff"] == 14336 and "d_ff" not in found
    plain = read(config)
    assert plain["d_ff"] == 1024 and "experts" not in plain


LONGCAT = like(
    {key: value for key, value in DEEPSEEK.items() if "expert" not in key and "moe" not in key},
    "longcat_flash",
    **{"num_hidden_layers": None, "num_layers": 28, "n_routed_experts": 512, "moe_topk": 12},
    **{"expert_ffn_hidden_size": 2048, "first_k_dense_replace": None, "intermediate_size": None},
    **{"ffn_hidden_size": 12288},
)


def test_pairs_of_longcat() -> None:
    """Two attentions and two blocks in each of 28 layers; of 768 experts 256 do nothing."""
    found = read(LONGCAT, zero_expert_num=256)
    assert (found["layers"], found["ffn_layers"], found["dense_layers"]) == (56, 84, 56)
    assert found["experts_per_token"] == 8
    assert read(LONGCAT)["experts_per_token"] == 12
    assert read(LONGCAT, moe_topk=1, zero_expert_num=256)["experts_per_token"] == 1


HUNYUAN = like(
    LLAMA, "hunyuan_v1_moe", num_hidden_layers=3, num_experts=16, moe_topk=2, num_shared_expert=1
)


def test_numbers_of_hunyuan_may_be_lists() -> None:
    plain = read(HUNYUAN, use_mixed_mlp_moe=True)
    assert (plain["experts"], plain["experts_per_token"], plain["shared_experts"]) == (16, 2, 1)
    lists = {"moe_topk": [2, 2, 2], "num_shared_expert": [1, 1, 1], "use_mixed_mlp_moe": True}
    assert read(HUNYUAN, **lists) == plain
    single = read(HUNYUAN, num_hidden_layers=1, num_experts=[16], moe_topk=[2])
    assert single["experts_per_token"] == 2
    assert "has 2 numbers, but there are 3" in refused(HUNYUAN, moe_topk=[2, 2])
    assert "differs from layer to layer" in refused(HUNYUAN, moe_topk=[2, 2, 3])
    assert "experts" not in read(HUNYUAN, num_experts=1)
    assert read(HUNYUAN, num_experts=2)["experts"] == 2
    assert "shared_experts" not in read(HUNYUAN)


QUANTISED = [
    ({"quant_method": "gptq", "bits": 4}, "int4"),
    ({"quant_method": "awq", "bits": 8}, "int8"),
    ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4"),
    ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8"),
    ({"quant_method": "fp8"}, "fp8"),
]
GROUPS = [
    ({"num_bits": 4, "type": "int"}, "int4"),
    ({"num_bits": 8, "type": "int"}, "int8"),
    ({"num_bits": 8, "type": "float"}, "fp8"),
    ({"num_bits": 4, "type": "float", "group_size": 16}, "nvfp4"),
    ({"num_bits": 4, "type": "float", "group_size": 32}, "mxfp4"),
]


def compressed(weights: dict[str, Any]) -> dict[str, Any]:
    """One group of compressed tensors."""
    groups = {"group_0": {"weights": weights}}
    return {"quant_method": "compressed-tensors", "config_groups": groups}


@pytest.mark.parametrize(
    ("settings", "name"),
    [*QUANTISED, *((compressed(weights), name) for weights, name in GROUPS)],
)
def test_formats_of_quantised_weights(settings: dict[str, Any], name: str) -> None:
    assert weight_format(Config({"quantization_config": settings}, "config")) == name


@pytest.mark.parametrize(
    "settings", [{"quant_method": "gptq"}, {"quant_method": "gptq", "bits": 3}]
)
def test_formats_that_are_not_read(settings: dict[str, int]) -> None:
    with pytest.raises(FlopbookError, match="whose format is not read"):
        weight_format(
            Config({"quantization_config": {"quant_method": "gptq"} | settings}, "config")
        )
