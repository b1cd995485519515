"""Configurations as they are published: models that see, encoders, and counts that are printed."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.architectures.config import Config
from flopbook.architectures.huggingface import read_config, shape_of
from flopbook.errors import FlopbookError

QWEN_7B: dict[str, Any] = {
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152064,
    "tie_word_embeddings": False,
}
# Qwen2.5: 7.62 billion in all and 6.53 billion without the tables, biases on q, k and v.
TOTAL = 7_615_616_512


def counted(**config: Any) -> float:
    """The parameters that a file describes."""
    claims = {claim.field: claim.value for claim in read_config(config).claims}
    return float(str(claims["params"]))


@pytest.mark.parametrize("name", ["qwen2_vl", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_vl_text"])
def test_a_model_that_sees_has_the_language_of_qwen2(name: str) -> None:
    """The classes Qwen2VLAttention and Qwen2_5_VLAttention of transformers: biases on q, k, v."""
    sees = {"depth": 32, "hidden_size": 1280, "model_type": name}
    assert counted(model_type="qwen2", **QWEN_7B) == TOTAL
    assert counted(model_type=name, **QWEN_7B, vision_config=sees) == TOTAL


@pytest.mark.parametrize("whole", ["qwen2_vl", "qwen2_5_vl"])
def test_its_language_may_stand_in_a_group(whole: str) -> None:
    """As newer releases write the same file."""
    inner = {**QWEN_7B, "model_type": f"{whole}_text"}
    assert counted(model_type=whole, text_config=inner, vision_config={"depth": 32}) == TOTAL
    assert counted(model_type=whole, text_config=inner, **QWEN_7B) == TOTAL


def test_a_file_that_says_a_size_twice_says_the_same() -> None:
    inner = {**QWEN_7B, "model_type": "qwen2_5_vl_text", "hidden_size": 2048}
    with pytest.raises(FlopbookError, match="hidden_size is 3584, and 2048 in a group inside"):
        counted(model_type="qwen2_5_vl", text_config=inner, **QWEN_7B)


@pytest.mark.parametrize("name", ["t5", "whisper", "bart", "llama"])
def test_an_encoder_is_told_before_an_unknown_name(name: str) -> None:
    """The file says so itself; names that look alike would be no help."""
    config = Config({"model_type": name, "is_encoder_decoder": True, "d_model": 512}, "config")
    with pytest.raises(FlopbookError, match="models with an encoder") as refused:
        shape_of(config)
    assert "nearest" not in str(refused.value)
