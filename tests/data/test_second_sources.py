"""Shapes of models held to a second source, read apart from the one that their files name."""

from __future__ import annotations

from collections import Counter

import pytest

from flopbook.architectures.layers import kinds
from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import model_ids

# Layers, width, heads, KV heads, head dimension, width of a block or an expert, window or chunk,
# and layers that have it: configurations of LitGPT (lightning2026litgpt), which copies those of the
# published weights, and configuration files (nvidia2026modelconfigs) for the last four.
GROUPED = {
    "falcon-7b": (32, 4544, 71, 1, 64, 18176, 0, 0),
    "falcon-40b": (60, 8192, 128, 8, 64, 32768, 0, 0),
    "falcon-180b": (80, 14848, 232, 8, 64, 59392, 0, 0),
    "gemma-2-9b": (42, 3584, 16, 8, 256, 14336, 4096, 21),
    "gemma-2-27b": (46, 4608, 32, 16, 128, 36864, 4096, 23),
    "gemma-7b": (28, 3072, 16, 16, 256, 24576, 0, 0),
    "gemma-3-12b": (48, 3840, 16, 8, 256, 15360, 1024, 40),
    "gemma-3-27b": (62, 5376, 32, 16, 128, 21504, 1024, 52),
    "llama-2-7b": (32, 4096, 32, 32, 128, 11008, 0, 0),
    "llama-2-13b": (40, 5120, 40, 40, 128, 13824, 0, 0),
    "llama-2-70b": (80, 8192, 64, 8, 128, 28672, 0, 0),
    "llama-3-8b": (32, 4096, 32, 8, 128, 14336, 0, 0),
    "llama-3-70b": (80, 8192, 64, 8, 128, 28672, 0, 0),
    "llama-3-405b": (126, 16384, 128, 8, 128, 53248, 0, 0),
    "llama-3.2-1b": (16, 2048, 32, 8, 64, 8192, 0, 0),
    "llama-3.2-3b": (28, 3072, 24, 8, 128, 8192, 0, 0),
    "mistral-7b": (32, 4096, 32, 8, 128, 14336, 4096, 0),
    "mixtral-8x7b": (32, 4096, 32, 8, 128, 14336, 0, 0),
    "mixtral-8x22b": (56, 6144, 48, 8, 128, 16384, 0, 0),
    "mistral-large-2-123b": (88, 12288, 96, 8, 128, 28672, 0, 0),
    "olmo-7b": (32, 4096, 32, 32, 128, 11008, 0, 0),
    "olmo-2-7b": (32, 4096, 32, 32, 128, 11008, 0, 0),
    "olmo-2-13b": (40, 5120, 40, 40, 128, 13824, 0, 0),
    "phi-3-mini": (32, 3072, 32, 32, 96, 8192, 2048, 0),
    "phi-4": (40, 5120, 40, 10, 128, 17920, 0, 0),
    "pythia-1.4b": (24, 2048, 16, 16, 128, 8192, 0, 0),
    "pythia-6.9b": (32, 4096, 32, 32, 128, 16384, 0, 0),
    "pythia-12b": (36, 5120, 40, 40, 128, 20480, 0, 0),
    "qwen-2.5-7b": (28, 3584, 28, 4, 128, 18944, 0, 0),
    "qwen-2.5-32b": (64, 5120, 40, 8, 128, 27648, 0, 0),
    "qwen-2.5-72b": (80, 8192, 64, 8, 128, 29568, 0, 0),
    "qwen-3-8b": (36, 4096, 32, 8, 128, 12288, 0, 0),
    "qwen-3-32b": (64, 5120, 64, 8, 128, 25600, 0, 0),
    "qwen-3-30b-a3b": (48, 2048, 32, 4, 128, 768, 0, 0),
    "qwen-3-235b-a22b": (94, 4096, 64, 4, 128, 1536, 0, 0),
    "llama-4-scout": (48, 5120, 40, 8, 128, 8192, 8192, 36),
    "llama-4-maverick": (48, 5120, 40, 8, 128, 8192, 8192, 36),
    "gpt-oss-20b": (24, 2880, 64, 8, 64, 2880, 128, 12),
    "gpt-oss-120b": (36, 2880, 64, 8, 64, 2880, 128, 18),
}
# Layers, width, heads, width of an expert, dense layers, and the five widths of latent attention:
# configuration files (nvidia2026modelconfigs); of DeepSeek-V2 that of MaxText (google2026maxtext).
LATENT = {
    "deepseek-v3": (61, 7168, 128, 2048, 3, 1536, 512, 128, 64, 128),
    "deepseek-r1": (61, 7168, 128, 2048, 3, 1536, 512, 128, 64, 128),
    "deepseek-v2": (60, 5120, 128, 1536, 1, 1536, 512, 128, 64, 128),
    "kimi-k2": (61, 7168, 64, 2048, 1, 1536, 512, 128, 64, 128),
}
# Layers, width, heads and width of a block of older models. GPT-3, GPT-NeoX: configs/ of
# EleutherAI/gpt-neox, which gives no width of a block (four times the model). GPT-2, GPT-J, OPT,
# MT-NLG and Megatron 530B: llm_analysis/model_configs of cli99/llm-analysis. Chinchilla, Gopher,
# PaLM and Megatron 1T: models/ of calculon-ai/calculon. Llama 1: EasyLM/models/llama of
# young-geng/EasyLM. BLOOM: train/tr11-176B-ml of bigscience-workshop/bigscience. Megatron 18B and
# 39B: config/validation of VIA-Research/vTrain. OLMo 2 32B: nn/transformer of allenai/OLMo-core.
OLDER = {
    "bloom-176b": (70, 14336, 112, 57344),
    "chinchilla-70b": (80, 8192, 64, 32768),
    "gopher-280b": (80, 16384, 128, 65536),
    "gpt-2-small": (12, 768, 12, 3072),
    "gpt-2-medium": (24, 1024, 16, 4096),
    "gpt-2-large": (36, 1280, 20, 5120),
    "gpt-2-xl": (48, 1600, 25, 6400),
    "gpt-3-125m": (12, 768, 12, 3072),
    "gpt-3-760m": (24, 1536, 16, 6144),
    "gpt-3-1.3b": (24, 2048, 16, 8192),
    "gpt-3-2.7b": (32, 2560, 32, 10240),
    "gpt-3-6.7b": (32, 4096, 32, 16384),
    "gpt-3-13b": (40, 5120, 40, 20480),
    "gpt-3-175b": (96, 12288, 96, 49152),
    "gpt-j-6b": (28, 4096, 16, 16384),
    "gpt-neox-20b": (44, 6144, 64, 24576),
    "llama-1-7b": (32, 4096, 32, 11008),
    "llama-1-13b": (40, 5120, 40, 13824),
    "llama-1-33b": (60, 6656, 52, 17920),
    "llama-1-65b": (80, 8192, 64, 22016),
    "megatron-18b": (40, 6144, 48, 24576),
    "megatron-39b": (48, 8192, 64, 32768),
    "megatron-530b": (105, 20480, 128, 81920),
    "megatron-1t": (128, 25600, 160, 102400),
    "mt-nlg-530b": (105, 20480, 128, 81920),
    "olmo-2-32b": (64, 5120, 40, 27648),
    "opt-6.7b": (32, 4096, 32, 16384),
    "opt-66b": (64, 9216, 72, 36864),
    "opt-175b": (96, 12288, 96, 49152),
    "palm-540b": (118, 18432, 48, 73728),
}
LATENT_FIELDS = (
    *("layers", "d_model", "heads", "expert_d_ff", "dense_layers", "q_lora_rank", "kv_lora_rank"),
    *("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
)
# LitGPT runs these without the window of their files: Mistral 7B and Phi-3 mini.
WITHOUT_WINDOW = ("mistral-7b", "phi-3-mini")


def limited(one: Shape) -> tuple[int, int]:
    """The window or chunk of a model, and how many layers have it."""
    counts = Counter(kinds(one) or ())
    size = one.size("window") or one.size("chunk") or 0
    return int(size), counts["window"] + counts["chunk"]


@pytest.mark.parametrize("name", GROUPED)
def test_sizes_and_windows_are_those_of_a_second_source(name: str) -> None:
    model_shape = shape(name)
    heads = model_shape.size("heads")
    sizes = (
        *(model_shape.size(field) for field in ("layers", "d_model", "heads")),
        model_shape.size("kv_heads") or heads,
        model_shape.size("head_dim") or model_shape.size("d_model") / heads,
        model_shape.size("expert_d_ff") or model_shape.size("d_ff"),
    )
    assert sizes == GROUPED[name][:6]
    if name not in WITHOUT_WINDOW:
        assert limited(model_shape) == GROUPED[name][6:]


@pytest.mark.parametrize("name", LATENT)
def test_latent_attention_is_that_of_a_second_source(name: str) -> None:
    model_shape = shape(name)
    assert tuple(model_shape.size(field) for field in LATENT_FIELDS) == LATENT[name]


def test_older_shapes_are_those_of_a_second_source() -> None:
    """Papers against code that runs or times the same models: no size differs."""
    fields = ("layers", "d_model", "heads", "d_ff")
    read = {name: tuple(shape(name).size(field) for field in fields) for name in OLDER}
    assert read == OLDER


def test_models_are_there() -> None:
    assert set(GROUPED) | set(LATENT) | set(OLDER) <= set(model_ids())
