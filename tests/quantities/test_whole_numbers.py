"""Divisors, beside trying every number."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flopbook.quantities.whole_numbers import divisors


@given(st.integers(1, 5000))
def test_divisors_are_those_found_by_trying_all(number: int) -> None:
    assert divisors(number) == [n for n in range(1, number + 1) if number % n == 0]


def test_a_large_number_takes_its_root_in_steps() -> None:
    assert divisors(2**30) == [2**power for power in range(31)]
