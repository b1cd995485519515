"""Shapes from config.json.

Known architectures give the counts of their models, everything else one clear line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopbook.architectures.huggingface import (
    MOST_BYTES,
    Config,
    read_config,
    shape_of,
)
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from tests.support.compressed_configs import COMPRESSED
from tests.support.huggingface_configs import DEEPSEEK, LLAMA, SAME, like
from tests.support.recent_configs import RECENT

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a configuration, or any text, to a file."""

    def written(content: Any, name: str = "config.json") -> Path:
        path = tmp_path / name
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


@pytest.mark.parametrize("name", [*SAME, *RECENT, *COMPRESSED])
def test_a_configuration_counts_as_its_model(name: str, write: Write) -> None:
    """The same parts to the last parameter, whether the shape is from the data or the file."""
    config, model = {**SAME, **RECENT, **COMPRESSED}[name]
    found = calculate("params", config=str(write(config)))
    known = calculate("params", model=model)
    assert dict(found) == dict(known)
    assert read_config(write(config)).kind == (
        "moe" if "experts" in found.inputs and found["router"] else "dense"
    )


def test_a_shared_expert_of_its_own_width() -> None:
    """qwen2_moe writes the width of its one shared expert; others write how many there are."""
    config = like(
        LLAMA,
        "qwen2_moe",
        num_experts=60,
        num_experts_per_tok=4,
        moe_intermediate_size=1408,
        shared_expert_intermediate_size=5632,
    )
    shape = shape_of(Config(config, "config.json"))
    assert (shape["shared_experts"], shape["shared_expert_d_ff"], shape["expert_d_ff"]) == (
        1,
        5632,
        1408,
    )
    assert "dense_layers" not in shape and shape["biases"] == "qkv"


def test_the_file_decides_about_shared_embeddings(write: Write) -> None:
    tied = calculate("params", config=str(write({**LLAMA, "tie_word_embeddings": True})))
    assert tied["total"] == calculate("params", model="llama-3-8b")["total"] - 128256 * 4096


def test_a_configuration_stands_wherever_a_model_does(write: Write) -> None:
    path = str(write(DEEPSEEK))
    flop = calculate("training-flops", config=path, tokens=1e12)
    assert flop["flop"] == 6e12 * calculate("params", model="deepseek-v3")["compute"]
    assert "config.json is a mixture of experts: its active parameters count" in flop.notes
    limit = calculate("fsdp-limit", config=path, chip="h100-sxm")
    assert (
        limit["tokens_per_chip"]
        == calculate("fsdp-limit", model="deepseek-v3", chip="h100-sxm")["tokens_per_chip"]
    )


def test_the_answer_names_the_file(write: Write) -> None:
    path = str(write(LLAMA))
    result = calculate("params", config=path)
    assert result.inputs["config"].value == path and "model" not in result.inputs
    assert result.inputs["layers"].origin == "config.json" and not result.inputs["layers"].source
    assert set(result.sources) == set(get_formula("params").sources)


def test_the_content_of_a_file_does_as_well(write: Write) -> None:
    """In Python, where the configuration may be in hand already."""
    for config, _ in SAME.values():
        assert dict(calculate("params", config=config)) == dict(
            calculate("params", config=write(config))
        )
    assert calculate("params", config=LLAMA).inputs["config"].value == "config"
    with pytest.raises(FlopbookError, match="config: no vocab_size"):
        calculate("params", config={**LLAMA, "vocab_size": None})


def test_what_is_typed_goes_before_the_file(write: Write) -> None:
    assert calculate("params", config=str(write(LLAMA)), layers=1)["norms"] == 3 * 4096


WRONG: dict[str, tuple[Any, str]] = {
    "no file type": (
        {"hidden_size": 3},
        "config.json: no model_type; is it the config.json of a model?",
    ),
    "unknown": (like(LLAMA, "lama"), "unknown model_type in config.json 'lama'; nearest: llama"),
    "state space": (
        like(LLAMA, "mamba2"),
        "mamba2 is not read, because of its layers, which all are Mamba-2 and none attention",
    ),
    "unknown type": (like(LLAMA, "mamba9"), "unknown model_type in config.json 'mamba9'"),
    "missing": (like(LLAMA, "llama", hidden_size=None), "config.json: no hidden_size or n_embd"),
    "no width": (like(LLAMA, "llama", intermediate_size=None), "config.json: no intermediate_size"),
    "half": (
        {**LLAMA, "num_hidden_layers": 31.5},
        "num_hidden_layers is 31.5, expected a whole number",
    ),
    "text": ({**LLAMA, "vocab_size": "128256"}, 'vocab_size is "128256", expected a whole number'),
    "negative": ({**LLAMA, "hidden_size": -4096}, "hidden_size is -4096, expected a whole number"),
    "zero": ({**LLAMA, "hidden_size": 0}, "config.json: hidden_size is 0, expected"),
    "true": ({**LLAMA, "hidden_size": True}, "hidden_size is true, expected a whole number"),
    "huge": ({**LLAMA, "hidden_size": 10**30}, "hidden_size is 1000000000000"),
    "list": (
        {**LLAMA, "intermediate_size": [1, 2]},
        r"intermediate_size is \[1, 2\], expected a whole number",
    ),
    "flag": (
        {**LLAMA, "tie_word_embeddings": "no"},
        'tie_word_embeddings is "no", expected true or false',
    ),
    "key heads": (
        {**LLAMA, "num_key_value_heads": 64},
        "config.json: --kv-heads 64 does not divide --heads 32",
    ),
    "odd key heads": (
        {**LLAMA, "num_key_value_heads": 3},
        "config.json: --kv-heads 3 does not divide --heads 32: .*; use 2 or 4",
    ),
    "no key heads": (
        {**LLAMA, "num_key_value_heads": 0},
        "config.json: num_key_value_heads is 0, expected at least 1",
    ),
    "no head width": ({**LLAMA, "head_dim": 0}, "config.json: head_dim is 0, expected at least 1"),
    "head width": (
        {**LLAMA, "num_attention_heads": 31, "num_key_value_heads": 1},
        "config.json: --d-model 4096 is not a mult",
    ),
    "experts": (like(LLAMA, "mixtral", num_local_experts=8), "config.json: no num_experts_per_tok"),
    "no experts": (like(LLAMA, "mixtral"), "config.json: no num_local_experts or num_experts"),
    "no expert width": (
        like(LLAMA, "mixtral", intermediate_size=None),
        "config.json: no intermediate_size",
    ),
    "in turn": (
        {**SAME["qwen3_moe"][0], "decoder_sparse_step": 2},
        "layers with and without experts in turn",
    ),
    "some dense": (
        {**SAME["qwen3_moe"][0], "mlp_only_layers": [3]},
        "layers with and without experts in turn",
    ),
    "no group": (
        like(SAME["dbrx"][0], "dbrx", ffn_config=None),
        "config.json: no group ffn_config",
    ),
    "step too long": (
        {
            "model_type": "x",
            "text_config": {**SAME["llama4"][0]["text_config"], "interleave_moe_layer_step": 99},
        },
        "interleave_moe_layer_step is 99, but there are 48 layers",
    ),
    "list of objects": ([LLAMA], "config.json holds no object"),
    "number": (b"3", "config.json holds no object"),
    "broken": (b'{"model_type": ', "config.json is no JSON: "),
    "empty": (b"", "config.json is no JSON: "),
    "not text": (b"\xff\xfe\x00\x01\x02", "config.json is no JSON: "),
    "deep": (b"[" * 100_000, "config.json is no JSON: "),
    "twice": (
        b'{"model_type": "llama", "vocab_size": 9, "vocab_size": 8}',
        "config.json is no JSON: 'vocab_size' stands there twice; keep one",
    ),
    "long number": (b'{"model_type": ' + b"1" * 5000 + b"}", "config.json "),
    "large": (b'"' + b"x" * MOST_BYTES + b'"', "config.json is larger than 4 MiB"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_file_is_one_clear_line(name: str, write: Write) -> None:
    """An error of ours with the file's name; tests of the command see it printed alone."""
    content, message = WRONG[name]
    with pytest.raises(FlopbookError, match=message):
        read_config(write(content))


def test_no_file_is_said(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path, Path("/dev/zero"), Path("a\0b")):
        with pytest.raises(FlopbookError, match=r"^no file '"):
            read_config(path)


def test_a_name_cannot_drive_the_terminal(write: Write) -> None:
    with pytest.raises(FlopbookError) as caught:
        read_config(write(b"[", "a\x1b[31mb.json"))
    assert "\x1b" not in str(caught.value)
    with pytest.raises(UnknownName) as unknown:
        read_config(write({"model_type": "\x1b[31m"}))
    assert "\x1b" not in str(unknown.value)


def test_a_model_and_a_file_are_too_much(write: Write) -> None:
    with pytest.raises(FlopbookError, match="give --model or --config, not both"):
        calculate("params", model="llama-3-8b", config=str(write(LLAMA)))


def test_calculators_without_a_model_take_no_file() -> None:
    with pytest.raises(UnknownName, match="option of min-batch 'config'"):
        calculate("min-batch", chip="h100-sxm", config="config.json")


def test_a_file_names_no_tokens(write: Write) -> None:
    with pytest.raises(FlopbookError, match=r"model config\.json has no published tokens"):
        calculate("training-flops", config=str(write(LLAMA)))


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**12),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(SAME)),
    changed=st.dictionaries(st.sampled_from(sorted(DEEPSEEK)), values, max_size=5),
)
def test_garbage_is_refused_or_counted(name: str, changed: dict[str, Any], write: Write) -> None:
    """Whatever stands in a file, the answer is a count or an error of ours."""
    path = write(json.dumps({**SAME[name][0], **changed}))
    try:
        assert calculate("params", config=str(path))["total"] > 0
    except FlopbookError as error:
        assert str(error)


def test_experts_everywhere_with_norms_of_queries() -> None:
    """OLMoE-1B-7B: 6.92 billion in all and 1.28 for a token (muennighoff2024olmoe, table 1)."""
    config = {
        "model_type": "olmoe",
        "hidden_size": 2048,
        "intermediate_size": 1024,
        "num_hidden_layers": 16,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "num_experts": 64,
        "num_experts_per_tok": 8,
        "vocab_size": 50304,
        "tie_word_embeddings": False,
    }
    counted = calculate("params", config=config)
    expert = 3 * 2048 * 1024
    layer = 4 * 2048**2 + 64 * (expert + 2048) + 2 * 2048 + 2 * 2048
    assert counted["total"] == 16 * layer + 2048 + 2 * 50304 * 2048
    assert counted["total"] - counted["active"] == 16 * 56 * expert
