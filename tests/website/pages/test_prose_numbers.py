"""A computed number of prose.

It counts like a float, prints with its unit, and leads to where it comes from.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.quantities.units import format_quantity
from scripts.website.pages.number import Number, about
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


@given(VALUES, st.sampled_from(["FLOP/s", "byte", "token"]))
def test_about_keeps_two_digits_and_the_exact_value_on_hover(value: float, unit: str) -> None:
    for href in ("", "../chip/"):
        text = about(Number(value, unit, href))
        assert f'title="{format_quantity(value, unit)}"' in text
        assert f">{format_quantity(float(f'{value:.1e}'), unit)}</" in text


def test_about_in_a_sentence() -> None:
    text = '{{ calc("fsdp-limit", chip="nvidia/h100-sxm")["domain_tokens"] | about }}'
    shown = render(text, "handbook/a.md", "a.md")
    assert 'title="2,199 tokens"' in shown and ">2,200 tokens</a>" in shown
    with pytest.raises(ProseError, match="a number with a unit"):
        render("{{ 3 | about }}", "a.md", "a.md")


def test_a_margin_holds_its_claims_apart_from_the_text() -> None:
    text = '{{ margin("slides-fsdp-traffic", "zero-stage-0") }}'
    shown = render(text, "handbook/a.md", "a.md")
    assert shown.startswith('<details class="fb-margin"><summary>Checked: 2 published statements')
    assert shown.count("<li>") == 2 and "#slides-fsdp-traffic" in shown
    with pytest.raises(ProseError, match="no-such-claim"):
        render('{{ margin("no-such-claim") }}', "a.md", "a.md")
