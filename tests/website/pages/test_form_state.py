"""A number in prose opens its calculator in the state that gave the number."""

from __future__ import annotations

import functools
import html
import re
from typing import Any
from urllib.parse import parse_qsl

import pytest

from flopbook.evaluation.calculator import calculate, takes
from flopbook.formulas import formulas, get_formula
from flopbook.quantities.units import format_quantity
from scripts.website.pages.form_state import state_query
from tests.support.rendering import READS_THE_HANDBOOK, pages

pytestmark = READS_THE_HANDBOOK
_LINK = re.compile(
    r'<a href="([^"]*calculators/[^"]*)" class="fb-num"(?: title="([^"]*)")?>([^<]*)</a>'
)


@functools.cache
def links() -> list[tuple[str, str, str, str]]:
    """Page, calculator, query and exact text of every number that leads to a calculator."""
    found = []
    for page, text in pages().items():
        for href, exact, shown in _LINK.findall(text):
            path, _, query = html.unescape(href).partition("?")
            name = path.rstrip("/").rsplit("/", 1)[1]
            found.append((page, name, query, html.unescape(exact or shown)))
    return found


def options_of(query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    return {name.replace("-", "_"): value for name, value in pairs if value}


def answers(name: str, options: dict[str, Any]) -> set[str]:
    result = calculate(name, **options)
    units = {output: spec.unit for output, spec in result.formula.outputs.items()}
    return {format_quantity(v, units[k]) for k, v in result.items() if isinstance(v, float)}


def test_every_number_that_leads_to_a_form_is_among_its_answers() -> None:
    wrong = [
        (page, name, query, text)
        for page, name, query, text in links()
        if query and text not in answers(name, options_of(query))
    ]
    assert wrong == []
    assert sum(bool(query) for _, _, query, _ in links()) > 350


def test_every_link_to_a_calculator_has_a_state() -> None:
    assert [link for link in links() if not link[2]] == []


@pytest.mark.parametrize("name", formulas())
def test_an_example_survives_its_link(name: str) -> None:
    formula = get_formula(name)
    for example in formula.examples:
        options = {key.replace("-", "_"): value for key, value in example.items()}
        query = state_query(formula, options)
        assert options_of(query.removeprefix("?")) == options


@pytest.mark.parametrize("name", formulas())
def test_what_the_example_has_and_a_state_lacks_is_cleared(name: str) -> None:
    formula = get_formula(name)
    query = state_query(formula, {})
    named = {key for key, _ in parse_qsl(query.removeprefix("?"), keep_blank_values=True)}
    assert named == set(formula.examples[0])


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (8, "8"),
        (8.0, "8"),
        (2**20, "1048576"),
        (0.1, "0.10000000000000001"),
        ("16M", "16M"),
        ("900GB/s both ways", "900GB/s both ways"),
        (float("inf"), ""),
        (None, ""),
    ],
)
def test_settings_are_written_as_people_type_them(setting: Any, text: str) -> None:
    query = state_query(get_formula("fsdp-limit"), {"batch_tokens": setting})
    assert options_of(query.removeprefix("?")).get("batch_tokens", "") == text


def test_prices_and_small_rates_have_their_unit() -> None:
    prices = state_query(get_formula("training-time"), {"price": 2 / 3600})
    assert "price=2USD/h" in prices
    rates = state_query(get_formula("fsdp-limit"), {"link_bandwidth": 5.0})
    assert "link-bandwidth=5byte/s" in rates


def test_an_option_that_no_form_has_leaves_the_link_bare() -> None:
    assert state_query(get_formula("fsdp-limit"), {"config": "a.json"}) == ""
    assert "chip" in takes(get_formula("fsdp-limit"))
