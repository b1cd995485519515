"""Names of models as people write them."""

from __future__ import annotations

import pytest

from flopbook.data.library import library, model
from flopbook.errors import UnknownName

WRITTEN = {
    "qwen3-235b": "qwen-3-235b-a22b",
    "Qwen/Qwen3-32B": "qwen-3-32b",
    "qwen3-next-80b": "qwen-3-next-80b-a3b",
    "Qwen3-235B-A22B-Instruct-2507": "qwen-3-235b-a22b",
    "meta-llama/Llama-3.1-8B-Instruct": "llama-3-8b",
    "llama3.1-8b": "llama-3-8b",
    "mistralai/Mistral-7B-v0.1": "mistral-7b",
    "openai/gpt-oss-120b": "gpt-oss-120b",
    "kimi-k2-thinking": "kimi-k2",
    "deepseek-ai/DeepSeek-V3": "deepseek-v3",
    "gemma-4-26b": "gemma-4-26b-a4b",
    "google/gemma-3-27b-it": "gemma-3-27b",
    "gpt2-xl": "gpt-2-xl",
    "ernie-4.5-21b": "ernie-4.5-21b-a3b",
    "nvidia/DeepSeek-R1-FP4": "deepseek-r1",
    "Llama 3 70B": "llama-3-70b",
}


@pytest.mark.parametrize("written", WRITTEN)
def test_a_name_as_people_write_it(written: str) -> None:
    assert model(written).id == WRITTEN[written]


def test_every_model_answers_to_its_own_name() -> None:
    """No id or alias means another model when it is read loosely."""
    lib = library()
    for model_id, aliases in lib.model_names.aliases.items():
        for name in (model_id, *aliases):
            assert lib.model_names.meant(name) in (model_id, None)
            assert lib.model(name).id == model_id


@pytest.mark.parametrize("name", ["", " ", "/", "-instruct", "base", "7b", "qwen3", "a22b"])
def test_what_means_none_or_several_is_refused(name: str) -> None:
    with pytest.raises(UnknownName, match="unknown model"):
        model(name)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("olmo-3", ("olmo-3-32b", "olmo-3-7b")),
        ("qwen3.5", ("qwen3.5-122b-a10b", "qwen3.5-27b")),
        ("smollm3", ("smollm3-3b",)),
        ("hunyuan", ("hunyuan-a13b",)),
    ],
)
def test_models_that_begin_so_are_offered_first(name: str, near: tuple[str, ...]) -> None:
    with pytest.raises(UnknownName) as caught:
        model(name)
    assert caught.value.near[: len(near)] == near
