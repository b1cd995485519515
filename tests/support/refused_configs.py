"""Contents of config.json that nobody can count, each with the line that says why.

Each file is one of the others with one thing wrong: a value of another type, a size that is not
there, two statements that contradict each other, or a mechanism that its architecture lacks.
"""

from __future__ import annotations

from typing import Any

from tests.support.huggingface_configs import DEEPSEEK, LLAMA, SAME, like
from tests.support.hybrid_configs import (
    ERNIE,
    GEMMA,
    GLM,
    JAMBA,
    KIMI,
    MAMBA2,
    NEMOTRON,
    QWEN_NEXT,
    SPARSE,
)
from tests.support.recent_configs import HUNYUAN, MIMO_FLASH

Refused = dict[str, tuple[dict[str, Any], str]]


def without(base: dict[str, Any], *keys: str) -> dict[str, Any]:
    """A configuration that does not say some things."""
    return {key: value for key, value in base.items() if key not in keys}


def quantised(**settings: Any) -> dict[str, Any]:
    """Llama with a group about its weights."""
    return {**LLAMA, "quantization_config": settings}


SLIDING = ["sliding_attention"] * 32
BAMBA = {**LLAMA, **MAMBA2, "model_type": "bamba", "attn_layer_indices": [9, 18, 27]}
KIMI_LAYERS = KIMI["linear_attn_config"]
LLAMA_4 = SAME["llama4"][0]["text_config"]
MINIMAX = {**SAME["mixtral"][0], "model_type": "minimax"}

PARTS: Refused = {
    "a word for the text": (
        {"model_type": "llava", "text_config": "llama"},
        'text_config is "llama", expected a group of settings',
    ),
    "a word beside the model": (
        {**LLAMA, "text_config": "llama"},
        'text_config is "llama", expected a group of settings',
    ),
    "a list for the text": (
        {"model_type": "llava", "text_config": [LLAMA]},
        "text_config is .*, expected a group of settings",
    ),
    "a word for the language": (
        {"model_type": "internvl_chat", "llm_config": "llama"},
        'llm_config is "llama", expected a group of settings',
    ),
    "a text of no type": (
        {"model_type": "llava", "text_config": without(LLAMA, "model_type")},
        'text_config names no model_type; add it there, such as "llama"',
    ),
    "an empty text": (
        {"model_type": "llava", "text_config": {}},
        "text_config names no model_type; add it there",
    ),
    "a number for the type": (
        {"model_type": "llava", "text_config": {**LLAMA, "model_type": 3}},
        "no model_type; is it the config.json of a model",
    ),
    "a list for the outer type": (
        {"model_type": ["llava"], "text_config": without(LLAMA, "model_type")},
        "text_config names no model_type",
    ),
    "two languages": (
        {"model_type": "x", "text_config": LLAMA, "llm_config": LLAMA},
        "both text_config and llm_config are there; keep one",
    ),
    "two widths": (
        {**LLAMA, "text_config": {**LLAMA, "hidden_size": 8192}},
        "hidden_size is 4096, and 8192 in a group inside; keep one",
    ),
    "an encoder": (
        {**LLAMA, "is_encoder_decoder": True},
        "models with an encoder .* are not read; give the shape as options",
    ),
    "an unknown name": (
        {**LLAMA, "model_type": "t5"},
        "unknown model_type in config 't5'; .*; give the shape as options in place of the file",
    ),
}
SIZES: Refused = {
    "two names of the layers": (
        {**LLAMA, "n_layer": 24},
        "num_hidden_layers is 32, but n_layer is 24; keep one",
    ),
    "two names of the width": (
        {**LLAMA, "d_model": 2048},
        "hidden_size is 4096, but d_model is 2048; keep one",
    ),
    "no context": (
        {**LLAMA, "max_position_embeddings": 0},
        "max_position_embeddings is 0, expected at least 1",
    ),
    "what is missing, and what to do": (
        without(LLAMA, "vocab_size"),
        "no vocab_size, which its architecture needs; add it to the file",
    ),
    "biases of blocks alone": ({**LLAMA, "mlp_bias": True}, "mlp_bias without attention_bias"),
    "a word for a bias": ({**MIMO_FLASH, "attention_bias": "yes"}, "expected true or false"),
    "fewer numbers than layers": (
        {**HUNYUAN, "moe_topk": [8]},
        "moe_topk has 1 numbers, but there are 32 layers",
    ),
}
WINDOWS: Refused = {
    "a listed window of no size": (
        {**LLAMA, "layer_types": SLIDING, "sliding_window": None},
        "no sliding_window, which its architecture needs; add it",
    ),
    "a listed window of zero": (
        {**LLAMA, "layer_types": SLIDING, "sliding_window": 0},
        "no sliding_window, which its architecture needs; add it",
    ),
    "a listed window, switched off": (
        {
            **LLAMA,
            **{"model_type": "qwen2", "layer_types": SLIDING, "sliding_window": 4096},
            "use_sliding_window": False,
        },
        "layers with a window are listed, but use_sliding_window is false",
    ),
    "a window that the class would add": (
        without(GEMMA, "sliding_window"),
        "no sliding_window, which its architecture needs; .* null where all layers see all",
    ),
    "a window that Mistral would add": (
        like(LLAMA, "mistral"),
        "no sliding_window, which its architecture needs",
    ),
    "a window in an architecture without": (
        {**LLAMA, "sliding_window": 4096},
        "sliding_window is 4096, but llama is read without windowed layers",
    ),
    "a chunk in an architecture without": (
        {**LLAMA, "attention_chunk_size": 8192},
        "attention_chunk_size is 8192, but llama is read without chunked layers",
    ),
    "a period of none": (
        {**GEMMA, "sliding_window_pattern": 0},
        "sliding_window_pattern is 0, expected at least 1",
    ),
    "blocks listed as layers": (
        {**LLAMA, "layer_types": ["mlp"] * 32},
        "layer_types lists mlp as a layer, but each layer of llama has a mixer",
    ),
    "more layers share than there are": (
        {**LLAMA, "num_kv_shared_layers": 32},
        "num_kv_shared_layers is 32 of 32 layers, but some layer has to keep the cache",
    ),
    "marks of chunks": (
        {**LLAMA_4, "attention_chunk_size": 8192, "no_rope_layers": [2] * 48},
        "no_rope_layers has marks other than 0 and 1",
    ),
}
FORMATS: Refused = {
    "a word": (
        {**LLAMA, "quantization_config": "fp8"},
        'quantization_config is "fp8", expected a group',
    ),
    "no bits": (quantised(quant_method="gptq"), 'the method "gptq", whose format is not read'),
    "bits of zero": (quantised(quant_method="gptq", bits=0), 'the method "gptq"'),
    "two widths of bitsandbytes": (
        quantised(quant_method="bitsandbytes", load_in_4bit=True, load_in_8bit=True),
        'the method "bitsandbytes", whose format is not read',
    ),
    "no width of bitsandbytes": (
        quantised(quant_method="bitsandbytes"),
        'the method "bitsandbytes", whose format is not read',
    ),
    "two bits of quanto": (quantised(quant_method="quanto", weights="int2"), 'method "quanto"'),
    "groups as a list": (
        quantised(quant_method="compressed-tensors", config_groups=[4]),
        "config_groups is .*, expected a group of settings",
    ),
    "weights of no type": (
        quantised(
            quant_method="compressed-tensors", config_groups={"a": {"weights": {"num_bits": 4}}}
        ),
        'the method "compressed-tensors", whose format is not read',
    ),
    "experts of no format": (
        {**DEEPSEEK, "quantization_config": {"quant_method": "fp8"}, "expert_dtype": "int2"},
        'expert_dtype is "int2", expected fp4',
    ),
}
LATENT: Refused = {
    "no rank of keys": (without(DEEPSEEK, "kv_lora_rank"), "no kv_lora_rank, which its arch"),
    "a rank of zero": ({**DEEPSEEK, "kv_lora_rank": 0}, "kv_lora_rank is 0, expected at least 1"),
    "no plain part": (without(DEEPSEEK, "qk_nope_head_dim"), "no qk_nope_head_dim, which"),
    "no rotated part": (without(DEEPSEEK, "qk_rope_head_dim"), "no qk_rope_head_dim, which"),
    "no values": (without(DEEPSEEK, "v_head_dim"), "no v_head_dim, which its architecture"),
    "in an architecture without": (
        {**LLAMA, "kv_lora_rank": 512},
        "kv_lora_rank is 512, but llama is read without latent attention",
    ),
}
EXPERTS: Refused = {
    "in every second layer": (
        {**ERNIE, "moe_layer_interval": 2},
        "layers with and without experts in turn are not read; give the numbers as options",
    ),
    "in every layer of none": ({**ERNIE, "moe_layer_interval": 0}, "moe_layer_interval is 0, exp"),
    "in an architecture without": (
        {**LLAMA, "num_local_experts": 8, "num_experts_per_tok": 2},
        "num_local_experts is 8, but llama is read without experts",
    ),
    "dense layers only": (
        {**DEEPSEEK, "first_k_dense_replace": 61},
        "all 61 layers are dense, so none has its experts",
    ),
    "a group for a list": (
        {**SAME["qwen3_moe"][0], "mlp_only_layers": {}},
        "mlp_only_layers is {}, expected whole numbers",
    ),
    "a step of zero": (
        {**LLAMA_4, "interleave_moe_layer_step": 0},
        "interleave_moe_layer_step is 0, expected at least 1",
    ),
    "beyond the period": (
        {**JAMBA, "expert_layer_offset": 2},
        "expert_layer_offset is 2, but the layers repeat after 2",
    ),
}
STATES: Refused = {
    "key heads that do not divide": (
        {**QWEN_NEXT, "linear_num_key_heads": 7},
        "linear_num_key_heads 7 does not divide linear_num_value_heads 32",
    ),
    "an interval of zero": (
        {**QWEN_NEXT, "full_attention_interval": 0},
        "full_attention_interval is 0, expected at least 1",
    ),
    "an interval beyond the layers": (
        {**QWEN_NEXT, "full_attention_interval": 99},
        "full_attention_interval is 99, but there are 48 layers",
    ),
    "beyond the period": (
        {**JAMBA, "attn_layer_offset": 8},
        "attn_layer_offset is 8, but the layers repeat after 8",
    ),
    "no word on attention": (
        without(JAMBA, "attn_layer_period"),
        "no layer_types, attn_layer_period or attn_layer_indices",
    ),
    "attention beyond the layers": (
        {**BAMBA, "attn_layer_indices": [9, 32]},
        "attn_layer_indices has 32, but the last of 32 layers is 31",
    ),
    "heads that do not fill the width": (
        {**BAMBA, "mamba_d_head": 63},
        "mamba_n_heads 128 times mamba_d_head 63 is not the inner width 8192",
    ),
    "more blocks than layers": (
        {**NEMOTRON, "num_hidden_layers": 7},
        "its pattern has 6 layers, but num_hidden_layers is 7",
    ),
    "a number for blocks": (
        {**NEMOTRON, "layers_block_type": 7},
        "its layers are 7, expected a list of words",
    ),
    "a full layer beyond": (
        {**KIMI, "linear_attn_config": {**KIMI_LAYERS, "full_attn_layers": [4, 9]}},
        "full_attn_layers and kda_layers are not the layers 1 to 8",
    ),
    "a layer that is both": (
        {**KIMI, "linear_attn_config": {**KIMI_LAYERS, "kda_layers": [1, 2, 3, 4, 5, 6, 7]}},
        "full_attn_layers and kda_layers are not the layers 1 to 8",
    ),
    "marks of seven": ({**MINIMAX, "attn_type_list": [7] * 32}, "attn_type_list has marks other"),
    "in an architecture without": (
        {**LLAMA, "ssm_state_size": 128},
        "ssm_state_size is 128, but llama is read without recurrent layers",
    ),
    "no heads of an indexer": (without(SPARSE, "index_n_heads"), "no index_n_heads, which"),
    "no width of an indexer": (without(SPARSE, "index_head_dim"), "no index_head_dim, which"),
    "an indexer in an architecture without": (
        {**LLAMA, "index_topk": 2048},
        "index_topk is 2048, but llama is read without sparse attention",
    ),
    "nothing to share": (
        {**GLM, "indexer_types": ["shared"] * 78},
        "indexer_types is .*, expected full, then full or shared",
    ),
}
REFUSED: Refused = {
    f"{about}: {name}": case
    for about, cases in (
        ("parts", PARTS),
        ("sizes", SIZES),
        ("windows", WINDOWS),
        ("formats", FORMATS),
        ("latent attention", LATENT),
        ("experts", EXPERTS),
        ("states", STATES),
    )
    for name, case in cases.items()
}
