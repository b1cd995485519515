"""The comparison of the explorer: values, ratios, bars, the best, and prices that are typed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from tests.support.exploring import at, query

pytestmark = pytest.mark.browser


def compared(tab: Any, row: str) -> list[str]:
    return tab.evaluate(
        """words => [...document.querySelectorAll('.fb-compare tbody tr')]
          .find(row => row.cells[0].textContent === words).innerText.split('\\t').slice(1)""",
        row,
    )


@at("?view=compare&compare=nvidia/h100-sxm,amd/mi300x,google/tpu-v5p")
def test_a_comparison_has_values_ratios_and_what_is_missing(tab: Any) -> None:
    h100, mi300x = chip("h100-sxm"), chip("mi300x")
    first, second, _ = compared(tab, "Memory bandwidth")
    assert first.startswith("3.35 TB/s") and "×" not in first
    assert f"{mi300x.memory_bandwidth() / h100.memory_bandwidth():.3g}×"[:4] in second
    sparse = compared(tab, "bf16 2:4 sparse")
    assert "only dense" in sparse[2] and "×" not in sparse[2]
    assert "printed both ways, halved" in compared(tab, "Scale-up, one way")[0]
    assert (
        "another kind of power" in compared(tab, "Power")[2]
        and "estimated" in compared(tab, "Power")[2]
    )
    assert all("×" not in text for text in compared(tab, "bf16 sparsity unstated"))
    tab.get_by_label("Ratios to").select_option("amd/mi300x")
    assert "×" in compared(tab, "Memory")[0] and "×" not in compared(tab, "Memory")[1]
    assert tab.evaluate("document.activeElement.tagName") == "SELECT", (
        "the focus stays where it was"
    )


@at("?view=compare&compare=nvidia/h100-sxm,amd/mi300x&price=2,4")
def test_a_comparison_opens_with_headlines_bars_and_the_best(tab: Any) -> None:
    rows = tab.locator(".fb-compare tbody tr")
    assert rows.nth(0).inner_text() == "In short"
    assert rows.nth(1).locator("th").inner_text() == "Peak, bf16 dense"
    peaks = [chip(name).peak("bf16") for name in ("h100-sxm", "mi300x")]
    bars = [bar.bounding_box() for bar in rows.nth(1).locator(".fb-length").all()]
    assert bars[0]["width"] / bars[1]["width"] == pytest.approx(peaks[0] / peaks[1], rel=0.02)
    assert bars[0]["y"] == pytest.approx(bars[1]["y"], abs=2), "bars of a row lie on one line"
    assert rows.nth(1).locator("td").nth(1).locator(".fb-best").count() == 1
    power = tab.locator(".fb-compare tr", has=tab.locator("th", has_text=re.compile("^Power$")))
    least = min(range(2), key=lambda n: (chip("h100-sxm"), chip("mi300x"))[n].power())
    assert power.first.locator("td").nth(least).locator(".fb-best").count() == 1


@at("?view=compare&compare=nvidia/h100-sxm,amd/mi300x&price=2,4")
def test_a_price_gives_arithmetic_per_dollar(tab: Any) -> None:
    def bought() -> list[str]:
        return compared(tab, "Peak per dollar")

    first = format_quantity(chip("h100-sxm").peak("bf16") * 3600 / 2, "FLOP/USD")
    assert bought()[0].startswith(first.partition(" ")[0][:4]) and "best" in bought()[0]
    field = tab.get_by_label("Price of AMD Instinct MI300X, USD per hour")
    field.fill("1")
    assert "best" in bought()[1] and "price=2,1" in query(tab)
    per_dollar = tab.locator(".fb-compare tr", has=tab.locator("th", has_text="Peak per dollar"))
    assert per_dollar.locator(".fb-length").count() == 2
    times = 2 * chip("mi300x").peak("bf16") / chip("h100-sxm").peak("bf16")
    assert f"{times:.3g}×" in bought()[1]
    assert field.evaluate("one => one === document.activeElement")
    field.fill("free")
    assert bought()[1] == "-" and "best" not in bought()[0]
    tab.get_by_role("button", name=re.compile("^Remove .*MI300X")).click()
    assert "price" not in query(tab)


@at("?view=compare")
def test_a_comparison_is_filled_and_emptied_in_its_view(tab: Any) -> None:
    assert "Choose two to six" in tab.inner_text("[data-view=compare]")
    assert tab.locator("[data-view=compare] a[href='../compare/']").is_visible()
    for name in ("nvidia/h100-sxm", "nvidia/b200"):
        tab.get_by_label("Add").select_option(name)
    assert tab.locator(".fb-compare thead th").count() == 3
    tab.get_by_role("button", name=re.compile("^Remove .*H100")).click()
    assert tab.locator(".fb-compare").count() == 0 and "compare=nvidia/b200" in query(tab)
