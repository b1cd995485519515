"""DeepSeek-V4: attention to compressed tokens beside a window, one vector for key and value."""

from __future__ import annotations

from flopbook.architectures.config import Config, Inputs, copy
from flopbook.architectures.config_layers import Layers, indexer

# Tokens in an entry -> what the layer does: none are compressed, few of which an indexer selects,
# or many, all of which it reads.
FEW = 4


def deepseek_v4(config: Config, inputs: Inputs) -> None:
    """Narrow experts in all layers; queries and outputs through narrow matrices."""
    inputs.pop("d_ff", None)
    inputs["experts"] = config.need("n_routed_experts")
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    copy(config, ("n_shared_experts",), inputs, "shared_experts")
    for key in ("q_lora_rank", "o_lora_rank", "o_groups"):
        inputs[key] = config.need(key)
    inputs["key_is_value"] = "yes"
    copy(config, ("hc_mult",), inputs, "residual_streams")


def _ratios(config: Config, layers: int) -> list[int]:
    """Tokens in an entry of each layer, 0 where none are compressed; heads that predict further
    tokens are listed at the end."""
    ratios = config.numbers("compress_ratios")
    if ratios is None or len(ratios) < layers:
        raise config.missing(f"compress_ratios of {layers} layers")
    return ratios[:layers]


def _kinds(config: Config, layers: int) -> list[str]:
    ratios = _ratios(config, layers)
    return [_kind(ratio) for ratio in ratios]


def _kind(ratio: int) -> str:
    if ratio == 0:
        return "window"
    return "sparse" if ratio <= FEW else "compressed"


def _selection(config: Config) -> Inputs:
    """What indexers select, and what an entry stands for in layers of both kinds."""
    few, many = _compression(config)
    inputs = indexer(config)
    inputs["side_window"] = config.need("sliding_window")
    inputs |= {"index_compression": few, "compression": many}
    return inputs


def _compression(config: Config) -> tuple[int, int]:
    """Tokens in an entry of sparse and of compressed layers. Raises FlopbookError."""
    if config.raw.get("compress_rates") is not None:
        rates = config.group("compress_rates")
        return (
            rates.need("compressed_sparse_attention"),
            rates.need("heavily_compressed_attention"),
        )
    ratios = {ratio for ratio in config.numbers("compress_ratios") or [] if ratio}
    few, many = ({r for r in ratios if (r <= FEW) == is_few} for is_few in (True, False))
    if len(few) != 1 or len(many) != 1:
        raise config.wrong("compress_ratios are not of one small and one large kind")
    return few.pop(), many.pop()


LAYERS = Layers(kinds=_kinds, selection=_selection)
