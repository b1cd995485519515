"""Forms whose inputs are texts in a notation: states of them, and how they keep several values."""

from __future__ import annotations

from typing import Any

STATES: dict[str, list[dict[str, str]]] = {
    "shard": [
        {"array": "fp32[1024,64,96]", "layout": "W[E_X, D, F_{YZ}]", "mesh": "X=2,Y=4,Z=3"},
        {"array": "bf16[8192,8192]", "layout": "C[I_Y, K] {U_X}", "mesh": "X=4,Y=2"},
    ],
    "sharded-matmul": [
        {
            "product": "A[I_X, J_Y] * B[J_Y, K] -> C[I_X, K_Y]",
            "dims": "I=4096,J=8192,K=1k",
            "mesh": "X=4,Y=2",
            "chip": "google/tpu-v5e",
        },
        {
            "product": "A[I, J_X] * B[J, K] -> C[I, K]",
            "dims": "I=4096,J=8192,K=1024",
            "mesh": "X=16",
            "chip": "nvidia/h100-sxm",
            "dtype": "fp8",
        },
        {
            "product": "A[I, J_XY] * B[J_XY, K] -> C[I, K]",
            "dims": "I=64,J=64,K=64",
            "mesh": "X=4,Y=4",
            "link-bandwidth": "50GB/s",
            "wrap": "no",
        },
        {
            "product": "A[I, J_X] * B[J_X, K] -> C[I, K]",
            "dims": "I=64,J=64,K=64",
            "mesh": "X=8",
            "chip": "amd/mi300x",
        },
        {  # a link that is typed is no longer one of seven, but the port
            "product": "A[I, J_X] * B[J_X, K] -> C[I, K]",
            "dims": "I=64,J=64,K=64",
            "mesh": "X=8",
            "chip": "amd/mi300x",
            "link-bandwidth": "448GB/s",
        },
        {"product": "A[I,J] * B[J,K] -> C[I,K]", "dims": "I=8,J=8,K=8", "mesh": "X=1"},
    ],
    "roofline": [
        {"chip": "nvidia/h100-sxm"},
        {"chip": "amd/mi300x", "dtype": "fp8", "kernels": "gemm 512x512x512, dot 1e6"},
        {
            "roofs": "mine: fp8 1PFLOP/s, bf16 500TFLOP/s, memory 2TB/s, cache 10TB/s",
            "kernels": "point 120, gemm 4096x4096x4096 rate=800TFLOP/s",
        },
    ],
}


def joined(value: Any) -> Any:
    """Several values as the form keeps them beside those that it shows."""
    if not isinstance(value, tuple):
        return value
    return "; ".join(one if isinstance(one, str) else _written(one) for one in value) or None


def _written(number: float | None) -> str:
    """A number as JavaScript writes it."""
    return "" if number is None else repr(number).removesuffix(".0")


def is_told(value: Any) -> bool:
    """Whether a form has a place for an output: not for a column without any value."""
    return not (isinstance(value, tuple) and set(value) == {None})
