"""The listings of the chapter on kernels compute what it says, and move as much as it says.

Those in NumPy are run as they are printed. Those in Triton and Pallas are run on stand-ins with the
same names, one program after the other: they show that index, mask and block are right, and nothing
about speed.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flopbook.formulas import tile_traffic
from flopbook.quantities.units import percent
from scripts.website.figures import grouped_tiles

CHAPTER = Path(__file__).resolve().parents[2] / "docs" / "handbook" / "kernels.md"
LISTINGS = re.findall(r"```python\n(.*?)```", CHAPTER.read_text(encoding="utf-8"), re.S)


def run(mark: str, **names: Any) -> dict[str, Any]:
    """The names that a listing defines, and those it was given."""
    (listing,) = (text for text in LISTINGS if mark in text)
    found = {"np": np, **names}
    exec(compile(listing, str(CHAPTER), "exec"), found)
    return found


class Pointer:
    """The address of an array's first element; sums with numbers are addresses, too."""

    def __init__(self, array: np.ndarray, offsets: Any = 0) -> None:
        self.array, self.offsets = array, offsets

    def __add__(self, more: Any) -> Pointer:
        return Pointer(self.array, self.offsets + more)


class Triton:
    """What the listing calls of Triton, on arrays: programs of a grid run one after the other."""

    def __init__(self) -> None:
        self.program = 0
        self.tl = SimpleNamespace(
            constexpr=int,
            program_id=lambda axis: self.program,
            arange=np.arange,
            load=self.load,
            store=self.store,
            maximum=np.maximum,
        )

    def load(self, pointer: Pointer, mask: np.ndarray) -> np.ndarray:
        values = np.full(pointer.offsets.shape, np.nan)
        values[mask] = pointer.array[pointer.offsets[mask]]
        return values

    def store(self, pointer: Pointer, values: np.ndarray, mask: np.ndarray) -> None:
        pointer.array[pointer.offsets[mask]] = values[mask]

    @staticmethod
    def cdiv(a: int, b: int) -> int:
        return -(-a // b)

    def jit(self, function: Any) -> Any:
        def over(grid: tuple[int, ...]) -> Any:
            def start(*given: Any, **named: Any) -> None:
                pointers = [
                    Pointer(item) if isinstance(item, np.ndarray) else item for item in given
                ]
                for self.program in range(grid[0]):
                    function(*pointers, **named)

            return start

        return type("Kernel", (), {"__getitem__": lambda _, grid: over(grid)})()


def pallas() -> SimpleNamespace:
    """What the listing calls of Pallas.

    Blocks are cut out with padding, and what sticks out is thrown away.
    """

    def call(kernel: Any, grid: Any, in_specs: Any, out_specs: Any, out_shape: Any) -> Any:
        def start(*inputs: np.ndarray) -> np.ndarray:
            size, room = out_specs.shape[0], grid[0] * out_specs.shape[0]
            padded = [
                np.pad(item, (0, room - len(item)), constant_values=np.nan) for item in inputs
            ]
            result = np.full(room, np.nan)
            for step in range(grid[0]):
                places = [
                    slice(spec.index(step)[0] * size, (spec.index(step)[0] + 1) * size)
                    for spec in in_specs
                ]
                block = np.empty(size)
                kernel(*(item[place] for item, place in zip(padded, places, strict=True)), block)
                result[out_specs.index(step)[0] * size :][:size] = block
            return result[: out_shape.shape[0]]

        return start

    spec = lambda shape, index: SimpleNamespace(shape=shape, index=index)  # noqa: E731
    return SimpleNamespace(BlockSpec=spec, pallas_call=call, cdiv=Triton.cdiv)


@pytest.mark.parametrize(("side", "tile"), [(16, 4), (24, 8), (12, 12), (8, 1)])
def test_the_tiled_product_is_right_and_moves_what_the_formula_says(side: int, tile: int) -> None:
    rng = np.random.default_rng(side)
    a, b = rng.normal(size=(side, side)), rng.normal(size=(side, side))
    product, moved = run("def tiled_product")["tiled_product"](a, b, tile)
    assert product == pytest.approx(a @ b)
    said = tile_traffic(m=side, n=side, k=side, tile=tile)["bytes"]
    assert 2 * moved == said == 2 * (2 * side**3 / tile + side**2)


@pytest.mark.parametrize("block", [1, 3, 16, 50])
@pytest.mark.parametrize("size", [1.0, 1000.0], ids=["small", "large scores"])
def test_fused_attention_is_exact(block: int, size: float) -> None:
    """Against all scores at once.

    Scores of thousands do not overflow, in whatever blocks they come.
    """
    rng = np.random.default_rng(block)
    q, k, v = (rng.normal(size=shape) for shape in ((5, 8), (16, 8), (16, 3)))
    scores = size * q @ k.T / np.sqrt(8)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights / weights.sum(axis=1, keepdims=True) @ v
    assert run("def fused_attention")["fused_attention"](size * q, k, v, block) == pytest.approx(
        expected
    )


@pytest.mark.parametrize("n", [1, 1000, 1024, 2500])
def test_triton_and_pallas_treat_the_end_of_the_array(n: int) -> None:
    rng = np.random.default_rng(n)
    x, b, y = rng.normal(size=n), rng.normal(size=n), np.full(n, np.nan)
    triton = Triton()
    run("def scaled(x, b, a, y, n", triton=triton, tl=triton.tl, x=x, b=b, y=y, n=n)
    jax = SimpleNamespace(
        ShapeDtypeStruct=lambda shape, dtype: SimpleNamespace(shape=shape, dtype=dtype)
    )
    other = run("BlockSpec", pl=pallas(), jnp=np, jax=jax, x=x, b=b, n=n)["y"]
    assert y == pytest.approx(np.maximum(2 * x + b, 0)) and other == pytest.approx(y)


def test_every_listing_in_python_is_run() -> None:
    """Seven of them, each by its own mark: a product and its numbering have tests of their own."""
    marks = (
        *("def tiled_product", "def fused_attention", "def product", "BlockSpec", "pid, band"),
        "def scaled(x, b, a, y, n",
        "popularity",
    )
    assert [sum(mark in text for text in LISTINGS) for mark in marks] == [1] * len(marks)
    assert len(LISTINGS) == len(marks)


def test_a_grouped_kernel_fills_waves_that_single_ones_leave_empty() -> None:
    """The listing checks its shares; those of the picture are counted once more here."""
    found = run("popularity", np=np)
    assert all(together > alone for alone, together in found["shares"].values())
    alone, together = (grouped_tiles.waves(grouped) for grouped in (False, True))
    assert (len(alone), len(together)) == (6, 3)
    rows, room = sum(grouped_tiles.ROWS), 8 * 128
    assert grouped_tiles.useful(alone) == pytest.approx(2 * rows / (6 * room))
    assert grouped_tiles.useful(together) == pytest.approx(2 * rows / (3 * room))
    assert f"{percent(grouped_tiles.useful(together))} useful" in grouped_tiles.figure().title
