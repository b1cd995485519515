"""The explorer shows capacities and areas as print does, and takes prices from the data."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.website.pages.planner_data import price_record
from tests.support.exploring import at, column, query
from tests.website.site.test_explorer_compare import compared

pytestmark = pytest.mark.browser
_COMPARED = "?view=compare&compare=nvidia/h100-sxm,google/tpu-v6e"


@at("?all=1&columns=memory,die_area")
def test_a_column_shows_what_the_source_prints(tab: Any) -> None:
    memory, area = column(tab, "Memory"), column(tab, "Die area")
    assert memory["google/tpu-v6e"] == "32 GiB" and memory["nvidia/h100-sxm"] == "80 GB"
    assert area["nvidia/h100-sxm"] == "814 mm²"


@at(_COMPARED)
def test_a_comparison_says_what_a_gibibyte_is_beside_a_gigabyte(tab: Any) -> None:
    h100, v6e = compared(tab, "Memory")
    assert h100.startswith("80 GB") and v6e.startswith("32 GiB") and "34.36 GB" in v6e
    tab.get_by_role("button", name="Remove NVIDIA H100 SXM5 80GB").click()
    tab.get_by_label("Add").select_option("google/tpu-v5p")
    assert all("GiB" in text and " GB" not in text for text in compared(tab, "Memory"))


@at("?view=compare&compare=nvidia/h100-sxm,google/tpu-v6e,nvidia/feynman")
def test_a_comparison_begins_with_the_list_prices_on_file(tab: Any) -> None:
    fields = tab.locator("[data-price]")
    record = price_record("nvidia/h100-sxm")
    assert record
    listed = f"{3600 * record['usd_per_s']:.2f}"
    assert fields.nth(0).get_attribute("placeholder") == listed
    assert fields.nth(2).get_attribute("placeholder") == "none on file"
    bought = compared(tab, "Peak per dollar")
    assert bought[0].rstrip().endswith("FLOP/USD") or "best" in bought[0]
    assert bought[2] == "-" and "price" not in query(tab)
    link = tab.locator(".fb-compare td small a").first
    assert link.get_attribute("href") == "nvidia/h100-sxm/#price-by-the-hour"
    fields.nth(0).fill("1")
    assert compared(tab, "Peak per dollar")[0] != bought[0] and "price=1,," in query(tab)


@at("?all=1&x=die_area&y=memory&view=scatter")
def test_a_picture_of_two_quantities_says_it_too(tab: Any) -> None:
    words = tab.locator(".fb-scatter a[data-id='amd/mi60']").get_attribute("aria-label")
    assert "Memory 32 GiB" in words and "mm2" not in words
