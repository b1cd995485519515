"""A link that asks for what is not there opens with what could be read, and says what could not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.exploring import at

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("page", ["planner/", "serve/"])
def test_a_planner_says_what_it_does_not_know_beside_what_it_refuses(
    surf: Any, base: str, page: str
) -> None:
    """The refusal of the number of chips hid that model and chip were replaced."""

    def said(context: Any) -> str:
        tab = context.new_page()
        tab.goto(f"{base}{page}?model=gone-70b&chip=old/chip&chips=0")
        tab.wait_for_selector(".fb-said .fb-verdict")
        tab.wait_for_function("document.querySelector('.fb-said').innerText.includes('chips')")
        words: str = tab.inner_text(".fb-said")
        return words

    words = surf(said)
    assert 'model "gone-70b"' in words and 'chip "old/chip"' in words
    assert "Number of chips: type a whole number" in words


def test_without_a_capacity_nothing_fits_and_nothing_is_left(surf: Any, base: str) -> None:
    """A link with an unknown chip was answered with "Fits: unlimited left"."""

    def answer(context: Any) -> str:
        tab = context.new_page()
        tab.goto(f"{base}calculators/memory/?model=llama-3-70b&chip=old-chip&chips=64")
        tab.wait_for_selector(".fb-form .fb-answer:not(:empty)")
        words: str = tab.inner_text(".fb-form")
        return words

    words = surf(answer)
    assert "unknown chip 'old-chip'" in words and "235.9 GB" in words
    assert "unlimited left" not in words and "Fits:" not in words


@at("?view=compare&compare=h100-sxm,gone/chip&columns=nonsense&dtype=fp99&from=abc")
def test_the_explorer_names_what_is_unknown_in_words(tab: Any) -> None:
    said = tab.inner_text(".fb-panel > .fb-wrong")
    for words in (
        "an unknown product 'gone/chip'",
        "an unknown column 'nonsense'",
        "an unknown number format 'fp99'",
        "an unknown year 'abc'",
    ):
        assert words in said
