"""Number formats: how many bytes a value takes, and which format each tensor of a model has.

Widths of block formats include their shared scales: a scale of 8 bits for every 32 values in the MX
formats (darvish2023microscaling), for every 16 in nvfp4 (nvidia2025pretraining).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

# Bytes of a value in formats without a shared scale. Per-tensor and per-channel scales of int8 and
# fp8 come to less than a thousandth.
DTYPE_BYTES = {
    "fp64": 8.0,
    "fp32": 4.0,
    "tf32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "fp6": 0.75,
    "fp4": 0.5,
    "int4": 0.5,
}
# What PyTorch, JAX and llama.cpp call them.
SPELLINGS = {
    "float64": "fp64",
    "double": "fp64",
    "float32": "fp32",
    "float": "fp32",
    "f32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "f16": "fp16",
    "float8": "fp8",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
    "e4m3": "fp8",
    "e5m2": "fp8",
}
# Ways to quantise, by the format that comes nearest: their scales add a few percent to it.
QUANTISED = {
    "awq": "int4",
    "gptq": "int4",
    "w4a16": "int4",
    "nf4": "int4",
    "q4_k_m": "int4",
    "w8a8": "int8 or fp8",
    "q8_0": "int8",
}
# Bits of a value and the number of values that share a scale of 8 bits.
SCALE_BITS = 8
_BLOCKS = {"mxfp8": (8, 32), "mxfp6": (6, 32), "mxfp4": (4, 32), "nvfp4": (4, 16)}
BLOCK_DTYPES = tuple(_BLOCKS)
# Bytes of a value in every format, its share of the scale included.
WIDTHS = DTYPE_BYTES | {
    name: (bits + SCALE_BITS / values) / 8 for name, (bits, values) in _BLOCKS.items()
}


class Formats(NamedTuple):
    """The number format of each tensor of a model.

    `trained` is how training stores weights, whatever format its matrix products read; `compute` is
    the format whose peak rate the products run at; `dispatch` is what tokens have on their way to
    an expert.
    """

    weight: str
    trained: str
    compute: str
    kv: str
    activation: str
    grad: str
    optimizer: str
    dispatch: str


def _all(name: str, optimizer: str = "fp32", compute: str = "") -> Formats:
    """One format throughout, but for the state of the optimizer and what multiplies."""
    return Formats(name, name, compute or name, name, name, name, optimizer, name)


def _weights_only(name: str) -> Formats:
    """Weights alone are narrow: they are widened to bf16 on the chip before they multiply."""
    return _all("bf16")._replace(weight=name)


def _products(name: str, kv: str = "fp8", dispatch: str = "fp8") -> Formats:
    """Weights and operands of products are narrow; training stores bf16 and casts."""
    return _all("bf16")._replace(weight=name, compute=name, kv=kv, dispatch=dispatch)


# What `--dtype` means for each tensor. The page on number formats prints this table.
RULES: dict[str, Formats] = {
    "fp64": _all("fp64", optimizer="fp64"),
    "fp32": _all("fp32"),
    "tf32": _all("fp32", compute="tf32"),
    "bf16": _all("bf16"),
    "fp16": _all("fp16"),
    "fp8": _products("fp8"),
    "mxfp8": _products("mxfp8"),
    "int8": _products("int8", kv="int8", dispatch="bf16"),
    "fp6": _products("fp6"),
    "mxfp6": _products("mxfp6"),
    "fp4": _products("fp4"),
    "nvfp4": _products("nvfp4"),
    "int4": _weights_only("int4"),
    "mxfp4": _weights_only("mxfp4"),
}
# Which peak of a chip a format runs at, where its own is not published under that name.
STANDS_FOR = {"nvfp4": "fp4", "mxfp4": "fp4", "mxfp6": "fp6", "mxfp8": "fp8"}
# What `Input(dtype=...)` may name beside the tensors: the format of `--dtype` itself.
ASKED = "asked"
# The options that override the rule, and the tensors that each sets.
OPTIONS: dict[str, tuple[str, ...]] = {
    "weight_dtype": ("weight", "trained"),
    "compute_dtype": ("compute",),
    "kv_dtype": ("kv",),
    "activation_dtype": ("activation",),
    "grad_dtype": ("grad",),
    "optimizer_dtype": ("optimizer",),
    "dispatch_dtype": ("dispatch",),
}


def formats(dtype: str, given: Mapping[str, str]) -> Formats:
    """The format of each tensor: by the rule of `dtype`, then as the options in `given` say."""
    chosen = {
        tensor: given[option]
        for option, tensors in OPTIONS.items()
        if option in given
        for tensor in tensors
    }
    return RULES[dtype]._replace(**chosen)


def format_options(tensors: Collection[str]) -> tuple[str, ...]:
    """The options that set one of these tensors."""
    return tuple(
        name for name, sets in OPTIONS.items() if any(tensor in tensors for tensor in sets)
    )
