"""What stands beside the experts of a checkpoint, in the format in which it is published."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook import calculate
from flopbook.evaluation.results import Result
from tests.evaluation.questions.answers.facts import shape
from tests.evaluation.questions.answers.shapes import parameters

MXFP4 = 4.25 / 8
SERVER: dict[str, Any] = {"chip": "h200-sxm", "tp": 4, "seq": 4096}
NOTES = ("weights_beside_experts", "weights_held_beside_experts")


def step(**options: Any) -> Result:
    """A decoding step of a sequence of DeepSeek-V4-Flash on four H200."""
    return calculate("decode", model="deepseek-v4-flash", **SERVER, **options)


def test_all_but_the_experts_of_deepseek_v4_is_in_fp8() -> None:
    """nvidia2026modelconfigs: expert_dtype fp4 in a checkpoint whose quant_method is fp8.

    Of 43 layers each has 256 experts with three matrices of 4,096 x 2,048; of the two tables of
    129,280 x 4,096 one is looked up. What is left takes a byte and not 0.53 of it.
    """
    result = step(weight_dtype="mxfp4")
    total = parameters(shape("deepseek-v4-flash"))["total"]
    experts = 43 * 256 * 3 * 4096 * 2048
    beside = total - experts - 129280 * 4096
    lacking = beside * (1 - MXFP4) / 4 / 4.8e12
    told = result.omitted["weights_beside_experts"]
    assert told.share == pytest.approx(lacking / result["seconds"], rel=1e-6)
    assert "beside the experts in fp8" in told.text and "bf16" not in told.text


def test_weights_in_fp8_lack_nothing_beside_the_experts() -> None:
    """Asked for in a byte each, what is published in a byte is counted in full."""
    result = step(dtype="fp8")
    assert not set(NOTES) & result.omitted.keys()
    saved = result.omitted["weights_as_published"].share
    experts = 43 * 256 * 3 * 4096 * 2048
    assert saved == pytest.approx(-experts * (1 - MXFP4) / 4 / result["chip_bytes"], rel=1e-6)


@pytest.mark.parametrize("width", ["fp8", "mxfp4"])
def test_the_words_hold_for_any_width(width: str) -> None:
    """gpt-oss-120b keeps attention and tables in bf16; --dtype fp8 counts nothing as mxfp4."""
    told = calculate("decode", model="gpt-oss-120b", chip="h200-sxm", seq=4096, weight_dtype=width)
    text = told.omitted["weights_beside_experts"].text
    assert text.startswith("all weights count alike") and "in bf16" in text
