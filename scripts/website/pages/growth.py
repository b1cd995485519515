"""Growth by a constant factor each year: a least-squares line through logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Fewer points, or points closer together, say nothing of a growth by the year.
POINTS, YEARS = 8, 4.0


@dataclass(frozen=True, slots=True)
class Growth:
    """A fitted growth: the yearly factor and the value at the year 2000.

    Further: the standard error of the rate's logarithm, the scatter as a factor, and the number of
    points.
    """

    factor: float
    start: float
    error: float
    scatter: float
    count: int

    @property
    def doubling(self) -> float:
        """Years to double; infinite where nothing grows."""
        return _years(math.log(self.factor))

    @property
    def fast(self) -> float:
        """The shortest doubling, in years, within two standard errors of the rate."""
        return _years(math.log(self.factor) + 2 * self.error)

    @property
    def slow(self) -> float:
        """The longest one; infinite where standing still is within two standard errors."""
        return _years(math.log(self.factor) - 2 * self.error)


def _years(rate: float) -> float:
    # What shrinks or stands still never doubles.
    return math.log(2) / rate if rate > 0 else math.inf


def fitted(places: Sequence[tuple[float, float]]) -> Growth | None:
    """The growth of (year, value) points; None for too few points or too short a span."""
    # Around the year 2000 the intercept is a value of our time, not one of the year 0.
    years = [year - 2000 for year, _ in places]
    if len(places) < POINTS or max(years) - min(years) < YEARS:
        return None
    logs = [math.log(value) for _, value in places]
    mean_year, mean_log = sum(years) / len(years), sum(logs) / len(logs)
    from_mean = [(x - mean_year, y - mean_log) for x, y in zip(years, logs, strict=True)]
    spread = sum(x**2 for x, _ in from_mean)
    slope = sum(x * y for x, y in from_mean) / spread
    residual = sum((y - slope * x) ** 2 for x, y in from_mean)
    # Two parameters were fitted, slope and intercept.
    sigma = math.sqrt(residual / (len(places) - 2))
    return Growth(
        math.exp(slope),
        math.exp(mean_log - slope * mean_year),
        sigma / math.sqrt(spread),
        math.exp(sigma),
        len(places),
    )
