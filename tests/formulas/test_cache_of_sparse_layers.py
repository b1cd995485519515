"""The fp8 cache of sparse latent attention, as the kernels of its makers keep it.

FlashMLA, README.md, 2025-09-29: "each token's KV cache is 656 Bytes": 512 values in fp8, 4 scales
in fp32, and 64 values of the rotary part in bf16.
"""

from __future__ import annotations

import pytest

from flopbook import calculate
from flopbook.formulas.caches import parts_of_a_latent_cache

NAME = "parts_of_a_latent_cache"
PRINTED, VALUES, INDEX = 656, 512 + 64, 128


@pytest.mark.parametrize("seq", [4096, 163_840])
def test_a_token_takes_656_bytes_of_a_layer(seq: int) -> None:
    """DeepSeek-V3.2: beside them a key of 128 values in each layer, for its indexer."""
    kept = calculate("kv-cache", model="deepseek-v3.2", seq=seq, kv_dtype="fp8")
    told = kept.omitted[NAME]
    assert kept["bytes"] == 61 * seq * (VALUES + INDEX)
    assert told.of == "bytes"
    assert kept["bytes"] * (1 + told.share) == pytest.approx(61 * seq * (PRINTED + INDEX))
    assert any("656" not in note and "(+11 %)" in note for note in kept.notes)


@pytest.mark.parametrize(
    ("model", "dtype"),
    [
        ("deepseek-v3.2", "bf16"),  # as wide as the kernels keep it
        ("deepseek-v3", "fp8"),  # dense latent attention is quantised as a whole
        ("llama-3-70b", "fp8"),
        ("deepseek-v4-pro", "fp8"),  # compressed entries, of another layout
    ],
)
def test_other_caches_have_no_such_parts(model: str, dtype: str) -> None:
    assert NAME not in calculate("kv-cache", model=model, seq=4096, kv_dtype=dtype).omitted


@pytest.mark.parametrize(("width", "more"), [(2, 0), (1, 80), (0.75, 80), (0.5, 0)])
def test_eighty_bytes_of_a_token_and_layer(width: float, more: float) -> None:
    """Three layers, ten tokens of two sequences, in a cache of 10,000 bytes."""
    share = parts_of_a_latent_cache.function(3, 512, 64, width, 10, 2, 1e4)
    assert share == pytest.approx(3 * more * 10 * 2 / 1e4)
