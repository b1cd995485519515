"""A computed number of prose.

It counts like a float, prints with its unit, and leads to where it comes from.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.quantities.units import format_quantity
from scripts.website.pages.number import Number
from scripts.website.pages.prose import ProseError, render

VALUES = st.floats(min_value=1e-6, max_value=1e18)


@given(VALUES, st.sampled_from(["FLOP/s", "byte", "byte/s", "W", "1"]))
def test_it_counts_like_a_float_and_prints_its_unit(value: float, unit: str) -> None:
    number = Number(value, unit)
    assert number == value and number * 2 == value * 2 and float(number) == value
    assert str(number).replace("\u00a0", " ") == format_quantity(value, unit) and " " not in str(
        number
    )


def test_a_unit_does_not_begin_a_line() -> None:
    """It stands after a space that does not break; in a link the style sheet sees to that."""
    assert str(Number(1.678e7, "token")) == "16.78\u00a0million\u00a0tokens"


def test_it_leads_to_where_it_comes_from() -> None:
    """The text of the link is escaped, and an address of another scheme is dropped."""
    assert str(Number(8e10, "byte", "../chip/")) == '<a href="../chip/" class="fb-num">80 GB</a>'
    assert str(Number(8e10, "byte", "javascript:alert(1)")) == "80 GB"


def test_what_is_computed_of_it_must_say_its_unit() -> None:
    """A ratio of two numbers has lost its unit, and prose refuses it until it says one."""
    text = '{{ (chip("h200-sxm").memory() / chip("h100-sxm").memory()) %s }}'
    with pytest.raises(ProseError, match="without unit"):
        render(text % "", "a.md", "a.md")
    assert render(text % '| round(2) | unit("1")', "a.md", "a.md") == "1.76"
