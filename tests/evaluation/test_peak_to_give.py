"""A calculator that needs a peak rate which nobody published names one that may be given for it."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from flopbook import calculate, chip, parse_quantity
from flopbook.errors import FlopbookError

ASKED: dict[str, Any] = {"model": "llama-3-8b", "seq": 4096}


def refusal(**options: Any) -> str:
    """What `prefill` says where it has no rate."""
    with pytest.raises(FlopbookError) as refused:
        calculate("prefill", **ASKED, **options)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "options", "advice"),
    [
        # Measured products, the highest of them: xzwgit2026flops has 102 TFLOP/s at 8,192.
        (
            "gb10",
            {},
            "give --peak, such as the 102 TFLOP/s at which its bf16 products were measured "
            "(xzwgit2026flops), or another --compute-dtype",
        ),
        ("gb10", {"dtype": "fp8"}, "such as the 219.8 TFLOP/s at which its fp8 products were"),
        # Without matrix units the vector units multiply: AMD prints 26.5 TFLOP/s for the MI50.
        ("mi50", {"dtype": "fp16"}, "such as the 26.5 TFLOP/s of its vector units in fp16"),
        ("mi50", {}, "such as the 26.5 TFLOP/s of its vector units in fp16"),
        ("m1-max", {}, "such as the 10.62 TFLOP/s of its vector units in fp16"),
        # A format of 16 bits that its matrix units multiply is the better advice.
        ("t4", {}, "give --peak, or --compute-dtype fp16"),
        ("m3-ultra", {}, "give --peak, such as what a large product of matrices reaches there"),
        ("m3-ultra", {"sparsity": "2:4"}, "its tensor peaks are not published; give --peak"),
        ("gb10", {"compute_dtype": "int8"}, "such as the 155.5 TOP/s at which its int8 products"),
    ],
)
def test_the_line_names_a_rate(name: str, options: dict[str, str], advice: str) -> None:
    message = refusal(chip=name, **options)
    assert advice in message and "\n" not in message


def test_sparse_rates_are_not_those_of_dense_products() -> None:
    assert "such as" not in refusal(chip="gb10", sparsity="2:4")


def test_the_named_rate_answers() -> None:
    """By hand: 6.98 billion weights beside the tables, and half of all pairs of 4,096 tokens."""
    named = re.search(r"such as the (\S+ \S+) at", refusal(chip="gb10"))
    assert named is not None
    rate = parse_quantity(named[1], "FLOP/s")
    layers, width = 32, 4096
    block = 2 * width * 128 * (32 + 8) + 3 * width * 14336 + 2 * width
    products = 2 * 4096 * (layers * block + width) + 2 * 128256 * width
    pairs = 4 * layers * width * 4096 * 4097 / 2
    given = calculate("prefill", **ASKED, chip="gb10", peak=named[1])
    assert given["seconds"] == pytest.approx((products + pairs) / rate, rel=1e-6)


def test_a_peak_on_record_needs_no_advice() -> None:
    assert math.isfinite(calculate("prefill", **ASKED, chip="h100-sxm")["seconds"])
    assert chip("h100-sxm").peak("bf16") > 0
