"""Contents of config.json of models whose layers read compressed tokens or share a selection.

Sizes are those of the published files, as their sources in the data say.
"""

from __future__ import annotations

from typing import Any

from tests.support.huggingface_configs import like
from tests.support.hybrid_configs import GLM

DEEPSEEK_V4 = {
    "model_type": "deepseek_v4",
    "num_hidden_layers": 43,
    "hidden_size": 4096,
    "num_attention_heads": 64,
    "num_key_value_heads": 1,
    "head_dim": 512,
    "qk_rope_head_dim": 64,
    "q_lora_rank": 1024,
    "o_lora_rank": 1024,
    "o_groups": 8,
    "hc_mult": 4,
    "compress_ratios": [0, 0, *[4, 128] * 20, 4, 0],
    "sliding_window": 128,
    "index_topk": 512,
    "index_n_heads": 64,
    "index_head_dim": 128,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 6,
    "moe_intermediate_size": 2048,
    "vocab_size": 129280,
    "max_position_embeddings": 1048576,
    "tie_word_embeddings": False,
    "expert_dtype": "fp4",
    "quantization_config": {"quant_method": "fp8", "fmt": "e4m3"},
}
# The same as Transformers writes it.
DEEPSEEK_V4_LISTED = {
    **{key: value for key, value in DEEPSEEK_V4.items() if key != "compress_ratios"},
    "layer_types": [
        *["sliding_attention"] * 2,
        *["compressed_sparse_attention", "heavily_compressed_attention"] * 20,
        "compressed_sparse_attention",
    ],
    "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 128},
}
GLM_SHARED = like(
    GLM,
    "glm_moe_dsa",
    index_n_heads=32,
    indexer_types=[*["full"] * 3, *[*["shared"] * 3, "full"] * 18, *["shared"] * 3],
)
# A configuration, and the model of the data that it describes.
COMPRESSED: dict[str, tuple[dict[str, Any], str]] = {
    "deepseek_v4": (DEEPSEEK_V4, "deepseek-v4-flash"),
    "deepseek_v4, listed": (DEEPSEEK_V4_LISTED, "deepseek-v4-flash"),
    "glm_moe_dsa, shared": (GLM_SHARED, "glm-5.2"),
}
_V4_SIZES = {
    **{"window": 128, "side_window": 128, "selected_tokens": 512, "index_heads": 64},
    **{"index_compression": 4, "compression": 128, "residual_streams": 4},
}
# What each layer of a configuration is.
COMPRESSED_KINDS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    name: (config, "2 window, " + "1 sparse, 1 compressed, " * 20 + "1 sparse", _V4_SIZES)
    for name, (config, model) in COMPRESSED.items()
    if model == "deepseek-v4-flash"
}
COMPRESSED_KINDS["glm_moe_dsa, shared"] = (
    GLM_SHARED,
    "3 sparse, " + "3 sparse-reuse, 1 sparse, " * 18 + "3 sparse-reuse",
    {"selected_tokens": 2048, "index_heads": 32},
)
WRONG_COMPRESSED: dict[str, tuple[dict[str, Any], str]] = {
    "fewer ratios than layers": (
        {**DEEPSEEK_V4, "compress_ratios": [0, 4]},
        "no compress_ratios of 43 layers, which its architecture needs",
    ),
    "three ratios": (
        {**DEEPSEEK_V4, "compress_ratios": [4, 128, 64, *[0] * 40]},
        "compress_ratios are not of one small and one large kind",
    ),
    "an indexer of no kind": (
        {**GLM_SHARED, "indexer_types": ["full", "none"]},
        "expected full, then full or shared",
    ),
}
