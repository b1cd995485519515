"""Architectures with recurrent layers, and what only they write in their configurations."""

from __future__ import annotations

import json

from flopbook.architectures.config import Config, Inputs, copy, latent_attention
from flopbook.architectures.config_layers import Layers, from_letters
from flopbook.errors import shorten


def gated_delta(config: Config) -> Inputs:
    """Gated delta net of Qwen3-Next and after."""
    heads, key_heads = config.need("linear_num_value_heads"), config.need("linear_num_key_heads")
    if heads % key_heads:
        raise config.wrong(
            f"linear_num_key_heads {key_heads} does not divide linear_num_value_heads {heads}"
        )
    return {
        "state_kind": "gated-delta",
        "state_heads": heads,
        "state_head_dim": config.need("linear_value_head_dim"),
        "state_key_heads": key_heads,
        "state_key_dim": config.need("linear_key_head_dim"),
        "state_conv": config.need("linear_conv_kernel_dim"),
    }


def _mamba2(config: Config) -> Inputs:
    """Mamba-2 under the names of Bamba, Granite and Falcon-H1."""
    heads = config.need("mamba_n_heads")
    inner = config.number("mamba_d_ssm")
    if inner is None:
        inner = (config.size("mamba_expand") or 2) * config.need("hidden_size")
    is_open = config.raw.get("mamba_d_head") in (None, "auto")
    head_dim = inner // heads if is_open else config.need("mamba_d_head")
    if heads * head_dim != inner:
        raise config.wrong(
            f"mamba_n_heads {heads} times mamba_d_head {head_dim} is not the inner width {inner}"
        )
    return {
        "state_kind": "mamba2",
        "state_heads": heads,
        "state_head_dim": head_dim,
        "state_key_heads": config.number("mamba_n_groups") or 1,
        "state_key_dim": config.need("mamba_d_state"),
        "state_conv": config.need("mamba_d_conv"),
    }


def _nemotron_state(config: Config) -> Inputs:
    return {
        "state_kind": "mamba2",
        "state_heads": config.need("mamba_num_heads"),
        "state_head_dim": config.need("mamba_head_dim"),
        "state_key_heads": config.number("n_groups", "mamba_n_groups") or 8,
        "state_key_dim": config.need("ssm_state_size"),
        "state_conv": config.number("conv_kernel", "mamba_d_conv") or 4,
    }


def _mamba(config: Config) -> Inputs:
    """Mamba of Jamba: one state for each inner channel."""
    width = config.need("hidden_size")
    is_open = config.raw.get("mamba_dt_rank") in (None, "auto")
    return {
        "state_kind": "mamba",
        "state_heads": 1,
        "state_head_dim": (config.size("mamba_expand") or 2) * width,
        "state_key_heads": 1,
        "state_key_dim": config.need("mamba_d_state"),
        "state_conv": config.need("mamba_d_conv"),
        "state_rank": -(-width // 16) if is_open else config.need("mamba_dt_rank"),
    }


def _lightning(config: Config) -> Inputs:
    heads = config.need("num_attention_heads")
    width = config.number("head_dim") or config.need("hidden_size") // heads
    return {"state_kind": "lightning", "state_heads": heads, "state_head_dim": width}


def _kda(config: Config) -> Inputs:
    linear = config.group("linear_attn_config")
    return {
        "state_kind": "kda",
        "state_heads": linear.need("num_heads"),
        "state_head_dim": linear.need("head_dim"),
        "state_conv": linear.need("short_conv_kernel_size"),
    }


def _kimi_kinds(config: Config, layers: int) -> list[str]:
    """Layers with latent attention are listed, counted from 1."""
    linear = config.group("linear_attn_config")
    full = linear.numbers("full_attn_layers")
    if full is None:
        raise config.missing("full_attn_layers")
    recurrent = linear.numbers("kda_layers")
    if recurrent is None:
        recurrent = [number for number in range(1, layers + 1) if number not in full]
    if sorted(full + recurrent) != list(range(1, layers + 1)):
        raise config.wrong(f"full_attn_layers and kda_layers are not the layers 1 to {layers}")
    return ["full" if number in full else "state" for number in range(1, layers + 1)]


def _lightning_kinds(config: Config, layers: int) -> list[str]:
    """1 marks softmax attention; a file without the list alternates, softmax first."""
    if config.raw.get("attn_type_list") is None:
        marked = [1 - number % 2 for number in range(layers)]
    else:
        marked = config.marks("attn_type_list", layers)
    return ["full" if is_full else "state" for is_full in marked]


def _mamba_kinds(config: Config, layers: int) -> list[str]:
    """Attention once in a period (Jamba), or in the layers that are listed (Bamba)."""
    period = config.size("attn_layer_period")
    if period:
        offset = _offset(config, "attn_layer_offset", period)
        return ["full" if number % period == offset else "state" for number in range(layers)]
    listed = config.numbers("attn_layer_indices")
    if listed is None:
        raise config.missing("layer_types, attn_layer_period or attn_layer_indices")
    if listed and max(listed) >= layers:
        raise config.wrong(
            f"attn_layer_indices has {max(listed)}, but the last of {layers} layers is {layers - 1}"
        )
    return ["full" if number in listed else "state" for number in range(layers)]


def _offset(config: Config, key: str, period: int) -> int:
    """Which layer of a period is the special one. Raises FlopbookError."""
    offset = config.number(key) or 0
    if offset >= period:
        raise config.wrong(f"{key} is {offset}, but the layers repeat after {period}")
    return offset


def _beside_kinds(config: Config, layers: int) -> list[str]:
    return ["state+full"] * layers


def _nemotron_kinds(config: Config, layers: int) -> list[str]:
    return from_letters(config, "hybrid_override_pattern")


LIGHTNING = Layers(kinds=_lightning_kinds, state=_lightning)
KIMI = Layers(kinds=_kimi_kinds, state=_kda)
MAMBA = Layers(kinds=_mamba_kinds, state=_mamba)
MAMBA2 = Layers(kinds=_mamba_kinds, state=_mamba2)
BESIDE = Layers(kinds=_beside_kinds, state=_mamba2)
NEMOTRON = Layers(kinds=_nemotron_kinds, state=_nemotron_state, single=True)


def nemotron(config: Config, inputs: Inputs) -> None:
    """Each layer is one block: a mixer, a feed-forward block or experts."""
    blocks = _nemotron_blocks(config)
    experts, dense = blocks.count("E"), blocks.count("-")
    if config.number("num_hidden_layers") not in (None, len(blocks)):
        raise config.wrong(
            f"its pattern has {len(blocks)} layers, but num_hidden_layers is {inputs['layers']}"
        )
    inputs["layers"] = len(blocks)
    inputs["ffn_layers"] = experts + dense
    if not experts:
        return
    copy(config, ("moe_latent_size",), inputs, "expert_d_model")
    inputs["experts"] = config.need("n_routed_experts")
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    copy(config, ("n_shared_experts",), inputs, "shared_experts")
    copy(config, ("moe_shared_expert_intermediate_size",), inputs, "shared_expert_d_ff")
    if dense:
        inputs["dense_layers"] = dense
    else:
        inputs.pop("d_ff", None)


def _nemotron_blocks(config: Config) -> str:
    """The layers as letters, however the file writes them."""
    listed = config.raw.get("layers_block_type") or config.raw.get("layer_types")
    if listed is None:
        from_letters(config, "hybrid_override_pattern")  # raises
        return str(config.raw["hybrid_override_pattern"])
    if not isinstance(listed, list):
        raise config.wrong(
            f"its layers are {shorten(json.dumps(listed))}, expected a list of words"
        )
    letters = {"moe": "E", "mlp": "-"}
    return "".join(letters.get(str(word), "*") for word in listed)


def granite(config: Config, inputs: Inputs) -> None:
    """Experts beside a shared block; without experts the shared block is the only one."""
    shared = config.need("shared_intermediate_size")
    experts = config.number("num_local_experts")
    if experts is None:
        inputs["d_ff"] = shared
        return
    inputs["expert_d_ff"] = config.need("intermediate_size")
    del inputs["d_ff"]
    inputs["experts"] = experts
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    inputs |= {"shared_experts": 1, "shared_expert_d_ff": shared}


def jamba(config: Config, inputs: Inputs) -> None:
    """Experts in some layers, as wide as the blocks of the others."""
    experts = config.number("num_experts")
    if experts is None or experts == 1:
        return
    period = config.size("expert_layer_period") or 2
    offset = _offset(config, "expert_layer_offset", period)
    layers = int(inputs["layers"])
    with_experts = sum(number % period == offset for number in range(layers))
    inputs["experts"] = experts
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    if with_experts < layers:
        inputs["dense_layers"] = layers - with_experts


def kimi_linear(config: Config, inputs: Inputs) -> None:
    """Latent attention between layers of Kimi delta attention, narrow experts in all but a few."""
    latent_attention(config, inputs)
    experts = config.number("num_experts")
    if experts is None:
        return
    inputs["experts"] = experts
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    inputs["experts_per_token"] = config.need("num_experts_per_token", "num_experts_per_tok")
    copy(config, ("num_shared_experts",), inputs, "shared_experts")
    copy(config, ("first_k_dense_replace",), inputs, "dense_layers")
    copy(config, ("routed_expert_hidden_size",), inputs, "expert_d_model")
    if config.flag("mla_use_output_gate"):
        inputs["attention_gate"] = "yes"


def ernie(config: Config, inputs: Inputs) -> None:
    """Narrow experts after some dense layers, under names of its own."""
    inputs["experts"] = config.need("moe_num_experts")
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    inputs["experts_per_token"] = config.need("moe_k")
    if (config.size("moe_layer_interval") or 1) > 1:
        raise config.wrong(
            "layers with and without experts in turn are not read; give the numbers as options"
        )
    copy(config, ("moe_num_shared_experts",), inputs, "shared_experts")
    copy(config, ("moe_layer_start_index",), inputs, "dense_layers")
