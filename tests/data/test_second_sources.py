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
# configuration files (nvidia2026modelconfigs).
LATENT = {
    "deepseek-v3": (61, 7168, 128, 2048, 3, 1536, 512, 128, 64, 128),
    "deepseek-r1": (61, 7168, 128, 2048, 3, 1536, 512, 128, 64, 128),
    "kimi-k2": (61, 7168, 64, 2048, 1, 1536, 512, 128, 64, 128),
}
LATENT_FIELDS = (
    *("layers", "d_model", "heads", "expert_d_ff", "dense_layers", "q_lora_rank", "kv_lora_rank"),
    *("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
)
# LitGPT runs these without the window of their files: Mistral 7B and Phi-3 mini.
WITHOUT_WINDOW = ("mistral-7b", "phi-3-mini")


def limited(one: Shape) -> tuple[int, int]:
    """The window or chunk of a model, and how many layers have it."""
    found = Counter(kinds(one) or ())
    size = one.size("window") or one.size("chunk") or 0
    return int(size), found["window"] + found["chunk"]


@pytest.mark.parametrize("name", GROUPED)
def test_sizes_and_windows_are_those_of_a_second_source(name: str) -> None:
    one = shape(name)
    heads = one.size("heads")
    sizes = (
        *(one.size(field) for field in ("layers", "d_model", "heads")),
        one.size("kv_heads") or heads,
        one.size("head_dim") or one.size("d_model") / heads,
        one.size("expert_d_ff") or one.size("d_ff"),
    )
    assert sizes == GROUPED[name][:6]
    if name not in WITHOUT_WINDOW:
        assert limited(one) == GROUPED[name][6:]


@pytest.mark.parametrize("name", LATENT)
def test_latent_attention_is_that_of_a_second_source(name: str) -> None:
    one = shape(name)
    assert tuple(one.size(field) for field in LATENT_FIELDS) == LATENT[name]


def test_models_are_there() -> None:
    assert set(GROUPED) | set(LATENT) <= set(model_ids())
