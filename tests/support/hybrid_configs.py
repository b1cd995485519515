"""Contents of config.json of architectures with layers of several kinds.

Sizes are the defaults of their configuration classes in Transformers where a comment does not say
otherwise.
"""

from __future__ import annotations

from typing import Any

from tests.support.huggingface_configs import DEEPSEEK, LLAMA, SAME, like

DELTA = {
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
}
QWEN_NEXT: dict[str, Any] = {
    "model_type": "qwen3_next",
    "vocab_size": 151936,
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 48,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    **DELTA,
    "moe_intermediate_size": 512,
    "shared_expert_intermediate_size": 512,
    "num_experts_per_tok": 10,
    "num_experts": 512,
}
QWEN_3_5: dict[str, Any] = {
    "model_type": "qwen3_5",
    "text_config": {
        **{key: size for key, size in QWEN_NEXT.items() if "expert" not in key},
        "model_type": "qwen3_5_text",
        "vocab_size": 248320,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 32,
        "num_key_value_heads": 4,
    },
}
SPARSE = like(
    DEEPSEEK, "deepseek_v32", index_topk=2048, index_n_heads=64, index_head_dim=128, head_dim=64
)
GLM = like(
    SPARSE,
    "glm_moe_dsa",
    hidden_size=6144,
    intermediate_size=12288,
    num_hidden_layers=78,
    num_attention_heads=64,
    num_key_value_heads=64,
    q_lora_rank=2048,
    v_head_dim=256,
    qk_nope_head_dim=192,
    index_n_heads=32,
    vocab_size=154880,
)
ERNIE = like(
    LLAMA,
    "ernie4_5_moe",
    vocab_size=103424,
    hidden_size=2560,
    intermediate_size=12288,
    num_hidden_layers=28,
    num_attention_heads=20,
    num_key_value_heads=4,
    moe_intermediate_size=1536,
    moe_k=6,
    moe_num_experts=64,
    moe_num_shared_experts=2,
    moe_layer_start_index=1,
    tie_word_embeddings=None,
)
JAMBA = like(
    LLAMA,
    "jamba",
    vocab_size=65536,
    num_experts=16,
    num_experts_per_tok=2,
    expert_layer_period=2,
    expert_layer_offset=1,
    attn_layer_period=8,
    attn_layer_offset=4,
    mamba_d_state=16,
    mamba_d_conv=4,
    mamba_expand=2,
    mamba_dt_rank="auto",
)
MAMBA2 = {
    "mamba_n_heads": 128,
    "mamba_d_head": "auto",
    "mamba_n_groups": 1,
    "mamba_d_state": 256,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
}
NEMOTRON = like(
    LLAMA,
    "nemotron_h",
    num_hidden_layers=6,
    hybrid_override_pattern="M-M*ME",
    mamba_num_heads=128,
    mamba_head_dim=64,
    n_groups=8,
    ssm_state_size=128,
    conv_kernel=4,
    n_routed_experts=8,
    n_shared_experts=1,
    moe_intermediate_size=7688,
    moe_shared_expert_intermediate_size=7688,
    num_experts_per_tok=2,
)
# Fields as Moonshot writes them; sizes made up.
KIMI = like(
    LLAMA,
    "kimi_linear",
    num_hidden_layers=8,
    kv_lora_rank=512,
    qk_nope_head_dim=128,
    qk_rope_head_dim=64,
    v_head_dim=128,
    num_experts=256,
    num_experts_per_token=8,
    moe_intermediate_size=1024,
    num_shared_experts=1,
    first_k_dense_replace=1,
    linear_attn_config={
        "num_heads": 32,
        "head_dim": 128,
        "short_conv_kernel_size": 4,
        "full_attn_layers": [4, 8],
    },
)
GEMMA = SAME["gemma3"][0]["text_config"]
LLAMA_4 = SAME["llama4"][0]["text_config"]
BASE = {**LLAMA, "sliding_window": 4096}

# A configuration, its layers in order, and the sizes of their kinds.
KINDS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "gemma2": ({**BASE, "model_type": "gemma2"}, "1 window, 1 full", {"window": 4096}),
    "gemma3_text": (
        {**GEMMA, "sliding_window": 1024},
        "10 x (5 window, 1 full), 2 window",
        {"window": 1024},
    ),
    "gemma3_text, its own period": (
        {**GEMMA, "num_hidden_layers": 8, "sliding_window": 512, "sliding_window_pattern": 4},
        "3 window, 1 full",
        {"window": 512},
    ),
    "gpt_oss": (
        {**SAME["gpt_oss"][0], "sliding_window": 128},
        "1 window, 1 full",
        {"window": 128},
    ),
    "listed": (
        {**BASE, "layer_types": ["full_attention"] * 8 + ["sliding_attention"] * 24},
        "8 full, 24 window",
        {"window": 4096},
    ),
    "mistral": ({**BASE, "model_type": "mistral"}, "1 window", {"window": 4096}),
    "mixtral": (
        {**SAME["mixtral"][0], "sliding_window": 4096},
        "1 window",
        {"window": 4096},
    ),
    "phi3": ({**BASE, "model_type": "phi3", "sliding_window": 2047}, "1 window", {"window": 2047}),
    "qwen2, switched on": (
        {
            **BASE,
            "model_type": "qwen2",
            "use_sliding_window": True,
            "max_window_layers": 28,
        },
        "28 full, 4 window",
        {"window": 4096},
    ),
    "cohere2": ({**BASE, "model_type": "cohere2"}, "3 window, 1 full", {"window": 4096}),
    "olmo3": ({**BASE, "model_type": "olmo3"}, "3 window, 1 full", {"window": 4096}),
    "exaone4": (
        {**BASE, "model_type": "exaone4", "sliding_window_pattern": "LLLG"},
        "3 window, 1 full",
        {"window": 4096},
    ),
    "llama4_text": (
        {**LLAMA_4, "attention_chunk_size": 8192},
        "3 chunk, 1 full",
        {"chunk": 8192},
    ),
    "llama4_text, listed": (
        {**LLAMA_4, "attention_chunk_size": 8192, "no_rope_layers": [1, 0] * 24},
        "1 chunk, 1 full",
        {"chunk": 8192},
    ),
    "qwen3_next": (
        QWEN_NEXT,
        "3 state, 1 full",
        {"state_values": 32 * 128 * 128 + 3 * (2 * 16 * 128 + 32 * 128)},
    ),
    "qwen3_5": (
        QWEN_3_5,
        "3 state, 1 full",
        {"state_values": 32 * 128 * 128 + 3 * (2 * 16 * 128 + 32 * 128)},
    ),
    "qwen3_next, its own interval": (
        {**QWEN_NEXT, "full_attention_interval": 2},
        "1 state, 1 full",
        {},
    ),
    "deepseek_v32": (
        SPARSE,
        "1 sparse",
        {"selected_tokens": 2048, "index_heads": 64, "index_head_dim": 128},
    ),
    "glm_moe_dsa": (GLM, "1 sparse", {"selected_tokens": 2048, "index_heads": 32}),
    "minimax": (
        {
            **SAME["mixtral"][0],
            "model_type": "minimax",
            "num_hidden_layers": 16,
            "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1] * 2,
        },
        "7 state, 1 full",
        {"state_values": 32 * 128 * 128},
    ),
    "jamba": (
        JAMBA,
        "4 state, 1 full, 3 state",
        {"state_values": 8192 * 16 + 3 * 8192},
    ),
    "bamba": (
        {**LLAMA, **MAMBA2, "model_type": "bamba", "attn_layer_indices": [9, 18, 27]},
        "9 state, 1 full, 8 state, 1 full, 8 state, 1 full, 4 state",
        {"state_values": 8192 * 256 + 3 * (8192 + 2 * 256)},
    ),
    "granitemoehybrid": (
        {
            **LLAMA,
            **MAMBA2,
            "model_type": "granitemoehybrid",
            "num_hidden_layers": 4,
            "layer_types": ["mamba", "mamba", "mamba", "attention"],
            "num_local_experts": 8,
            "num_experts_per_tok": 2,
            "shared_intermediate_size": 1024,
        },
        "3 state, 1 full",
        {"state_values": 8192 * 256 + 3 * (8192 + 2 * 256)},
    ),
    "falcon_h1": (
        {**LLAMA, **MAMBA2, "model_type": "falcon_h1", "mamba_d_ssm": 1024},
        "1 state+full",
        {"state_values": 1024 * 256 + 3 * (1024 + 2 * 256), "full_layers": 32},
    ),
    "nemotron_h": (
        NEMOTRON,
        "1 state, 1 none, 1 state, 1 full, 1 state, 1 none",
        {"state_values": 128 * 64 * 128 + 3 * (8192 + 2 * 8 * 128), "full_layers": 1},
    ),
    "kimi_linear": (
        KIMI,
        "3 state, 1 full",
        {"state_values": 32 * 128 * 128 + 3 * 3 * 32 * 128},
    ),
}
# A configuration and the layers that all have full attention.
FULL: dict[str, dict[str, Any]] = {
    "qwen2, switched off": {**BASE, "model_type": "qwen2", "use_sliding_window": False},
    "mistral, null": {**LLAMA, "model_type": "mistral", "sliding_window": None},
    "listed, no window": {**LLAMA, "layer_types": ["full_attention"] * 32},
    "llama4, no chunk": {**LLAMA_4, "attention_chunk_size": None},
    "smollm3": {**LLAMA, "model_type": "smollm3", "no_rope_layers": [1, 1, 1, 0] * 8},
    "seed_oss": {**LLAMA, "model_type": "seed_oss", "attention_bias": True},
    "minimax_m2": {**SAME["mixtral"][0], "model_type": "minimax_m2"},
    "ernie4_5_moe": ERNIE,
}
# Names of checkpoints in the documentation of the classes tell total and active billions.
NAMED = {
    "Qwen3-Next-80B-A3B": (QWEN_NEXT, 79.67, 3.87),
    "Qwen3.5-9B": (QWEN_3_5, 8.95, 8.95),
    "ERNIE-4.5-21B-A3B": (ERNIE, 21.83, 3.35),
    "Jamba-v0.1, 52B with 12B active": (JAMBA, 51.57, 12.11),
}
