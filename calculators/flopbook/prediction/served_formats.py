"""In which formats a row serves: of its weights, of its cache, and of what it multiplies."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.prediction.serving_parts import BYTES_16

# Bytes of a weight and of a cached value by the format that a row names, the first that fits.
# Q4_K_M keeps some matrices in 6 bits: 4.8944 bits a weight of Llama 3.1 8B (ggml-org/llama.cpp at
# 311c2c9f, tools/quantize/README.md).
WIDTHS = {
    "q4_k_m": (0.6118, 2.0),
    "fp4": (0.5625, 1.0),
    "nf4": (0.5625, 2.0),
    "int4": (0.5625, 2.0),
    "fp8": (1.0, 1.0),
    "int8": (1.0, 2.0),
}
WEIGHT_ONLY = ("int4", "nf4", "q4_k_m")
# Words of a row whose cache stays in 16 bits beside narrower weights, and of one whose activations
# have 8 bits, so that products run at that rate though the weights have 4.
WIDE_CACHE, NARROW_ACTIVATIONS = "bf16 cache", ("fp8 activations", "fp8")


class ServedFormat(NamedTuple):
    """Bytes of a weight and of a cached value; the format of products, empty for 16 bits."""

    weight_bytes: float
    cache_bytes: float
    products: str
    is_weight_only: bool


def served_format(words: str) -> ServedFormat:
    """The formats that a row names in its words, in lower case."""
    name = next((name for name in WIDTHS if name in words), "")
    weight, cache = WIDTHS.get(name, (BYTES_16, BYTES_16))
    is_weight_only = "weight" in words or name in WEIGHT_ONLY
    activations, narrow = NARROW_ACTIVATIONS
    products = narrow if activations in words else name
    return ServedFormat(
        weight_bytes=weight,
        cache_bytes=BYTES_16 if WIDE_CACHE in words else cache,
        products="" if is_weight_only else products,
        is_weight_only=is_weight_only,
    )
