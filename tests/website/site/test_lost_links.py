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
    assert "This link asks for" in words
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
    assert "This link asks for chip 'old-chip', which this form does not have." in words
    assert "235.9 GB" in words
    assert "unlimited left" not in words and "Fits:" not in words


@at("?view=compare&compare=h100-sxm,gone/chip&columns=nonsense&dtype=fp99&from=abc")
def test_the_explorer_names_what_is_unknown_in_words(tab: Any) -> None:
    said = tab.inner_text(".fb-panel > .fb-wrong")
    assert said == (
        "This link asks for product 'gone/chip', column 'nonsense', number format 'fp99', "
        "year 'abc', which this page does not have."
    )


@at("?view=compare&compare=nvidia/a100-sxm-80gb,gone/chip,amd/mi300x&price=1.5,2.5,3.5")
def test_a_price_stays_with_its_product(tab: Any) -> None:
    """A product that is gone left its price to the next one."""
    fields = tab.locator("[data-price]").all()
    assert [field.input_value() for field in fields] == ["1.5", "3.5"]


@at(
    "?view=compare&compare=nvidia/h100-sxm,amd/mi300x,nvidia/b200,nvidia/h200-sxm,amd/mi325x,"
    "amd/mi355x,nvidia/a100-sxm-80gb,google/tpu-v5p"
)
def test_a_link_that_compares_too_many_says_how_many_are_shown(tab: Any) -> None:
    said = tab.inner_text(".fb-panel > .fb-wrong")
    assert said == "This link compares 8 products; the first 6 are shown."
    assert tab.locator("[data-price]").count() == 6


def test_what_is_wrong_with_several_fields_is_said_once(surf: Any, base: str) -> None:
    """A link whose model is cut off was answered with the same words for each of five fields."""

    def answer(context: Any) -> list[str]:
        tab = context.new_page()
        words = []
        for query in ("memory/?model=llama-3-7", "serving/?model=llama-3-70b&chips=0"):
            tab.goto(f"{base}calculators/{query}")
            tab.wait_for_selector(".fb-form .fb-open")
            words.append(tab.inner_text(".fb-form .fb-open"))
        return words

    several, one = surf(answer)
    assert several.startswith("Choose a model, or type a value: model width, all parameters, ")
    assert several.count("type a value") == 1
    assert one == "Chips: at least 1.", "no name that only the command line has"


@at("?find=zzzz&view=trends")
def test_pictures_without_a_point_say_what_to_try(tab: Any) -> None:
    assert tab.inner_text("[data-view=trends] > .fb-nothing").startswith("No product of that name")


@at("?find=zzzz&view=scatter")
def test_an_empty_scatter_says_what_to_try(tab: Any) -> None:
    assert tab.inner_text("[data-view=scatter] .fb-nothing").startswith("No product of that name")


def test_runs_that_nothing_passes_say_what_to_try(surf: Any, base: str) -> None:
    def empty(context: Any) -> str:
        tab = context.new_page()
        tab.goto(f"{base}reached/?find=zzzz")
        tab.wait_for_selector(".fb-reached[data-ready]", timeout=60_000)
        words: str = tab.inner_text(".fb-reached > .fb-nothing")
        return words

    told = "No run passes the filters. Clear some of them, or search for fewer words."
    assert surf(empty) == told


@pytest.mark.parametrize("page", ["planner/", "serve/"])
def test_a_planner_takes_a_product_without_its_vendor(surf: Any, base: str, page: str) -> None:
    def chosen(context: Any) -> str:
        tab = context.new_page()
        tab.goto(f"{base}{page}?chip=MI300X&chips=64")
        tab.wait_for_selector(".fb-planner:not([aria-busy]) .fb-verdict", timeout=60_000)
        chip: str = tab.input_value("[name=chip]")
        return chip

    assert surf(chosen) == "amd/mi300x"
