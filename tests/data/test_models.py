"""The models of the data: each published count follows from the shape, or the claim says in writing
why not.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.architectures.layers import COUNTED
from flopbook.architectures.shape import shape
from flopbook.architectures.states import KINDS
from flopbook.data.claims import Claim
from flopbook.data.folders import schema_paths
from flopbook.data.library import library, load_model, model_ids
from flopbook.data.model_reader import read_model
from flopbook.data.schema import load_schema
from flopbook.errors import DataError, FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from tests.support.cases import every

TOLERANCE = 0.01
COUNTS = {"params": "total", "active_params": "active"}
NEEDED = (
    "params",
    "layers",
    "d_model",
    "heads",
    "head_dim",
    "vocab",
    "context",
    "ffn",
    "positions",
)

every_model = every("name", model_ids())


def misses(claim: Claim, counted: Any) -> bool:
    """Whether a published count differs from the counted one by more than the tolerance."""
    assert claim.si_value is not None
    return abs(counted[COUNTS[claim.field]] / claim.si_value - 1) > TOLERANCE


def published(name: str) -> list[Claim]:
    """The counts of a model that somebody published and that are not known to be wrong."""
    return [
        c
        for c in load_model(name).claims
        if c.field in COUNTS and c.published and not c.known_error
    ]


@every_model
def test_the_shape_gives_the_published_count(name: str) -> None:
    """Within one percent; else an exception says why, and an exception that is not needed is an
    error.
    """
    counted = calculate("params", model=name)
    for claim in published(name):
        reason = claim.exceptions.get("params", "")
        if misses(claim, counted):
            assert reason, (
                f"{claim.place}: {claim.value:g}, counted {counted[COUNTS[claim.field]]:.6g}"
            )
        else:
            assert not reason, f"{claim.place}: the exception is not needed, remove it"


def test_most_models_need_no_exception() -> None:
    """The formula is checked by the models, so few of the totals may be excused."""
    excused = [
        name
        for name in model_ids()
        if any(c.exceptions for c in published(name) if c.field == "params")
    ]
    assert len(excused) <= len(model_ids()) / 5


def test_there_are_many_models() -> None:
    """Eighty-five, and thirty-eight of 2025 and 2026 from their configuration files."""
    assert len(model_ids()) >= 123


@every_model
def test_a_model_has_its_full_shape(name: str) -> None:
    """Everything that other calculators ask of a shape is recorded, most of it by the model's
    makers.
    """
    fields = {claim.field for claim in load_model(name).claims}
    missing = [field for field in NEEDED if field not in fields]
    assert not missing or missing == ["context"]
    assert fields & {"d_ff", "expert_d_ff"}


@every_model
def test_mixtures_say_so(name: str) -> None:
    """A mixture has experts and names how many work; a dense model has none of that."""
    mixture = load_model(name)
    fields = {claim.field for claim in mixture.claims}
    mixed = {"experts", "experts_per_token", "expert_d_ff"}
    assert (
        (fields & (mixed | {"shared_experts", "dense_layers"}) == set())
        if mixture.kind == "dense"
        else fields >= mixed
    )


@every_model
def test_the_width_of_a_block_is_not_that_of_an_expert(name: str) -> None:
    """`d_ff` is the width of a dense block, so a mixture has it exactly if some of its layers are
    dense.
    """
    fields = {claim.field for claim in load_model(name).claims}
    if load_model(name).kind == "moe":
        assert ("d_ff" in fields) == ("dense_layers" in fields)


def test_every_field_of_the_shape_is_an_input() -> None:
    """What the formula may take from a model is a field that the schema knows."""
    fields = load_schema(schema_paths()["model"])["properties"]["claims"]["items"]["properties"][
        "field"
    ]["enum"]
    asked = {spec.model for spec in get_formula("params").inputs.values()}
    assert asked - set(COUNTED) <= set(fields)


def test_words_of_the_data_are_words_of_the_formula() -> None:
    rules = load_schema(schema_paths()["model"])["properties"]["claims"]["items"]["allOf"]
    words = {
        rule["if"]["properties"]["field"]["const"]: set(rule["then"]["properties"]["value"]["enum"])
        for rule in rules
        if "enum" in rule.get("then", {}).get("properties", {}).get("value", {})
    }
    inputs = get_formula("params").inputs
    # From the kind of a state follow the numbers of which calculators ask.
    assert words.pop("state_kind") == set(KINDS)
    # Weights are in 16 bits unless a checkpoint says otherwise, of all layers or of its experts.
    published = set(get_formula("decode").inputs["published"].choices)
    assert words.pop("weight_format") == published - {"bf16"}
    assert words.pop("weight_format_of") == {"layers", "experts"}
    beside = get_formula("decode").inputs["published_beside"].choices
    assert words.pop("weight_format_beside") == set(beside)
    assert words == {spec.model: set(spec.choices) for spec in inputs.values() if spec.choices}


def test_the_answer_names_the_sources_of_the_shape() -> None:
    result = calculate("params", model="deepseek-v3")
    assert {"deepseek2024v3", "deepseek2025configs"} <= set(result.sources)
    assert (
        result.inputs["tied_embeddings"].value == "no" and result.inputs["tied_embeddings"].source
    )
    assert (
        result.inputs["kv_lora_rank"].value == 512 and result.inputs["qk_norm"].origin == "default"
    )


def test_what_is_typed_goes_before_the_model() -> None:
    tied = calculate("params", model="llama-3-70b", tied_embeddings="yes")
    assert tied["total"] == calculate("params", model="llama-3-70b")["total"] - 128256 * 8192
    longer = calculate("params", model="gpt-3-175b", context=4096)
    assert longer["total"] - calculate("params", model="gpt-3-175b")["total"] == 2048 * 12288


def test_a_default_of_none_is_not_shown() -> None:
    """A dense model shows nothing of experts beyond the one, and nothing of latent attention."""
    inputs = calculate("params", model="llama-3-70b").inputs
    assert not {"shared_experts", "kv_lora_rank", "expert_d_ff"} & set(inputs)


def test_a_word_is_no_number() -> None:
    with pytest.raises(FlopbookError, match="model llama-3-70b has no published ffn"):
        _ = shape("llama-3-70b").ffn
    claim = shape("llama-3-70b").claim("ffn")
    assert claim is not None and claim.value == "gated" and claim.si_value is None


BROKEN = {
    "word for a number": ("layers", "gated", "count", "expected"),
    "number for a word": ("ffn", 3, "none", "gated, plain"),
    "word of another field": ("ffn", "rms", "none", "gated, plain"),
    "unit of a word": ("norm", "rms", "count", "none"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_fields_keep_to_their_words(name: str, tmp_path: Any) -> None:
    field, content, unit, expected = BROKEN[name]
    text = (
        (library().models / "mistral-7b.yaml")
        .read_text(encoding="utf-8")
        .replace("id: mistral-7b", "id: m", 1)
    )
    claim = (
        f"  - {{field: {field}, value: {content}, unit: {unit}, source: a2020b, "
        "as_of: 2026-11-21, locator: here}\n"
    )
    (tmp_path / "m.yaml").write_text(text + claim, encoding="utf-8")
    with pytest.raises(DataError, match=expected):
        read_model(tmp_path / "m.yaml", "m")


def test_only_counts_have_exceptions(tmp_path: Any) -> None:
    text = (
        (library().models / "mistral-7b.yaml")
        .read_text(encoding="utf-8")
        .replace("id: mistral-7b", "id: m", 1)
    )
    extra = 'exceptions: {params: "a reason that is long enough"}'
    claim = (
        "  - {field: layers, value: 3, unit: count, source: a2020b, as_of: 2026-11-21, "
        f"locator: x, {extra}}}\n"
    )
    (tmp_path / "m.yaml").write_text(text + claim, encoding="utf-8")
    with pytest.raises(DataError, match="params"):
        read_model(tmp_path / "m.yaml", "m")
