"""An SM beside a TensorCore: what stands in a core, times its clock and the cores, is the chip."""

from __future__ import annotations

import pytest

from flopbook.hardware.chip import chip
from scripts.website.figures.sm_core import GPU, TPU, CoreNumbers, figure, rows, sm, tensor_core
from tests.support.cases import every

CORES = ((GPU, sm(), 1.83e9), (TPU, tensor_core(), 1.75e9))  # with the clocks of their peaks


@every("name, core, clock", CORES)
def test_cores_and_clock_make_the_printed_peak(name: str, core: CoreNumbers, clock: float) -> None:
    assert core.matmul * clock == pytest.approx(core.peak, rel=1e-3)
    assert core.peak * core.on_chip == pytest.approx(chip(name).peak("bf16"))
    assert core.share * core.on_chip == pytest.approx(chip(name).memory_bandwidth())


def test_lanes_make_the_printed_vector_peak() -> None:
    """Of the GPU, which prints one: a lane adds and multiplies in a cycle of the higher clock."""
    assert sm().vector * sm().on_chip * 1.98e9 == pytest.approx(66.9e12, rel=1e-3)


def test_what_is_not_a_matmul_is_compared_in_operations() -> None:
    """128 lanes do two operations each, 4,096 ALUs one: 16 times as many, where lanes said 32."""
    assert (sm().vector, tensor_core().vector) == (256, 4096)
    assert tensor_core().vector * tensor_core().on_chip * 1.75e9 == pytest.approx(
        14.34e12, rel=1e-3
    )
    assert ("outside matmuls, fp32", "256", "4,096") in rows()
    drawn = "".join(figure().parts)
    assert "8 × 128 lanes of 4 ALUs" in drawn and "4,096 lanes" not in drawn


def test_the_title_has_the_ratios_of_the_table() -> None:
    multiplied = round(tensor_core().peak / sm().peak)
    assert 64 * 2**10 // 228 == round(tensor_core().memory / sm().memory) == 287
    assert f"like {multiplied} SMs" in figure().title and figure().title.endswith("of 287")
    assert [len({left, right}) for _, left, right in rows()] == [2] * len(rows())
