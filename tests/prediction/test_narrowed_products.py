"""A layer of an engine narrows its input before the product, inside what is timed."""

from __future__ import annotations

import pytest

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.prediction.fits import predicted
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.models import Case
from flopbook.prediction.rates import MATMUL, MatrixProduct, read_product

SHAPE = "4096x8192x2048"


def _product(
    precision: str, software: str, shape: str = "matmul_shape_mxnxk", chip: str = "B200-SXM"
) -> MatrixProduct:
    row = MeasuredRun("one", "matmul_peak", "acme", "Table 1", {"matmul_tflops_per_s": 100})
    run = {"precision": precision, shape: SHAPE, "software": software}
    product = read_product(
        row._replace(hardware={"chip": chip}, run=run), RunSource("acme2026")
    ).inputs
    assert isinstance(product, MatrixProduct)
    return product


def _seconds(product: MatrixProduct) -> float:
    p = fitted_kinds()["matmul_peak"].parameters
    row = MeasuredRun("one", "matmul_peak", "acme", "Table 1", {})
    first, second, third = product.sides
    rate = float(predicted(MATMUL, [Case(row, product, 1.0)], p)[0])
    assert 0 < rate < product.peak
    return 2 * first * second * third / rate


@pytest.mark.parametrize("precision", ["fp8", "nvfp4"])
def test_an_engine_narrows_the_input_and_a_library_does_not(precision: str) -> None:
    assert _product(precision, "vLLM 0.24.0").narrowed == 4096 * 2048
    assert _product(precision, "cuBLASLt, CUDA 12.6").narrowed == 0
    assert _product("bf16", "vLLM 0.24.0").narrowed == 0


def test_the_input_is_known_by_the_order_of_the_sides() -> None:
    assert _product("fp8", "vLLM 0.24.0", "matmul_shape_mxkxn").narrowed == 4096 * 8192


@pytest.mark.parametrize("precision", ["fp8", "nvfp4"])
def test_narrowing_takes_no_less_than_its_bytes(precision: str) -> None:
    """Two bytes of each value are read and the narrow ones written, before the product starts."""
    product = _product(precision, "vLLM 0.24.0")
    least = product.narrowed * (2 + product.width) / product.memory_bandwidth
    assert _seconds(product) - _seconds(product._replace(narrowed=0.0)) >= least


def test_more_values_to_narrow_take_longer() -> None:
    product = _product("fp8", "vLLM 0.24.0")
    times = [_seconds(product._replace(narrowed=values)) for values in (0.0, 1e6, 1e7, 1e8)]
    assert times == sorted(set(times))


def test_integers_run_at_the_rate_of_integers() -> None:
    """Blackwell Ultra multiplies int8 at a small part of its rate of fp8."""
    assert _product("int8", "", chip="B300-SXM").peak == pytest.approx(153.5e12, rel=0.05)
    assert _product("fp8", "", chip="B300-SXM").peak == pytest.approx(4500e12, rel=0.05)
