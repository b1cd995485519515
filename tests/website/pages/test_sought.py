"""The Data page lists what was looked for in vain, and nothing where nothing was."""

from __future__ import annotations

import html

import pytest

from flopbook.data.library import load_entry
from flopbook.data.sought import Searches, searches
from scripts.website.pages.data import data_page
from scripts.website.pages.sought import (
    PRICES_TITLE,
    TITLE,
    sought_prices_section,
    sought_section,
)


def test_each_chip_that_was_sought_has_a_row_with_its_day() -> None:
    section = "".join(map(str, sought_section()))
    assert section.count("<tr>") == len(searches().chips) + 1
    for chip in searches().chips:
        assert f">{chip.name}</th>" in section and f">{chip.as_of}</td>" in section
    assert f"## {TITLE}" in data_page()


def test_without_any_there_is_no_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.website.pages.sought.searches", Searches)
    assert sought_section() == []


def test_each_chip_whose_price_was_sought_is_named_under_the_prices() -> None:
    section = "".join(map(str, sought_prices_section()))
    assert section.count("<tr>") == len(searches().prices) + 1
    for chip in (chip for row in searches().prices for chip in row.chips):
        assert load_entry(chip).name in html.unescape(section)
    assert PRICES_TITLE in data_page()


def test_without_old_prices_there_is_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.website.pages.sought.searches", Searches)
    assert sought_prices_section() == []
