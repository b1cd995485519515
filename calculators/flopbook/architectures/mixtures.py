"""Architectures of 2025 and 2026 whose files have words of their own for experts, windows and
heads; and those with a mixer that is not read.
"""

from __future__ import annotations

from typing import Any

from flopbook.architectures.config import Config, Inputs, copy, copy_size, latent_attention
from flopbook.architectures.config_layers import Layers

# What stands in the layers of architectures that are known and not read.
UNREAD = {
    "gemma3n_text": "streams beside the residual one (AltUp) and embeddings of each layer",
    "laguna": "layers, whose numbers of heads differ from each other",
    "lfm2": "gated short convolutions",
    "lfm2_moe": "gated short convolutions",
    "mamba": "layers, which all are Mamba and none attention",
    "mamba2": "layers, which all are Mamba-2 and none attention",
    "nemotron-nas": "layers, whose widths differ from each other",
    "plamo2": "state-space mixer, a kind of its own",
    "recurrent_gemma": "gated linear recurrences (RG-LRU)",
    "rwkv7": "mixer, RWKV-7",
}


def _uniform(config: Config, key: str) -> int | None:
    """A number that a file may write once for all layers, or as a list of equal numbers."""
    listed = config.raw.get(key)
    if not isinstance(listed, list):
        return config.number(key)
    numbers = config.numbers(key) or []
    layers = config.need("num_hidden_layers")
    if len(numbers) != layers:
        raise config.wrong(f"{key} has {len(numbers)} numbers, but there are {layers} layers")
    if len(set(numbers)) != 1:
        raise config.wrong(f"{key} differs from layer to layer, which is not read")
    return numbers[0] or None


def bailing(config: Config, inputs: Inputs) -> None:
    """Ling 2.0: narrow experts after dense layers, normalised queries and keys."""
    inputs["experts"] = config.need("num_experts")
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    copy(config, ("num_shared_experts",), inputs, "shared_experts")
    copy(config, ("first_k_dense_replace",), inputs, "dense_layers")
    if "dense_layers" not in inputs:
        inputs.pop("d_ff", None)
    inputs["qk_norm"] = "head" if config.flag("use_qk_norm") else "none"
    if config.flag("use_qkv_bias"):
        inputs["biases"] = "qkv"


def hunyuan(config: Config, inputs: Inputs) -> None:
    """Experts in every layer beside a shared one, their numbers as lists."""
    if config.flag("use_cla"):
        raise config.wrong("caches that neighbouring layers share (use_cla) are not read")
    inputs["qk_norm"] = "head" if config.flag("use_qk_norm") else "none"
    copy(config, ("attention_head_dim", "head_dim"), inputs, "head_dim")
    experts = _uniform(config, "num_experts")
    if experts is None or experts == 1:
        return
    width = _uniform(config, "moe_intermediate_size") or config.need("intermediate_size")
    visited = _uniform(config, "moe_topk")
    if visited is None:
        raise config.missing("moe_topk")
    inputs |= {"experts": experts, "expert_d_ff": width, "experts_per_token": visited}
    inputs.pop("d_ff", None)
    shared = _uniform(config, "num_shared_expert")
    if config.flag("use_mixed_mlp_moe") and shared:
        inputs["shared_experts"] = shared


def longcat(config: Config, inputs: Inputs) -> None:
    """Two latent attentions and two dense blocks in each layer, beside one set of experts.

    Each pair of attention and dense block counts as a layer. Experts that do nothing are visited
    too: a token meets two thirds of `moe_topk` on average where a third of all do nothing.
    """
    latent_attention(config, inputs)
    blocks = config.need("num_layers")
    experts, idle = config.need("n_routed_experts"), config.number("zero_expert_num") or 0
    inputs["layers"] = 2 * blocks
    inputs |= {"ffn_layers": 3 * blocks, "dense_layers": 2 * blocks}
    inputs["experts"] = experts
    inputs["expert_d_ff"] = config.need("expert_ffn_hidden_size")
    inputs["experts_per_token"] = max(1, config.need("moe_topk") * experts // (experts + idle))


def mimo_flash(config: Config, inputs: Inputs) -> None:
    """Narrow experts in the marked layers; narrow values; windows with more KV heads."""
    layers = int(inputs["layers"])
    copy(config, ("v_head_dim",), inputs, "v_head_dim")
    copy_size(config, ("swa_num_key_value_heads",), inputs, "window_kv_heads")
    for windowed, plain in (
        ("swa_num_attention_heads", "num_attention_heads"),
        ("swa_head_dim", "head_dim"),
        ("swa_v_head_dim", "v_head_dim"),
    ):
        if config.number(windowed) not in (None, config.number(plain)):
            raise config.wrong(f"{windowed} differs from {plain}, which is not read")
    dense = layers - sum(config.marks("moe_layer_freq", layers))
    inputs["experts"] = config.need("n_routed_experts")
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    copy(config, ("n_shared_experts",), inputs, "shared_experts")
    if dense:
        inputs["dense_layers"] = dense
    else:
        inputs.pop("d_ff", None)


def _mimo_kinds(config: Config, layers: int) -> list[str]:
    marks = config.marks("hybrid_layer_pattern", layers)
    return ["window" if is_windowed else "full" for is_windowed in marks]


def step(config: Config, inputs: Inputs) -> None:
    """Narrow experts after dense layers; the windowed layers may have other heads."""
    copy_size(config, ("num_attention_groups",), inputs, "kv_heads")
    second_attention = config.raw.get("attention_other_setting")
    if (
        isinstance(second_attention, dict)
        and second_attention.get("num_attention_heads") != inputs["heads"]
    ):
        raise config.wrong("windowed layers with more heads (attention_other_setting) are not read")
    inputs["experts"] = config.need("moe_num_experts", "num_experts")
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    inputs["experts_per_token"] = config.need("moe_top_k", "num_experts_per_tok")
    copy(config, ("share_expert_dim", "share_expert_dims"), inputs, "shared_expert_d_ff")
    inputs["shared_experts"] = 1
    copy(config, ("first_k_dense_replace",), inputs, "dense_layers")
    listed = config.raw.get("moe_layers_enum")
    if listed is not None:
        inputs["dense_layers"] = int(inputs["layers"]) - _listed(config, listed)


def _listed(config: Config, listed: Any) -> int:
    """How many layers a text such as "3,4,5", or a list, names. Raises FlopbookError."""
    names = listed.split(",") if isinstance(listed, str) else listed
    if not isinstance(names, list) or not all(str(name).strip().isdigit() for name in names):
        raise config.wrong("moe_layers_enum is no list of layers")
    return len(names)


def _step_kinds(config: Config, layers: int) -> list[str]:
    raise config.missing("layer_types")


def minimax_m3(config: Config, inputs: Inputs) -> None:
    """Experts after dense layers beside a shared one; blocks of tokens selected by an indexer."""
    layers = int(inputs["layers"])
    dense = layers - sum(config.marks("moe_layer_freq", layers))
    inputs["experts"] = config.need("num_local_experts")
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    inputs["expert_d_ff"] = config.need("moe_intermediate_size", "intermediate_size")
    inputs.pop("d_ff", None)
    copy(config, ("n_shared_experts",), inputs, "shared_experts")
    copy(config, ("shared_intermediate_size",), inputs, "shared_expert_d_ff")
    if dense:
        inputs |= {"dense_layers": dense, "d_ff": config.need("dense_intermediate_size")}


def _m3_kinds(config: Config, layers: int) -> list[str]:
    marks = config.group("sparse_attention_config").marks("sparse_attention_freq", layers)
    return ["sparse" if is_sparse else "full" for is_sparse in marks]


def _m3_sparse(config: Config) -> Inputs:
    """What the indexer selects: whole blocks of tokens."""
    sparse = config.group("sparse_attention_config")
    return {
        "selected_tokens": sparse.need("sparse_topk_blocks") * sparse.need("sparse_block_size"),
        "index_heads": sparse.need("sparse_num_index_heads"),
        "index_head_dim": sparse.need("sparse_index_dim"),
    }


def gemma4(config: Config, inputs: Inputs) -> None:
    """Full layers have fewer and wider KV heads; a dense block beside experts is a shared one."""
    if config.number("hidden_size_per_layer_input"):
        raise config.wrong(
            "embeddings of each layer (hidden_size_per_layer_input) are not read; give the numbers "
            "as options"
        )
    copy_size(config, ("num_key_value_heads",), inputs, "window_kv_heads")
    copy(config, ("head_dim",), inputs, "window_head_dim")
    copy_size(config, ("num_global_key_value_heads", "num_key_value_heads"), inputs, "kv_heads")
    copy(config, ("global_head_dim", "head_dim"), inputs, "head_dim")
    experts = config.number("num_experts")
    if not config.flag("enable_moe_block") or experts is None:
        return
    inputs["experts"] = experts
    inputs["experts_per_token"] = config.need("top_k_experts")
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    inputs |= {"shared_experts": 1, "norms_per_layer": 7}
    inputs["shared_expert_d_ff"] = config.need("intermediate_size")
    del inputs["d_ff"]


MIMO = Layers(kinds=_mimo_kinds)
STEP = Layers(kinds=_step_kinds)
MINIMAX_M3 = Layers(kinds=_m3_kinds, selection=_m3_sparse)
