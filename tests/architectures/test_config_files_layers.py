"""Layers that a Hugging Face config describes: windows, chunks, states, sparse attention."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.architectures.huggingface import ARCHITECTURES, read_config
from flopbook.architectures.shape import Shape
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from tests.support.compressed_configs import COMPRESSED_KINDS, WRONG_COMPRESSED
from tests.support.huggingface_configs import LLAMA, SAME
from tests.support.hybrid_configs import (
    FULL,
    GEMMA,
    GLM,
    JAMBA,
    KIMI,
    KINDS,
    MAMBA2,
    NAMED,
    NEMOTRON,
    QWEN_NEXT,
    SPARSE,
)
from tests.support.recent_configs import (
    RECENT,
    RECENT_FULL,
    RECENT_KINDS,
    RECENT_NAMED,
    WRONG_RECENT,
)


def types(config: dict[str, Any]) -> str:
    language = config.get("text_config", config)
    return str(language["model_type"])


ALL_KINDS = {**KINDS, **RECENT_KINDS, **COMPRESSED_KINDS}
ALL_FULL = {**FULL, **RECENT_FULL}
ALL_NAMED = {**NAMED, **RECENT_NAMED}


@pytest.mark.parametrize("name", ALL_KINDS)
def test_the_file_says_what_each_layer_is(name: str) -> None:
    config, pattern, sizes = ALL_KINDS[name]
    shape = Shape(read_config(config))
    assert shape.size("attention_pattern") == pattern
    assert {field: shape.pick(field).value for field in sizes} == sizes
    calculate("kv-cache", config=config, seq=131072)
    calculate("training-flops", config=config, seq=8192, tokens="1T")


@pytest.mark.parametrize("name", ALL_FULL)
def test_full_attention_needs_no_pattern(name: str) -> None:
    shape = Shape(read_config(ALL_FULL[name]))
    assert shape.claim("attention_pattern") is None and not shape.records("window_layers")


def test_every_architecture_is_tested() -> None:
    tested = {types(config) for config, _, _ in ALL_KINDS.values()}
    tested |= set(map(types, ALL_FULL.values()))
    tested |= {types(config) for config, _ in (*SAME.values(), *RECENT.values())}
    without = {"qwen2_moe", "cohere", "minimax_text_01", "olmoe"}
    # Of qwen2 but for their names: tests/architectures/test_files_people_have.py.
    without |= {"qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"}
    assert set(ARCHITECTURES) - tested == without


@pytest.mark.parametrize("name", ALL_NAMED)
def test_totals_are_those_in_the_names(name: str) -> None:
    config, total, active = ALL_NAMED[name]
    out = calculate("params", config=config)
    assert out["total"] / 1e9 == pytest.approx(total, abs=0.01)
    assert out["active"] / 1e9 == pytest.approx(active, abs=0.01)


@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("gemma-3-27b", {**GEMMA, "sliding_window": 1024}),
        ("gpt-oss-120b", {**SAME["gpt_oss"][0], "sliding_window": 128}),
        ("mistral-7b", {**SAME["mistral"][0], "sliding_window": 4096}),
    ],
)
def test_a_file_gives_the_cache_of_its_model(model: str, config: dict[str, Any]) -> None:
    of_file, of_model = (
        calculate("kv-cache", **given, seq=131072)
        for given in ({"config": config}, {"model": model})
    )
    assert dict(of_file) == dict(of_model)


def test_gemma_3_from_its_file_keeps_eleven_gigabytes() -> None:
    out = calculate("kv-cache", config={**GEMMA, "sliding_window": 1024}, seq=131072)
    assert round(out["bytes"] / 1e9, 1) == 11.2


def test_sparse_attention_keeps_an_index_key_for_each_token() -> None:
    """DeepSeek-V3.2: 512 + 64 + 128 values of a token in each of 61 layers."""
    out = calculate("kv-cache", config=SPARSE, seq=1000)
    assert out["bytes"] == 61 * (512 + 64 + 128) * 1000 * 2
    plain = calculate("params", config=SPARSE)["total"]
    dense = calculate("params", model="deepseek-v3")["total"]
    indexer = 128 * (64 * 1536 + 7168 + 2) + 7168 * 64
    assert plain - dense == 61 * indexer
    assert calculate("params", config=GLM)["attention"] > 0


def test_blocks_of_nemotron_are_counted_one_by_one() -> None:
    """Three Mamba-2 layers, one of attention, one dense block, one of experts, one norm each."""
    out = calculate("params", config=NEMOTRON)
    width, inner = 4096, 128 * 64
    mixer = width * (2 * inner + 2 * 8 * 128 + 128) + inner * width
    small = (inner + 2 * 8 * 128) * 5 + 3 * 128 + inner
    assert out["states"] == 3 * (mixer + small)
    assert out["attention"] == 2 * width * width + 2 * width * 1024
    assert out["ffn"] == 2 * width * 14336 + 9 * 2 * width * 7688
    assert out["router"] == 8 * width and out["norms"] == 7 * width


def test_kimi_has_latent_attention_in_a_quarter_of_its_layers() -> None:
    out = calculate("kv-cache", config=KIMI, seq=1000)
    states = 6 * (32 * 128 * 128 + 9 * 32 * 128) * 4
    assert out["bytes"] == 2 * (512 + 64) * 1000 * 2 + states
    assert calculate("params", config=KIMI).inputs["dense_layers"].value == 1


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "mixer": (
        {**LLAMA, "layer_types": ["full_attention"] * 31 + ["rwkv"]},
        'layer_types has the mixer "rwkv", which is not read; give the layers as options',
    ),
    "number of layers": (
        {**LLAMA, "layer_types": ["full_attention"] * 31},
        "layer_types has 31 layers, but there are 32",
    ),
    "no list": ({**LLAMA, "layer_types": "full"}, 'layer_types is "full", expected a list'),
    "no window": (
        {**LLAMA, "layer_types": ["sliding_attention"] * 32},
        "no sliding_window, which its architecture needs",
    ),
    "no chunk": (
        {**LLAMA, "layer_types": ["chunked_attention"] * 32},
        "no attention_chunk_size, which its architecture needs",
    ),
    "unknown state": (
        {**LLAMA, "layer_types": ["linear_attention"] * 32},
        "an architecture whose state is not known; give --state-layers and --state-values",
    ),
    "no state": (
        {**QWEN_NEXT, "linear_num_value_heads": None},
        "no linear_num_value_heads, which its architecture needs",
    ),
    "no selection": ({**SPARSE, "index_topk": None}, "no index_topk"),
    "letters": (
        {**NEMOTRON, "hybrid_override_pattern": "MX"},
        'hybrid_override_pattern is "MX", expected letters of',
    ),
    "no letters": ({**NEMOTRON, "hybrid_override_pattern": None}, "expected letters of"),
    "half a window": (
        {**LLAMA, "model_type": "mistral", "sliding_window": 4096.5},
        "sliding_window is 4096.5, expected a whole number",
    ),
    "no numbers": (
        {**JAMBA, "model_type": "bamba", **MAMBA2, "attn_layer_period": None}
        | {"attn_layer_indices": ["a"]},
        'attn_layer_indices is \\["a"\\], expected whole numbers',
    ),
    "no full layers": (
        {**KIMI, "linear_attn_config": {"num_heads": 4}},
        "no full_attn_layers, which its architecture needs",
    ),
    "too many layers": ({**LLAMA, "num_hidden_layers": 10**8}, "at most 10,000 are read"),
}


ALL_WRONG = {**WRONG, **WRONG_RECENT, **WRONG_COMPRESSED}


@pytest.mark.parametrize("name", ALL_WRONG)
def test_what_cannot_be_read_is_one_line(name: str) -> None:
    config, message = ALL_WRONG[name]
    with pytest.raises(FlopbookError, match=message) as caught:
        read_config(config)
    assert "\n" not in str(caught.value)


def compressed(**weights: Any) -> dict[str, Any]:
    """One group of compressed tensors."""
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": {"weights": weights}},
    }


QUANTISED: list[tuple[dict[str, Any], str, float]] = [
    ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", 1),
    ({"quant_method": "mxfp4"}, "mxfp4", 4.25 / 8),
    ({"quant_method": "gptq", "bits": 8}, "int8", 1),
    ({"quant_method": "awq", "bits": 4}, "int4", 0.5),
    ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4", 0.5),
    ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8", 1),
    ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4", 4.5 / 8),
    ({"quant_algo": "FP8", "producer": {"name": "modelopt"}}, "fp8", 1),
    (compressed(num_bits=8, type="float"), "fp8", 1),
    (compressed(num_bits=4, type="float", group_size=16), "nvfp4", 4.5 / 8),
    (compressed(num_bits=4, type="int"), "int4", 0.5),
]


@pytest.mark.parametrize(("settings", "dtype", "width"), QUANTISED)
def test_a_quantised_checkpoint_is_served_in_its_format(
    settings: dict[str, Any], dtype: str, width: float
) -> None:
    """Its weights have the width of the file, its cache that of bf16; what is typed goes before."""
    config = {**LLAMA, "quantization_config": settings}
    chip = {"peak": 1e15, "bandwidth": 3e12, "memory": 80e9}
    served = calculate("decode", config=config, seq=1024, **chip)
    assert served.inputs["bytes_per_param"].value == pytest.approx(width)
    assert served.inputs["weight_dtype"].value == dtype
    assert served.inputs["bytes_per_kv"].value == 2
    typed = calculate("decode", config=config, seq=1024, dtype="bf16", **chip)
    assert typed.inputs["bytes_per_param"].value == 2
    assert calculate("memory", config=config, seq=1024).inputs["bytes_per_param"].value == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"quant_method": "magic"},
        {},
        {"quant_method": "gptq", "bits": 3},
        compressed(num_bits=4, type="float", group_size=5),
    ],
)
def test_an_unknown_quantisation_is_one_line(settings: dict[str, Any]) -> None:
    with pytest.raises(FlopbookError, match=r"quantization_config has the method .* give --weight"):
        read_config({**LLAMA, "quantization_config": settings})
