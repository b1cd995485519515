"""What a checkpoint in narrow formats saves, and what it keeps in others, sized by hand."""

from __future__ import annotations

import pytest

from flopbook import calculate
from flopbook.data.library import load_model, model_ids
from flopbook.evaluation.results import Result
from flopbook.formulas import get_formula
from flopbook.formulas.published_weights import (
    head_in_16_bits,
    tables_in_16_bits,
    weights_as_published,
    weights_beside_experts,
)
from tests.evaluation.questions.answers.facts import shape
from tests.evaluation.questions.answers.shapes import expert_weights, parameters

INFERENCE = ("decode", "prefill", "serving")
MXFP4 = 4.25 / 8


def asked(calculator: str, model: str, **more: str) -> Result:
    return calculate(calculator, model=model, chip="h200-sxm", chips=8, seq=4096, **more)


def experts_of(model: str) -> float:
    """Weights of all routed experts of gpt-oss, every layer of which has them."""
    s = shape(model)
    return s.layers * s.experts * expert_weights(s)


@pytest.mark.parametrize("calculator", INFERENCE)
def test_a_mixture_in_mxfp4_takes_a_quarter(calculator: str) -> None:
    """nvidia2026modelconfigs: the experts of gpt-oss-120b are in mxfp4, all else in bf16."""
    result = asked(calculator, "gpt-oss-120b")
    total = parameters(shape("gpt-oss-120b"))["total"]
    experts = experts_of("gpt-oss-120b")
    kept = experts * MXFP4 + (total - experts) * 2
    told = result.omitted["weights_as_published"]
    saved = (result["weight_bytes"] * 8 - kept) / 8
    assert told.share == pytest.approx(-saved / result["chip_bytes"])
    assert "in mxfp4 (--weight-dtype mxfp4)" in told.text
    narrow = asked(calculator, "gpt-oss-120b", weight_dtype="mxfp4")
    assert "weights_as_published" not in narrow.omitted


def test_all_but_tables_norms_and_routers_are_in_fp8() -> None:
    result = asked("decode", "deepseek-v3")
    counted = calculate("params", model="deepseek-v3")
    wide = counted["embedding"] + counted["router"] + counted["norms"]
    kept = (counted["total"] - wide) + 2 * wide
    saved = (2 * counted["total"] - kept) / 8
    told = result.omitted["weights_as_published"].share
    assert told == pytest.approx(-saved / result["chip_bytes"])
    assert "weights_as_published" not in asked("decode", "deepseek-v3", dtype="fp8").omitted


@pytest.mark.parametrize("calculator", INFERENCE)
def test_weights_beside_the_experts_are_held_in_bf16(calculator: str) -> None:
    """nvidia2026modelconfigs: attention and both tables of gpt-oss-20b are in bf16."""
    result = calculate(
        calculator, model="gpt-oss-20b", chip="rtx-5090", seq=4096, batch=1, dtype="mxfp4"
    )
    told = result.omitted["weights_held_beside_experts"]
    held = result["weight_bytes"] + told.share * result["chip_bytes"]
    total, experts = parameters(shape("gpt-oss-20b"))["total"], experts_of("gpt-oss-20b")
    assert held == pytest.approx(experts * MXFP4 + (total - experts) * 2, rel=1e-6)
    assert told.share > 0.2
    wide = calculate(calculator, model="gpt-oss-20b", chip="rtx-5090", seq=4096, batch=1)
    assert "weights_held_beside_experts" not in wide.omitted


def test_weights_beside_the_experts_are_read_in_bf16() -> None:
    """gpt-oss-120b, one sequence on one H100: attention and head have 1.54 billion weights."""
    card = {"model": "gpt-oss-120b", "chip": "h100-sxm", "seq": 8192}
    result = calculate("decode", **card, weight_dtype="mxfp4")
    counted = parameters(shape("gpt-oss-120b"))
    beside = counted["total"] - experts_of("gpt-oss-120b") - 201088 * 2880
    assert beside == pytest.approx(1.54e9, rel=0.01)
    lacking = beside * (2 - MXFP4) / 3.35e12
    told = result.omitted["weights_beside_experts"].share
    assert told == pytest.approx(lacking / result["seconds"])
    assert "weights_beside_experts" not in calculate("decode", **card).omitted
    half = calculate("decode", **card, weight_dtype="mxfp4", tp=2)
    assert half.omitted["weights_beside_experts"].share == pytest.approx(
        lacking / 2 / half["seconds"]
    )


def test_models_that_are_published_in_bf16_leave_nothing_out() -> None:
    result = calculate("decode", model="llama-3-8b", chip="h100-sxm", seq=4096, weight_dtype="int4")
    assert result.inputs["published"].value == "bf16"
    for each in (weights_as_published, weights_beside_experts):
        assert each.name not in result.omitted


@pytest.mark.parametrize(
    ("published", "width", "saved"), [("fp8", 2, 0.5), ("int4", 2, 0.75), ("int4", 1, 0.5)]
)
def test_what_each_format_saves(published: str, width: float, saved: float) -> None:
    values = {
        "published": published,
        "published_share": 1.0,
        "published_beside": "bf16",
        "bytes_per_param": width,
        "weight_bytes": 100.0,
        "chip_bytes": 200.0,
    }
    assert weights_as_published.value(values) == pytest.approx(-saved / 2)
    assert weights_as_published.value({**values, "bytes_per_param": 0.4}) == 0


def test_a_format_and_what_is_in_it_are_recorded_together() -> None:
    choices = get_formula("decode").inputs["published"].choices
    found = {}
    for name in model_ids():
        said = {claim.field: claim.value for claim in load_model(name).claims}
        assert ("weight_format" in said) == ("weight_format_of" in said), name
        if "weight_format" in said:
            found[name] = said["weight_format"]
            if said["weight_format_of"] == "experts":
                assert load_model(name).kind == "moe", name
    assert set(found.values()) <= set(choices) and len(found) >= 9


@pytest.mark.parametrize("model", ["llama-3-8b", "llama-3.2-1b"])
@pytest.mark.parametrize("dtype", ["int4", "mxfp4", "fp8"])
def test_tables_stay_in_16_bits_in_quantised_checkpoints(model: str, dtype: str) -> None:
    """AWQ and GPTQ convert the layers; two tables of Llama 3 8B are 1.05 of its 8.03 billion."""
    width = {"int4": 0.5, "mxfp4": 4.25 / 8, "fp8": 1.0}[dtype]
    result = calculate("decode", model=model, chip="h100-sxm", seq=1, dtype=dtype)
    counted = calculate("params", model=model)
    values = {name: value.value for name, value in result.inputs.items()} | result.outputs
    more = (2 - width) * counted["embedding"]
    held = tables_in_16_bits.value(values)
    assert held * result["chip_bytes"] == pytest.approx(more)
    table = 128256 * calculate("params", model=model).inputs["d_model"].value
    read = head_in_16_bits.value(values)
    assert read * result["seconds"] == pytest.approx((2 - width) * table / 3.35e12)
    assert ("tables_in_16_bits" in result.omitted) == (held > 0.1)


def test_published_formats_have_their_own_note() -> None:
    wide = calculate("decode", model="llama-3-8b", chip="h100-sxm", seq=1)
    narrow = calculate("decode", model="gpt-oss-120b", chip="h100-sxm", seq=1, dtype="mxfp4")
    for result in (wide, narrow):
        assert not {"tables_in_16_bits", "head_in_16_bits"} & result.omitted.keys()
