"""The cache of keys and values, and the recurrent states, that decoding reads for each token."""

from typing import Any

from flopbook.formulas.conditions import (
    TENSOR_RULES,
    kv_heads_are_shared,
    rule,
    window_kv_heads_are_shared,
)
from flopbook.formulas.declaration import Constant, Output, Step, formula
from flopbook.formulas.inference_inputs import Batch, KvWidth
from flopbook.formulas.layer_inputs import CACHE_RULES, LAYER_SYMBOLS, StateBytes
from flopbook.formulas.layer_kinds import (
    LAYER_PARTS,
    kept_values,
    tensor_degree,
)
from flopbook.formulas.omissions import omission
from flopbook.formulas.state_widths import states_in_16_bits
from flopbook.quantities.ops import inf, where

HALF_PAGE = Constant(8.0, "token", "half a page of 16 tokens")
INT4 = Constant(0.5, "byte", "a value in 4 bits, without a scale")
BLOCK_SCALES = Constant(4 / 32, "byte", "a scale and a zero in fp16, for each of 32 values")
# FlashMLA keeps 656 bytes: 512 in fp8, 4 scales in fp32, and 64 values of the rotary part in bf16.
LATENT_SCALES = Constant(4 / 128, "byte", "a scale in fp32, for each of 128 values")
BYTE = Constant(1.0, "byte", "a value in 8 bits")
KEY_AND_VALUE = Constant(2.0, "1", "a key and a value for each head")


@rule("give --head-dim, or --d-model, which heads share")
def heads_have_a_width(head_dim: float, d_model: float, kv_lora_rank: float) -> bool:
    """Latent attention caches a vector that is as wide for any number of heads."""
    return (head_dim < inf) | (d_model < inf) | (kv_lora_rank > 0)


HEADS_RULES = (
    kv_heads_are_shared,
    window_kv_heads_are_shared,
    *TENSOR_RULES,
    heads_have_a_width,
)


@omission(
    "the cache comes in pages of 16 tokens, and the last one of a sequence is half empty ({size})",
    of="bytes",
)
def unfilled_pages(seq: float) -> float:
    """Half a page for each sequence on average."""
    return HALF_PAGE / seq


@omission(
    "values of 4 bits have scales beside them: with a scale and a zero in fp16 for each 32, as in "
    "KIVI, the cache is larger ({size})",
    of="bytes",
)
def scales_of_narrow_values(bytes_per_kv: float, bytes: float, state_bytes: float) -> float:
    """A bit more for each value; one scale a head or a tensor, as of fp8, is too small to count."""
    scaled = where(bytes_per_kv <= INT4, BLOCK_SCALES / bytes_per_kv, 0)
    return scaled * (1 - state_bytes / bytes)


@omission(
    "kernels of sparse attention keep the rotary part of a latent vector in bf16 and scales beside "
    "the rest, where all counts as fp8 ({size})",
    of="bytes",
)
def parts_of_a_latent_cache(
    sparse_layers: float,
    kv_lora_rank: float,
    qk_rope_head_dim: float,
    bytes_per_kv: float,
    seq: float,
    batch: float,
    bytes: float,
) -> float:
    """A rotary value is twice as wide as counted, and every 128 others share a scale."""
    more = kv_lora_rank * LATENT_SCALES + qk_rope_head_dim * BYTE
    in_fp8 = where(bytes_per_kv <= BYTE, where(bytes_per_kv > INT4, more, 0 * more), 0 * more)
    return sparse_layers * in_fp8 * seq * batch / bytes


@formula(
    "kv-cache",
    title="KV cache",
    question="How much memory do the keys and values of a context take?",
    outputs={
        "bytes": Output("byte", "M", "KV cache of all sequences together"),
        "bytes_per_token": Output("byte/token", "m", "one more token of a sequence of this length"),
        "bytes_per_chip": Output(
            "byte", r"M_\text{chip}", "what each of the chips that share the heads holds"
        ),
        "state_bytes": Output(
            "byte", "M_z", "recurrent states, and buffers of entries to come, in the bytes"
        ),
    },
    sources=(
        "shazeer2019fast",
        "ainslie2023gqa",
        "deepseek2024v2",
        "kwon2023efficient",
        "liu2024kivi",
        "li2025flashmla",
    ),
    parts=(
        *LAYER_PARTS,
        tensor_degree,
        kept_values,
    ),
    symbols=LAYER_SYMBOLS,
    omissions=(
        unfilled_pages,
        scales_of_narrow_values,
        parts_of_a_latent_cache,
        states_in_16_bits,
    ),
    asks=("model", "seq", "batch", "dtype"),
    examples=(
        {"model": "llama-3-70b", "seq": "8192"},
        {"model": "gemma-3-27b", "seq": "131072", "batch": "8"},
        {
            "layers": "32",
            "heads": "32",
            "kv-heads": "8",
            "head-dim": "128",
            "seq": "32768",
            "window": "4096",
        },
    ),
    rules=(*HEADS_RULES, *CACHE_RULES),
)
def kv_cache(
    kept: Step,
    kept_on_chip: Step,
    kept_state: Step,
    kept_state_on_chip: Step,
    growing: Step,
    batch: Batch = 1.0,
    bytes_per_kv: KvWidth = 2.0,
    bytes_per_state: StateBytes = 4.0,
) -> dict[str, Any]:
    """Bytes of the keys and values, and of recurrent states, that decoding reads for each token.

    Derivation:
        A layer with full attention keeps a key and a value of the head dimension for every token
        and every KV head. With as many KV heads as query heads this is multi-head attention, with
        fewer grouped-query, with one multi-query attention. Latent attention (MLA) keeps one
        compressed vector for all heads, and beside it the part of the key that carries the
        position. A layer with a sliding window or with chunked attention keeps no more tokens than
        the window or the chunk. Sparse attention selects among all tokens, so it keeps all of them,
        and a key of its indexer for each. Linear attention and state-space layers keep a state of
        fixed size, however long the sequence is. Layers that reuse the cache of another layer keep
        nothing.

        Chips that share the heads hold K/t of them each, but never less than one head; a latent
        vector and the keys of an indexer belong to all heads, so each chip holds all of them.

    Leaves out:
        - Pages that are not full. [unfilled_pages]
        - Scales of a quantised cache. [scales_of_narrow_values, parts_of_a_latent_cache]
        - Recurrent states in 16 bits. [states_in_16_bits]
        - Prefixes that sequences share, which are kept once. [no size: it depends on the traffic]
    """
    return {
        "bytes": batch * (kept * bytes_per_kv + kept_state * bytes_per_state),
        "bytes_per_token": growing * bytes_per_kv,
        "bytes_per_chip": batch
        * (kept_on_chip * bytes_per_kv + kept_state_on_chip * bytes_per_state),
        "state_bytes": batch * kept_state * bytes_per_state,
    }
