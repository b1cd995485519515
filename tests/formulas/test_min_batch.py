"""Minimum batch: the roofline inequality, by closed form and by brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.formulas import min_batch

peaks = st.floats(min_value=1e12, max_value=1e16)
bandwidths = st.floats(min_value=1e11, max_value=1e14)
widths = st.integers(min_value=1, max_value=100_000)


def busy(batch: Fraction, d: int, f: int, peak: float, bandwidth: float, width: float) -> bool:
    """Arithmetic takes at least as long as memory, counted matrix by matrix in exact fractions."""
    flop = 2 * batch * d * f
    activations, weights, result = batch * d, d * f, batch * f
    moved = Fraction(width) * (activations + weights + result)
    return flop / Fraction(peak) >= moved / Fraction(bandwidth)


@given(peaks, bandwidths, widths, widths, st.sampled_from([4.0, 2.0, 1.0, 0.5]))
def test_exact_is_where_the_roofline_inequality_begins_to_hold(
    peak: float, bandwidth: float, d: int, f: int, width: float
) -> None:
    exact = min_batch(peak=peak, bandwidth=bandwidth, d_model=d, d_ff=f, bytes_per_param=width)[
        "tokens_exact"
    ]
    chip = (peak, bandwidth, width)
    if math.isinf(exact):
        assert not busy(Fraction(10**9), d, f, *chip)
        return
    slack = 1 - (width * peak / bandwidth / 2) * (1 / d + 1 / f)
    if slack > 1e-6:  # nearer to zero the double itself has few digits left
        step = Fraction(1, 10**8)
        assert busy(Fraction(exact) * (1 + step), d, f, *chip)
        assert not busy(Fraction(exact) * (1 - step), d, f, *chip)


@pytest.mark.parametrize(("d", "f"), [(64, 64), (64, 4096), (100, 300), (30, 31)])
@pytest.mark.parametrize("ridge", [3.0, 11.5, 20.0])
def test_the_smallest_whole_batch_by_search(d: int, f: int, ridge: float) -> None:
    """Counting up from one token finds the same batch as the formula."""
    bandwidth = 1e12
    exact = min_batch(peak=ridge * bandwidth, bandwidth=bandwidth, d_model=d, d_ff=f)[
        "tokens_exact"
    ]
    limit = 5000
    found = next(
        (n for n in range(1, limit) if busy(Fraction(n), d, f, ridge * bandwidth, bandwidth, 2.0)),
        None,
    )
    assert found == (math.ceil(exact - 1e-9) if exact < limit else None)


@given(peaks, bandwidths, widths, widths)
def test_exact_is_never_below_the_approximation(
    peak: float, bandwidth: float, d: int, f: int
) -> None:
    out = min_batch(peak=peak, bandwidth=bandwidth, d_model=d, d_ff=f)
    assert out["tokens_exact"] >= out["tokens"]


def test_exact_falls_to_the_approximation_as_the_matrix_grows() -> None:
    series = [
        min_batch(peak=1e15, bandwidth=4e12, d_model=2**n, d_ff=2 ** (n + 2)) for n in range(9, 28)
    ]
    exact = [out["tokens_exact"] for out in series]
    assert exact == sorted(exact, reverse=True)
    assert exact[-1] == pytest.approx(series[-1]["tokens"], rel=1e-5)
    assert min_batch(peak=1e15, bandwidth=4e12)["tokens_exact"] == 250.0


@given(peaks, bandwidths, st.floats(min_value=0.01, max_value=100))
def test_scaling_laws(peak: float, bandwidth: float, factor: float) -> None:
    base = min_batch(peak=peak, bandwidth=bandwidth)
    near = {"rel": 1e-12}
    assert min_batch(peak=factor * peak, bandwidth=bandwidth)["tokens"] == pytest.approx(
        factor * base["tokens"], **near
    )
    assert min_batch(peak=peak, bandwidth=factor * bandwidth)["tokens"] == pytest.approx(
        base["tokens"] / factor, **near
    )
    halved = min_batch(peak=peak, bandwidth=bandwidth, bytes_per_param=1.0)
    assert (
        halved["tokens"] == base["tokens"] / 2 and halved["flop_per_byte"] == base["flop_per_byte"]
    )


@given(peaks, bandwidths, widths, widths)
def test_inner_and_outer_width_are_alike(peak: float, bandwidth: float, d: int, f: int) -> None:
    one = min_batch(peak=peak, bandwidth=bandwidth, d_model=d, d_ff=f)["tokens_exact"]
    other = min_batch(peak=peak, bandwidth=bandwidth, d_model=f, d_ff=d)["tokens_exact"]
    assert one == pytest.approx(other, rel=1e-6) or math.isinf(one) or math.isinf(other)


def test_no_batch_is_enough_from_the_edge_on() -> None:
    """250 tokens and D = F = 500: the activations alone take as long as the arithmetic."""

    def at(width: int) -> float:
        return min_batch(peak=1e15, bandwidth=4e12, d_model=width, d_ff=width)["tokens_exact"]

    assert at(499) == at(500) == math.inf
    assert at(501) == pytest.approx(250 * 501, rel=1e-9)


def test_h100_from_its_printed_rates() -> None:
    """295 tokens: 989.4 TFLOP/s (nvidia2022hopper) over 3.35 TB/s (nvidia2026h100).

    Claim slides-h100-min-batch.

    With the sparse peak of 1,979 TFLOP/s one gets the 591 of the slides.
    """
    assert min_batch(peak=989.4e12, bandwidth=3.35e12)["tokens"] == pytest.approx(295.3, rel=2e-4)
    assert min_batch(peak=1979e12, bandwidth=3.35e12)["tokens"] == pytest.approx(590.746, rel=1e-6)


def test_arrays_equal_floats_with_and_without_an_answer() -> None:
    d = np.array([1.0, 64.0, 500.0, 501.0, 8192.0])
    out = min_batch(peak=1e15, bandwidth=4e12, d_model=d, d_ff=d)
    for i, width in enumerate(d):
        single = min_batch(peak=1e15, bandwidth=4e12, d_model=float(width), d_ff=float(width))
        assert out["tokens_exact"][i] == single["tokens_exact"]
    peaks_ = np.logspace(13, 16, 5)
    assert min_batch(peak=peaks_, bandwidth=4e12)["tokens"].tolist() == [
        min_batch(peak=float(p), bandwidth=4e12)["tokens"] for p in peaks_
    ]


def test_no_warning_from_arrays_with_no_answer() -> None:
    with np.errstate(all="raise"):
        min_batch(
            peak=1e15, bandwidth=4e12, d_model=np.array([1.0, 1000.0]), d_ff=np.array([1.0, 1000.0])
        )


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"d_model": 8192.5}, "d_model is 8192.5, expected a whole number"),
        ({"d_model": 0}, "d_model is 0, expected at least 1"),
        ({"d_ff": np.array([64.0, 64.5])}, "expected a whole number"),
        ({"bytes_per_param": 0}, "bytes_per_param is 0, expected at least 0.01"),
        ({"bandwidth": -1}, "bandwidth is -1, expected more than 0"),
        ({"bandwidth": 1e-320}, "not a plausible size"),
    ],
)
def test_refused_values_say_what_was_expected(given_: dict[str, object], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        min_batch(**{"peak": 1e15, "bandwidth": 4e12, **given_})


def test_an_explicit_infinity_is_the_default() -> None:
    assert min_batch(peak=1e15, bandwidth=4e12, d_model=math.inf, d_ff=math.inf) == min_batch(
        peak=1e15, bandwidth=4e12
    )
