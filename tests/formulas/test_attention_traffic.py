"""Traffic of attention: fused it is never less than one pass, unfused it grows with the square."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import attention_traffic

LENGTHS = st.integers(0, 8).map(lambda exponent: 2**exponent)
LAYER: dict[str, Any] = {"seq": 8192, "heads": 64, "kv_heads": 8, "head_dim": 128}


@given(LENGTHS, st.integers(1, 8), st.integers(1, 4))
def test_fused_attention_reads_no_less_than_the_intensity_says(
    seq: int, kv_heads: int, group: int
) -> None:
    """One pass as `arithmetic-intensity` counts a prompt.

    A block of all tokens with a key head each is that, too.
    """
    heads = kv_heads * group
    prompt = calculate(
        "arithmetic-intensity", op="prefill", m=seq, n=seq, k=64, heads=heads, kv_heads=kv_heads
    )
    layer = {"seq": seq, "heads": heads, "head_dim": 64}
    assert attention_traffic(**layer, kv_heads=kv_heads)["bytes"] == prompt["bytes"]
    all_heads = attention_traffic(**layer)
    assert attention_traffic(**layer, block=seq) == all_heads
    for block in (1, 16, 128):
        blocked = attention_traffic(**layer, kv_heads=kv_heads, block=block)
        assert blocked["bytes"] >= prompt["bytes"]


def test_scores_are_four_passes_of_a_square() -> None:
    """GPT-2 medium, 64 sequences of 1,024: 2.15 GB a pass (dao2022flashattention, Figure 2)."""
    gpt2 = attention_traffic(seq=1024, heads=16 * 64, head_dim=64)
    assert gpt2["score_bytes"] == 4 * 2 * 1024**2 * 16 * 64
    assert gpt2["score_bytes"] / 4 == pytest.approx(2.15e9, rel=2e-3)
    assert gpt2["unfused_bytes"] == gpt2["score_bytes"] + gpt2["bytes"]


@given(st.integers(1, 10**6))
def test_twice_the_tokens_are_four_times_the_scores_and_twice_the_rest(seq: int) -> None:
    short, long = (attention_traffic(**{**LAYER, "seq": n * seq}) for n in (1, 2))
    assert long["score_bytes"] == 4 * short["score_bytes"]
    assert long["bytes"] == 2 * short["bytes"]


@given(st.integers(1, 500), st.integers(1, 500))
def test_blocks_are_counted_as_they_are_run(seq: int, block: int) -> None:
    """Queries and results once; all keys and values for each block that a loop makes."""
    rounds = len(range(0, seq, block))
    passes = 2 * seq + rounds * 2 * seq
    single = attention_traffic(seq=seq, heads=1, head_dim=64, block=block)
    assert single["bytes"] == 2 * 64 * passes


def test_arrays_equal_floats() -> None:
    blocks = np.array([1.0, 128.0, 1e6])
    curve = attention_traffic(**LAYER, block=blocks)
    assert curve["bytes"].tolist() == [
        attention_traffic(**LAYER, block=block)["bytes"] for block in blocks.tolist()
    ]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kv_heads": 128}, "--kv-heads 128 does not divide --heads 64"),
        ({"seq": 0}, "seq is 0, expected at least 1"),
        ({"block": 0.5}, "block is 0.5, expected at least 1"),
        ({"head_dim": 1.5}, "expected a whole number"),
    ],
)
def test_refused_values_say_what_was_expected(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        attention_traffic(**{**LAYER, **wrong})
