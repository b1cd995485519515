"""Number formats: widths with their scales, and the rule from one format to that of each tensor."""

from __future__ import annotations

import pytest

from flopbook.quantities.dtypes import (
    DTYPE_BYTES,
    OPTIONS,
    RULES,
    STANDS_FOR,
    WIDTHS,
    Formats,
    format_options,
    formats,
)
from flopbook.quantities.number_formats import BLOCK, FORMATS


def test_every_format_has_a_width_and_a_rule_of_known_formats() -> None:
    assert RULES.keys() == WIDTHS.keys()
    for rule in RULES.values():
        assert set(rule) <= WIDTHS.keys()
    assert all(name in WIDTHS and other in WIDTHS for name, other in STANDS_FOR.items())


def test_widths_agree_with_the_layouts_of_the_formats() -> None:
    for layout in FORMATS:
        assert WIDTHS[layout.name.partition(" ")[0]] == layout.bytes
    assert WIDTHS["mxfp4"] == BLOCK.bits_each / 8


@pytest.mark.parametrize(
    ("name", "bits"), [("mxfp8", 8.25), ("mxfp6", 6.25), ("mxfp4", 4.25), ("nvfp4", 4.5)]
)
def test_block_formats_carry_their_scales(name: str, bits: float) -> None:
    """8 bits for 32 values in MX (darvish2023microscaling), for 16 in nvfp4
    (nvidia2025pretraining).
    """
    assert WIDTHS[name] * 8 == bits
    assert name not in DTYPE_BYTES


def test_a_wide_format_holds_for_every_tensor() -> None:
    for name in ("fp32", "bf16", "fp16"):
        assert set(RULES[name]._replace(optimizer=name)) == {name}
        assert RULES[name].optimizer == "fp32"
    assert set(RULES["fp64"]) == {"fp64"}
    assert RULES["tf32"] == RULES["fp32"]._replace(compute="tf32")


def test_weight_only_formats_compute_and_cache_in_bf16() -> None:
    for name in ("int4", "mxfp4"):
        assert RULES[name] == RULES["bf16"]._replace(weight=name)


def test_narrow_formats_multiply_narrow_and_train_in_bf16() -> None:
    for name in ("fp8", "mxfp8", "int8", "nvfp4", "fp4", "fp6", "mxfp6"):
        rule = RULES[name]
        assert (rule.weight, rule.compute) == (name, name)
        kept = (rule.trained, rule.activation, rule.grad, rule.optimizer)
        assert kept == ("bf16", "bf16", "bf16", "fp32")
        assert WIDTHS[rule.kv] == 1


def test_an_option_overrides_its_tensors_alone() -> None:
    for option, tensors in OPTIONS.items():
        chosen = formats("bf16", {option: "fp8", "chip": "h100-sxm"})
        changed = {name for name in Formats._fields if getattr(chosen, name) != "bf16"}
        assert changed - {"optimizer"} == set(tensors) - {"optimizer"}
    assert {name for sets in OPTIONS.values() for name in sets} == set(Formats._fields)


def test_options_of_tensors() -> None:
    assert format_options({"", "asked"}) == ()
    assert format_options({"trained", "kv", ""}) == ("weight_dtype", "kv_dtype")
