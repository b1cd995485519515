"""The cache of keys and values: counted one by one, laws, published sizes, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import kv_cache

sizes = st.integers(min_value=1, max_value=5000).map(float)
SHAPE: dict[str, Any] = {"layers": 32, "heads": 32, "head_dim": 128, "seq": 2048}


def counted(layers: int, windowed: int, seq: int, window: int, kv_heads: int, head_dim: int) -> int:
    """Values, layer by layer and token by token."""
    kept = sum(min(seq, window) if layer < windowed else seq for layer in range(layers))
    return kept * kv_heads * head_dim * 2


@given(
    st.integers(1, 60),
    st.integers(1, 60),
    sizes,
    sizes,
    st.sampled_from([1, 2, 4, 8, 16, 32]),
    st.integers(1, 256),
)
def test_the_formula_counts_what_each_layer_keeps(
    layers: int, windowed: int, seq: float, window: float, kv_heads: int, head_dim: int
) -> None:
    windowed = min(windowed, layers)
    out = kv_cache(
        layers=layers,
        heads=32,
        kv_heads=kv_heads,
        head_dim=head_dim,
        seq=seq,
        window=window,
        window_layers=windowed,
    )
    assert out["bytes"] == 2 * counted(layers, windowed, int(seq), int(window), kv_heads, head_dim)


@given(sizes, sizes, st.sampled_from([4.0, 2.0, 1.0, 0.5]))
def test_it_grows_with_tokens_sequences_and_width(seq: float, batch: float, width: float) -> None:
    base = kv_cache(**{**SHAPE, "seq": 1})["bytes"]
    out = kv_cache(**{**SHAPE, "seq": seq}, batch=batch, bytes_per_kv=width)
    assert out["bytes"] == pytest.approx(base * seq * batch * width / 2)
    assert out["bytes"] == pytest.approx(out["bytes_per_token"] * seq * batch)


@pytest.mark.parametrize(
    ("model", "kilobytes"),
    [("deepseek-v3", 70.272), ("qwen-2.5-72b", 327.680), ("llama-3-405b", 516.096)],
)
def test_bytes_of_a_token_with_latent_and_grouped_attention(model: str, kilobytes: float) -> None:
    """What DeepSeek gives as 70 and 516 KB for its model and Llama 3.1 405B, in bf16.

    Thousands, not 1,024.
    """
    assert calculate("kv-cache", model=model, seq=1)["bytes_per_token"] == kilobytes * 1000


def test_kib_of_a_token_are_not_kb() -> None:
    """40 layers of width 5,120 keep 2 x 2 x 40 x 5,120 bytes for a token.

    800 KiB, which is 819.2 kB.

    2,048 tokens are 1.56 GiB or 1.68 GB: a text that says GB for GiB is 7 percent off.
    """
    out = kv_cache(layers=40, heads=40, d_model=5120, seq=2048)
    assert out["bytes_per_token"] == 800 * 2**10
    assert out["bytes"] / 2**30 == pytest.approx(1.5625)


def test_the_number_format_sets_the_width() -> None:
    full = calculate("kv-cache", model="llama-3-8b", seq=1024)["bytes"]
    assert calculate("kv-cache", model="llama-3-8b", seq=1024, dtype="fp8")["bytes"] == full / 2


def test_keys_and_values_are_both_counted() -> None:
    """Llama 2 7B, 2,049 tokens: 1.0005 GiB.

    EleutherAI's script prints 0.50, without the factor 2 (defect 1).
    """
    gib = calculate("kv-cache", model="llama-2-7b", seq=2049)["bytes"] / 2**30
    assert gib == pytest.approx(1.0005, rel=1e-4)
    assert gib / 2 == pytest.approx(0.50, abs=0.005)


def test_grouped_heads_are_counted_and_not_those_of_queries() -> None:
    """One tool reads keys for all query heads of Llama 2 70B: 8 times the bytes (defect 8)."""
    grouped = calculate("kv-cache", model="llama-2-70b", seq=4096)["bytes"]
    assert grouped == 80 * 4096 * 2 * 8 * 128 * 2
    assert calculate("kv-cache", model="llama-2-70b", seq=4096, kv_heads=64)["bytes"] == 8 * grouped
    assert calculate("kv-cache", model="llama-2-70b", seq=4096, kv_heads=1)["bytes"] == grouped / 8


def test_chips_share_heads_but_not_a_latent_vector() -> None:
    """Tensor parallelism shrinks the cache of a chip until each has one head.

    Defect 1: no tool's factor at all.
    """
    per_chip = [kv_cache(**SHAPE, kv_heads=8, tp=ways)["bytes_per_chip"] for ways in (1, 2, 8, 16)]
    assert [per_chip[0] / each for each in per_chip] == [1, 2, 8, 8]
    latent = calculate("kv-cache", model="deepseek-v3", seq=4096, tp=8)
    assert latent["bytes_per_chip"] == latent["bytes"]


def test_a_window_matters_only_beyond_it() -> None:
    full = kv_cache(**SHAPE)
    assert kv_cache(**SHAPE, window=2048) == full
    assert kv_cache(**SHAPE, window=1024)["bytes"] == full["bytes"] / 2
    assert kv_cache(**SHAPE, window=1024, window_layers=16)["bytes"] == full["bytes"] * 3 / 4


def test_one_more_token_costs_only_the_layers_that_still_grow() -> None:
    """A full window drops a token for each new one, so only the other layers grow."""
    full = kv_cache(**SHAPE)["bytes_per_token"]
    assert kv_cache(**SHAPE, window=4096, window_layers=24)["bytes_per_token"] == full
    assert kv_cache(**SHAPE, window=1024, window_layers=24)["bytes_per_token"] == full / 4
    assert kv_cache(**SHAPE, chunk=1024, chunk_layers=24)["bytes_per_token"] == full / 4
    assert kv_cache(**SHAPE, window=1024)["bytes_per_token"] == 0


def test_gemma_3_keeps_windows_in_five_of_six_layers() -> None:
    """11.2 GB at 131,072 tokens in bf16, where 62 layers of full attention would keep 66.6.

    Ten layers see everything and 52 the last 1,024 tokens (google2025gemmapytorch).
    """
    out = calculate("kv-cache", model="gemma-3-27b", seq=131072)
    a_token = 2 * 16 * 128 * 2
    assert out["bytes"] == a_token * (10 * 131072 + 52 * 1024)
    assert round(out["bytes"] / 1e9, 1) == 11.2
    whole = calculate("kv-cache", model="gemma-3-27b", seq=131072, window_layers=0)
    assert round(whole["bytes"] / 1e9, 1) == 66.6


def test_the_width_of_a_head_follows_from_the_model_width() -> None:
    assert kv_cache(layers=32, heads=32, d_model=4096, seq=2048) == kv_cache(**SHAPE)


def test_arrays_equal_floats() -> None:
    seq = np.array([1.0, 4096.0, 131072.0])
    out = kv_cache(**{**SHAPE, "seq": seq}, window=4096)
    for i, tokens in enumerate(seq.tolist()):
        single = kv_cache(**{**SHAPE, "seq": tokens}, window=4096)
        assert (out["bytes"][i], out["bytes_per_chip"][i]) == (
            single["bytes"],
            single["bytes_per_chip"],
        )


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"kv_heads": 64}, r"--kv-heads \d+ does not divide --heads \d+"),
        ({"kv_heads": 5}, r"--kv-heads 5 does not divide --heads \d+: .*; use 4 or 8"),
        ({"window_kv_heads": 3}, "--window-kv-heads 3 does not divide --heads"),
        ({"head_dim": math.inf}, "give --head-dim, or --d-model"),
        ({"window": 8, "window_layers": 33}, "more than --layers 32 together"),
        ({"window_layers": 3}, "--window-layers 3 needs --window"),
        ({"chunk_layers": 3}, "--chunk-layers 3 needs --chunk"),
        ({"state_layers": 3}, "--state-layers 3 needs --state-values"),
        ({"state_layers": 33, "state_values": 1, "full_layers": 1}, "more than --layers 32"),
        ({"sparse_layers": 3}, "--sparse-layers 3 needs --selected-tokens"),
        ({"sparse_layers": 30, "selected_tokens": 9, "full_layers": 3}, "more than --layers 32"),
        ({"shared_kv_layers": 32}, "some layer has to own the cache"),
        ({"shared_kv_layers": 2, "shared_window_layers": 3}, "some layer has to own the cache"),
        ({"seq": 0}, "seq is 0, expected at least 1"),
        ({"seq": 1.5}, "expected a whole number"),
        ({"batch": -1}, "batch is -1, expected at least 1"),
        ({"seq": math.nan}, "seq is not a number"),
        ({"seq": 1e13}, "not a plausible size"),
        ({"bytes_per_kv": 0}, "bytes_per_kv is 0, expected at least 0.01"),
    ],
)
def test_refused_values_say_what_was_expected(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        kv_cache(**{**SHAPE, **given_})


def test_scales_of_four_bits_are_told_with_their_size() -> None:
    """liu2024kivi: a scale and a zero in fp16 for each group of 32, a bit for each value."""
    told = calculate("kv-cache", model="llama-3-8b", seq=8192, kv_dtype="int4").omitted
    assert told["scales_of_narrow_values"].share == pytest.approx(0.25)
    two_bits = calculate("kv-cache", model="llama-3-8b", seq=8192, bytes_per_kv=0.25).omitted
    assert two_bits["scales_of_narrow_values"].share == pytest.approx(0.5)
    for dtype in ("fp8", "bf16", "nvfp4"):
        assert not calculate("kv-cache", model="llama-3-8b", seq=8192, kv_dtype=dtype).omitted


def test_states_have_no_scales() -> None:
    result = calculate("kv-cache", model="jamba-52b", seq=32768, kv_dtype="int4")
    share = result["state_bytes"] / result["bytes"]
    told = result.omitted["scales_of_narrow_values"].share
    assert share > 0 and told == pytest.approx(0.25 * (1 - share))
