"""Configurations of one or two layers, where a number that is off by one shows."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.architectures.config import Config
from flopbook.architectures.huggingface import shape_of
from flopbook.architectures.patterns import written
from flopbook.errors import FlopbookError
from tests.support.huggingface_configs import LLAMA, like
from tests.support.hybrid_configs import SPARSE


def read(config: dict[str, Any]) -> dict[str, Any]:
    return dict(shape_of(Config(config, "config")))


def test_a_model_of_one_layer() -> None:
    found = read({**LLAMA, "num_hidden_layers": 1})
    assert found["layers"] == 1 and "shared_kv_layers" not in found


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (["full", "full", "full"], "1 sparse"),
        (["full", "shared", "shared"], "1 sparse, 2 sparse-reuse"),
        (["full", "shared", "full"], "1 sparse, 1 sparse-reuse, 1 sparse"),
    ],
)
def test_indexers_that_are_shared(words: list[str], pattern: str) -> None:
    config = {**SPARSE, "num_hidden_layers": 3, "first_k_dense_replace": 1}
    assert read({**config, "indexer_types": words})["attention_pattern"] == pattern


@pytest.mark.parametrize(
    "words", [["shared", "full", "full"], ["full", "half", "full"], [], "full"]
)
def test_indexers_that_cannot_be(words: Any) -> None:
    config = {**SPARSE, "num_hidden_layers": 3, "first_k_dense_replace": 1}
    with pytest.raises(FlopbookError, match="expected full, then full or shared"):
        read({**config, "indexer_types": words})


LATE = like(LLAMA, "qwen2", num_hidden_layers=4, sliding_window=64, use_sliding_window=True)


@pytest.mark.parametrize(
    ("first", "pattern"), [(None, "1 window"), (0, "1 window"), (1, "1 full, 3 window"), (4, None)]
)
def test_windows_from_some_layer_on(first: int | None, pattern: str | None) -> None:
    assert read({**LATE, "max_window_layers": first}).get("attention_pattern") == pattern
    unused = {**LATE, "max_window_layers": first, "use_sliding_window": False}
    assert "attention_pattern" not in read(unused)


@pytest.mark.parametrize("value", [-1, 10**9 + 1, True, 2.0, "3"])
def test_a_number_is_whole_and_plausible(value: Any) -> None:
    with pytest.raises(FlopbookError, match="expected a whole number up to 1,000,000,000"):
        Config({"size": value}, "config").number("size")


def test_numbers_at_their_bounds() -> None:
    assert Config({"size": 10**9}, "config").number("size") == 10**9
    assert Config({"size": 0}, "config").number("size") is None
    assert Config({"size": 1}, "config").size("size") == 1
    with pytest.raises(FlopbookError, match="size is 0, expected at least 1"):
        Config({"size": 0}, "config").size("size")
    assert Config({"list": [0, 10**9]}, "config").numbers("list") == [0, 10**9]
    for wrong in ([-1], [10**9 + 1], [True], "1"):
        with pytest.raises(FlopbookError, match="expected whole numbers"):
            Config({"list": wrong}, "config").numbers("list")


def test_marks_are_cut_to_the_layers() -> None:
    config = Config({"marks": [0, 1, 1], "odd": [0, 2], "ones": [1, 1]}, "config")
    assert config.marks("marks", 3) == [0, 1, 1]
    assert config.marks("marks", 2) == [0, 1]
    assert config.marks("ones", 2) == [1, 1]
    with pytest.raises(FlopbookError, match="no marks of 4 layers"):
        config.marks("marks", 4)
    with pytest.raises(FlopbookError, match="marks other than 0 and 1"):
        config.marks("odd", 2)


@pytest.mark.parametrize(
    ("kinds", "pattern"),
    [
        (["window"], "1 window"),
        (["window"] * 4, "1 window"),
        (["window", "full"] * 2, "1 window, 1 full"),
        (["window", "full"] * 2 + ["window"], "2 x (1 window, 1 full), 1 window"),
        (["window", "full", "window"], "1 window, 1 full, 1 window"),
    ],
)
def test_the_shortest_pattern(kinds: list[str], pattern: str) -> None:
    assert written(kinds) == pattern
