"""Which number format each tensor of an answer has: the rule, its overrides, what is said of it."""

from __future__ import annotations

import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import Result, calculate, tensors
from flopbook.evaluation.solving.solver import solve
from flopbook.evaluation.sweeping import sweep
from flopbook.formulas import CATALOGUE, get_formula
from flopbook.hardware.chip import chip
from flopbook.quantities.dtypes import OPTIONS, RULES

LLAMA = {"model": "llama-3-8b", "seq": 8192}
RTX = {**LLAMA, "chip": "rtx-4090"}
ROOFLINES = ("ridge-point", "arithmetic-intensity", "roofline", "tile-traffic")


def used(result: Result) -> dict[str, str]:
    return {name: value.value for name, value in result.inputs.items() if name in OPTIONS}


def test_int4_weights_compute_and_cache_in_bf16() -> None:
    """18 sequences of 8,192 tokens on 24 GB: 4 GB of weights, 1.07 GB of cache for each."""
    result = calculate("serving", **RTX, dtype="int4")
    assert result["batch_fits"] == 18
    assert result.inputs["peak"].value == chip("rtx-4090").peak("bf16")
    messages = {"activation_dtype": "bf16", "dispatch_dtype": "bf16"}
    weights = {"weight_dtype": "int4", "compute_dtype": "bf16", "kv_dtype": "bf16"}
    assert used(result) == weights | messages
    (note,) = [note for note in result.notes if note.startswith("int4 by its rule leaves")]
    assert "products, KV cache" in note and "--compute-dtype, --kv-dtype" in note


def test_an_option_overrides_the_rule_and_a_width_overrides_both() -> None:
    rule = calculate("kv-cache", **LLAMA, dtype="int4")["bytes"]
    assert calculate("kv-cache", **LLAMA, kv_dtype="fp8")["bytes"] == rule / 2
    typed = calculate("kv-cache", **LLAMA, kv_dtype="fp8", bytes_per_kv=2)
    assert typed["bytes"] == rule
    assert used(typed) == {}


def test_a_format_of_a_tensor_alone_changes_no_other() -> None:
    plain = calculate("decode", **RTX)
    narrow = calculate("decode", **RTX, kv_dtype="fp8")
    assert narrow["kv_seconds"] == plain["kv_seconds"] / 2
    assert narrow["weight_seconds"] == plain["weight_seconds"]
    assert narrow["compute_seconds"] == plain["compute_seconds"]
    assert narrow.inputs["kv_dtype"].origin == "given"


def test_formats_stand_in_json_with_the_inputs() -> None:
    inputs = calculate("decode", **RTX, dtype="int4").as_json()["inputs"]
    assert inputs["weight_dtype"] == {"value": "int4", "unit": None}
    assert inputs["compute_dtype"]["value"] == inputs["kv_dtype"]["value"] == "bf16"
    assert inputs["dtype"]["value"] == "int4"


@pytest.mark.parametrize("dtype", RULES)
def test_notes_name_what_the_rule_leaves_in_another_format(dtype: str) -> None:
    notes = calculate("kv-cache", **LLAMA, dtype=dtype).notes
    assert any("KV cache" in note for note in notes) == (RULES[dtype].kv != dtype)
    assert calculate("kv-cache", **LLAMA, dtype=dtype, kv_dtype="bf16").notes == ()


def test_nothing_is_said_of_a_format_that_nobody_asked_for() -> None:
    assert calculate("kv-cache", **LLAMA).notes == ()
    assert not any("rule" in note for note in calculate("memory", **LLAMA).notes)


def test_fp32_is_four_bytes_everywhere() -> None:
    inputs = calculate("memory", **LLAMA, dtype="fp32").inputs
    widths = ("bytes_per_param", "grad_bytes", "activation_bytes")
    assert [inputs[name].value for name in widths] == [4.0, 4.0, 4.0]


def test_fp8_training_keeps_weights_gradients_and_activations_in_bf16() -> None:
    narrow, plain = (calculate("memory", **LLAMA, dtype=name) for name in ("fp8", "bf16"))
    assert narrow["total"] == plain["total"]
    assert narrow.inputs["weight_dtype"].value == "bf16"
    stored = calculate("memory", **LLAMA, weight_dtype="fp8")
    assert stored["weights"] == plain["weights"] / 2


def test_rooflines_keep_the_format_that_was_asked_for() -> None:
    for name in ROOFLINES:
        assert tensors(get_formula(name)) == ()
    with pytest.raises(FlopbookError, match=r"no dense int4 tensor peak; it has: .* --dtype"):
        calculate("ridge-point", chip="h100-sxm", dtype="int4")
    with pytest.raises(UnknownName, match="unknown option of ridge-point 'kv_dtype'"):
        calculate("ridge-point", chip="h100-sxm", kv_dtype="fp8")


def test_a_chip_without_the_compute_format_says_what_it_has() -> None:
    with pytest.raises(FlopbookError) as refused:
        calculate("decode", **LLAMA, chip="h100-sxm", dtype="nvfp4")
    message = str(refused.value)
    assert "has no dense nvfp4 tensor peak; it has: bf16 2:4, bf16 dense," in message
    assert message.endswith("give --peak, or --compute-dtype bf16")
    assert "\n" not in message


def test_a_peak_of_the_same_width_stands_for_that_of_a_block_format() -> None:
    result = calculate("decode", **LLAMA, chip="rtx-5090", dtype="nvfp4")
    assert result.inputs["peak"].value == chip("rtx-5090").peak("fp4")
    assert "nvidia/rtx-5090 has no nvfp4 peak on record; its fp4 peak is used" in result.notes
    own = calculate("decode", **LLAMA, chip="b200", dtype="nvfp4")
    assert own.inputs["peak"].value == chip("b200").peak("nvfp4")
    assert not any("on record" in note for note in own.notes)


def test_unknown_formats() -> None:
    with pytest.raises(UnknownName, match="unknown kv-dtype 'fp9'"):
        calculate("kv-cache", **LLAMA, kv_dtype="fp9")
    with pytest.raises(FlopbookError, match="--kv-dtype is empty"):
        calculate("kv-cache", **LLAMA, kv_dtype=" ")
    assert calculate("kv-cache", **LLAMA, kv_dtype="FP8").inputs["kv_dtype"].value == "fp8"


def test_formats_are_swept_and_solved_for() -> None:
    found = sweep("kv-cache", kv_dtype=["bf16", "fp8"], **LLAMA)
    assert found["bytes"][0] == 2 * found["bytes"][1]
    assert solve("kv-cache", "kv_dtype", "bytes<=0.6GB", **LLAMA).value in RULES


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_input_names_a_tensor_of_the_rule(name: str) -> None:
    tensors_known = {*RULES["bf16"]._fields, "asked", ""}
    assert {spec.dtype for spec in get_formula(name).inputs.values()} <= tensors_known


@pytest.mark.parametrize(
    ("dtype", "chip"),
    [("int4", "rtx-4090"), ("mxfp4", "h100-sxm"), ("fp8", "h100-sxm"), ("nvfp4", "b200")],
)
def test_the_batch_that_saturates_is_the_minimum_batch(dtype: str, chip: str) -> None:
    """Weights of four bits multiply in bf16: 41 tokens on an RTX 4090, not 328."""
    served = calculate("serving", model="llama-3-8b", chip=chip, seq=1024, dtype=dtype)
    alone = calculate("min-batch", chip=chip, dtype=dtype)["tokens"]
    # A dense model meets all of its weights but the look-up, which is not read either.
    assert alone == pytest.approx(served["batch_saturates"])


def test_gradients_keep_their_own_format() -> None:
    """fp8 products, bf16 weights in FSDP and bf16 gradients: twice the tokens of bf16."""
    for name in ("dp-limit", "fsdp-limit"):
        wide, narrow = (
            calculate(name, chip="h100-sxm", chips=8, dtype=dtype)["tokens_per_chip"]
            for dtype in ("bf16", "fp8")
        )
        assert narrow / wide == pytest.approx(1978.9 / 989.4)
    gathered = calculate("fsdp-limit", chip="h100-sxm", chips=8, dtype="fp8", weight_dtype="fp8")
    assert gathered.inputs["bytes_per_param"].value == 1
