"""Chips of little power for their peak lower their clock under matrix products."""

from __future__ import annotations

import pytest

from flopbook.prediction.fits import predicted
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.machines import AMPLE, machine
from flopbook.prediction.models import Case
from flopbook.prediction.rates import MATMUL, MatrixProduct
from flopbook.prediction.serving_parts import product_rate, sharing_seconds
from tests.support.training_rows import row


def test_power_is_over_that_of_an_h100() -> None:
    """700 W for 989.4 TFLOP/s; an A100 has 400 W for 312, a B200 1,000 W for 2,250."""
    power = {name: machine(name).power for name in ("h100-sxm", "a100-sxm-80gb", "b200")}
    assert power["h100-sxm"] == pytest.approx(1, abs=0.02)
    assert power["a100-sxm-80gb"] == pytest.approx(400 / 312 / 0.7, rel=1e-3)
    assert power["b200"] == pytest.approx(1000 / 2250 / 0.7, rel=1e-3)


def test_more_power_than_a_chip_can_use_makes_it_no_faster() -> None:
    assert machine("rtx-4090").power == machine("v100-sxm2").power == AMPLE


def test_a_chip_without_a_figure_is_like_an_h100() -> None:
    assert machine("trainium1").power == 1


def test_large_products_are_faster_with_more_power() -> None:
    p = fitted_kinds()["matmul_peak"].parameters
    weak, strong = (
        MatrixProduct("hopper", 1e15, (16384.0,) * 3, 2.0, 3e12, False, False, power)
        for power in (0.6, 1.8)
    )
    rates = predicted(MATMUL, [Case(row(), product, 1.0) for product in (weak, strong)], p)
    assert 1 < rates[1] / rates[0] <= 3 ** p["power"]


def test_prompts_are_faster_with_more_power() -> None:
    p = fitted_kinds()["inference"].parameters
    weak, strong = (product_rate(1e15, machine(name), 0.5, p) for name in ("b200", "a100-sxm"))
    assert weak < strong


@pytest.mark.parametrize("reading", [0.0, 0.5, 1.0, 4.0])
def test_reading_hides_behind_arithmetic_in_part(reading: float) -> None:
    p = fitted_kinds()["inference"].parameters
    seconds = sharing_seconds(reading, 1.0, p)
    assert max(reading, 1.0) <= seconds <= reading + 1.0
