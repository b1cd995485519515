"""The product in Triton computes what NumPy does, on stand-ins: tiles, masks and numbering hold."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.website.test_handbook_kernels import Pointer, Triton, run


class Tiled(Triton):
    """What a product calls besides: zeros, dot, and loads of two dimensions with a filler."""

    def __init__(self) -> None:
        super().__init__()
        more = {"cdiv": self.cdiv, "zeros": np.zeros, "dot": self.dot, "float32": np.float32}
        self.tl = SimpleNamespace(**vars(self.tl), **more)
        self.tl.load = self.filled

    @staticmethod
    def dot(left: np.ndarray, right: np.ndarray, sums: np.ndarray) -> np.ndarray:
        return np.asarray(sums + left @ right)

    @staticmethod
    def filled(pointer: Pointer, mask: np.ndarray, other: float) -> np.ndarray:
        values = np.full(mask.shape, other)
        values[mask] = pointer.array[pointer.offsets[mask]]
        return values


@pytest.mark.parametrize(("m", "n", "k"), [(128, 128, 64), (130, 70, 100), (1, 300, 65)])
def test_the_product_in_triton_is_right_at_the_edges(m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(m)
    a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    result = np.full(m * n, np.nan)
    sizes: dict[str, Any] = {"m": m, "n": n, "k": k}
    triton = Tiled()
    names = {"triton": triton, "tl": triton.tl, "a": a.ravel(), "b": b.ravel(), "c": result}
    run("def product", **names, **sizes)
    assert result.reshape(m, n) == pytest.approx(a @ b, abs=1e-4)
