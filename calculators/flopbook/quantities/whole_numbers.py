"""Whole numbers: what divides them."""

from __future__ import annotations

import math


def divisors(number: int) -> list[int]:
    """All whole numbers that divide one of at least 1, the smallest first."""
    small = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return sorted({*small, *(number // n for n in small)})
