"""Number formats: how many bytes one value takes."""

from __future__ import annotations

# Bytes of one value in each number format; block formats carry a shared scale beside their values.
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
BLOCK_DTYPES = ("mxfp8", "mxfp6", "mxfp4", "nvfp4")
