"""Growth by a constant factor.

The rate, its error and its scatter obey what statistics says of them.
"""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.website.pages.growth import POINTS, YEARS, fitted

RATES = st.floats(min_value=-0.9, max_value=0.9).filter(lambda rate: abs(rate) > 1e-3)


def line(rate: float, count: int = 12, start: float = 5.0) -> list[tuple[float, float]]:
    return [(2012.0 + year, start * math.exp(rate * year)) for year in range(count)]


def noisy(rate: float, sigma: float, count: int, seed: int) -> list[tuple[float, float]]:
    source = random.Random(seed)
    return [
        (2015 + 10 * n / count, math.exp(rate * 10 * n / count + source.gauss(0, sigma)))
        for n in range(count)
    ]


@given(RATES)
def test_points_on_a_line_have_its_rate_and_no_scatter(rate: float) -> None:
    fit = fitted(line(rate))
    assert fit is not None and fit.count == 12
    assert fit.factor == pytest.approx(math.exp(rate), rel=1e-9)
    assert fit.error == pytest.approx(0, abs=1e-6) and fit.scatter == pytest.approx(1, abs=1e-5)
    assert fit.start * fit.factor**12 == pytest.approx(5.0, rel=1e-6)


@given(RATES, st.floats(min_value=0.01, max_value=1e12))
def test_units_do_not_matter(rate: float, scale: float) -> None:
    """Another unit moves the line up or down, and changes neither rate nor error."""
    places = noisy(rate, 0.4, 30, 7)
    plain, scaled = fitted(places), fitted([(year, value * scale) for year, value in places])
    assert plain is not None and scaled is not None
    assert scaled.factor == pytest.approx(plain.factor) and scaled.error == pytest.approx(
        plain.error
    )
    assert scaled.start == pytest.approx(plain.start * scale) and scaled.scatter == pytest.approx(
        plain.scatter
    )


@given(st.floats(min_value=0.05, max_value=0.9), st.integers(min_value=0, max_value=50))
def test_the_band_lies_around_the_doubling(rate: float, seed: int) -> None:
    fit = fitted(noisy(rate, 0.3, 40, seed))
    assert fit is not None
    assert 0 < fit.fast < fit.doubling < fit.slow or fit.doubling == math.inf


def test_the_band_holds_the_truth_about_as_often_as_it_should() -> None:
    """Two standard errors: in about 95 of 100 samples with known rate and scatter."""
    rate = math.log(2) / 2
    held = 0
    for seed in range(300):
        fit = fitted(noisy(rate, 0.5, 30, seed))
        assert fit is not None
        held += fit.fast <= 2 <= fit.slow
    assert 270 <= held <= 298


def test_scatter_is_that_of_the_points() -> None:
    """With many points, the factor is that of one standard deviation."""
    fit = fitted(noisy(0.3, 0.6, 4000, 1))
    assert fit is not None and fit.scatter == pytest.approx(math.exp(0.6), rel=0.03)


def test_more_points_make_the_band_narrower_and_not_the_scatter() -> None:
    few, many = fitted(noisy(0.3, 0.5, 20, 3)), fitted(noisy(0.3, 0.5, 2000, 3))
    assert few is not None and many is not None
    assert many.error < few.error / 5 and many.scatter == pytest.approx(few.scatter, rel=0.3)


def test_what_does_not_grow_never_doubles() -> None:
    flat, down = fitted(line(0.0)), fitted(line(-0.2))
    assert flat is not None and down is not None
    assert flat.doubling > 1e6 and down.doubling == math.inf and down.slow == math.inf


def test_too_few_points_or_years_have_no_growth() -> None:
    assert fitted([]) is None and fitted(line(0.5, POINTS - 1)) is None
    assert fitted(line(0.5, POINTS)) is not None
    assert fitted([(2020 + n * (YEARS - 0.1) / 20, 2.0) for n in range(21)]) is None
