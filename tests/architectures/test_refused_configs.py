"""Configurations that are incomplete or contradict themselves: one line, and never a guess."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.huggingface import read_config
from flopbook.architectures.shape import Shape
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from tests.support.compressed_configs import COMPRESSED
from tests.support.huggingface_configs import DEEPSEEK, LLAMA, SAME
from tests.support.hybrid_configs import FULL, KINDS, LLAMA_4
from tests.support.recent_configs import RECENT
from tests.support.refused_configs import REFUSED

COMPLETE = {
    **{name: config for name, (config, _) in {**SAME, **RECENT, **COMPRESSED}.items()},
    **{name: config for name, (config, _, _) in KINDS.items()},
    **FULL,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_contradicts_itself_is_one_line(name: str) -> None:
    """The line says what is wrong; tests of the command see it printed alone."""
    config, message = REFUSED[name]
    with pytest.raises(FlopbookError, match=message):
        read_config(config)


@pytest.mark.parametrize("group", ["text_config", "llm_config", "language_config"])
def test_the_language_model_is_found_inside(group: str) -> None:
    """Models that see keep their language model in a group, some of them in a group of a group."""
    vision = {"model_type": "clip_vision_model", "hidden_size": 1024, "num_hidden_layers": 24}
    config = {"model_type": "unheard_of", "vision_config": vision, group: DEEPSEEK}
    known = dict(calculate("params", model="deepseek-v3"))
    assert dict(calculate("params", config=config)) == known
    inside = {"model_type": "omni", "thinker_config": {"model_type": "thinker", group: DEEPSEEK}}
    assert dict(calculate("params", config=inside)) == known


def test_a_model_that_sees_is_named_after_its_language() -> None:
    """As minimax_m3_vl, whose group names no type."""
    inside = {key: value for key, value in RECENT["minimax_m3"][0].items() if key != "model_type"}
    config = {"model_type": "minimax_m3_vl", "text_config": inside}
    assert dict(calculate("params", config=config)) == dict(calculate("params", model="minimax-m3"))


def test_settings_around_the_language_model_hold_for_it() -> None:
    config = {
        "model_type": "llava",
        "text_config": LLAMA,
        "quantization_config": {"quant_method": "fp8"},
    }
    assert Shape(read_config(config)).size("weight_dtype") == "fp8"


def test_a_group_fills_in_what_a_known_model_leaves_out() -> None:
    config = {"model_type": "llama", "hidden_size": 4096, "text_config": LLAMA}
    assert dict(calculate("params", config=config)) == dict(calculate("params", config=LLAMA))


def test_listed_layers_with_experts_go_before_the_step() -> None:
    """Llama 4 lists its expert layers; the step is where the list comes from."""
    listed = {**LLAMA_4, "moe_layers": list(range(1, 48, 2))}
    assert dict(calculate("params", config=listed)) == dict(calculate("params", config=LLAMA_4))
    fewer = {**LLAMA_4, "moe_layers": [47]}
    assert calculate("params", config=fewer).inputs["dense_layers"].value == 47


def test_biases_of_attention_and_blocks() -> None:
    """Both switched on: queries, keys, values and output, and three of each gated block."""
    plain = calculate("params", config=LLAMA)["total"]
    both = calculate("params", config={**LLAMA, "attention_bias": True, "mlp_bias": True})["total"]
    assert both - plain == 32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096)


@pytest.mark.parametrize(("word", "dtype"), [("int4", "int4"), ("int8", "int8"), ("float8", "fp8")])
def test_quanto_names_the_format_of_its_weights(word: str, dtype: str) -> None:
    config = {**LLAMA, "quantization_config": {"quant_method": "quanto", "weights": word}}
    assert Shape(read_config(config)).size("weight_dtype") == dtype


ODD = (
    *("", "x", "4", -1, 0, 1, 3, 2.5, True, False, None, [], {}, [1], ["x"], [None], [[1]]),
    *({"a": 1}, {"text_config": 3}, 10**30, float("nan")),
)


def places(group: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a configuration has a value, at every level; of a list the first and the last."""
    if isinstance(group, dict):
        inside = [(key, value) for key, value in group.items()]
    elif isinstance(group, list) and group:
        inside = [(0, group[0]), (len(group) - 1, group[-1])]
    else:
        return []
    found = [(*path, key) for key, _ in inside]
    return found + [place for key, value in inside for place in places(value, (*path, key))]


@given(data=st.data(), name=st.sampled_from(sorted(COMPLETE)))
def test_an_odd_value_anywhere_is_counted_or_one_line(data: st.DataObject, name: str) -> None:
    """Whatever stands at any level of a file, the answer is a count or an error of ours."""
    config = json.loads(json.dumps(COMPLETE[name]))
    *path, last = data.draw(st.sampled_from(places(config)))
    group = config
    for step in path:
        group = group[step]
    group[last] = data.draw(st.sampled_from(ODD))
    try:
        assert calculate("params", config=config)["total"] > 0
    except FlopbookError as error:
        assert "\n" not in str(error) and len(str(error)) < 400
