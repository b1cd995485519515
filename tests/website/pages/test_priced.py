"""Prices and the last audit on pages: what is shown, and what stays away where there is none."""

from __future__ import annotations

import pytest

from flopbook.checks.audit import audits, pooled
from flopbook.data.library import entry_ids, load_entry
from flopbook.data.prices import prices
from scripts.website.pages.data import data_page
from scripts.website.pages.priced import cloud, newest_prices, price_section, price_table
from tests.support.samples import World, claim

PRICES = """prices:
  - {chip: acme/one, provider: cloud, offer: big.8, chips: 8, region: any, terms: on-demand,
     value: 80, unit: USD/h, date: 2026-01-02, source: acme2026, as_of: 2026-01-03, locator: table}
  - {chip: acme/one, provider: cloud, offer: big.8, chips: 8, region: any, terms: on-demand,
     value: 72, unit: USD/h, date: 2026-02-02, source: acme2026, as_of: 2026-02-03, locator: table}
  - {chip: acme/one, provider: cloud, offer: big.8, chips: 8, region: west, terms: on-demand,
     value: 88, unit: USD/h, date: 2026-01-02, source: acme2026, as_of: 2026-01-03, locator: table}
"""


def test_every_priced_chip_shows_each_of_its_offers_once_and_no_other_does() -> None:
    shown = newest_prices()
    assert {price.chip for price in shown} == {price.chip for price in prices()}
    for entry_id in entry_ids():
        section = "".join(price_section(load_entry(entry_id), "accelerators/x/y.md"))
        of_chip = [price for price in shown if price.chip == entry_id]
        assert section.count("<tr>") == (len(of_chip) + 1 if of_chip else 0), entry_id
        assert bool(section) == bool(of_chip)


def test_the_table_has_a_row_for_each_newest_price() -> None:
    assert price_table("data.md").count("<tr>") == len(newest_prices()) + 1


def test_an_older_price_of_the_same_offer_gives_way(world: World) -> None:
    world.entry("one", claim())
    world.write("accelerators/prices.yaml", PRICES)
    asked = [(price.region, price.value) for price in newest_prices()]
    assert asked == [("any", 72), ("west", 88)]


def test_the_data_page_tells_the_error_rate_with_its_interval_and_the_prices() -> None:
    page, past = data_page(), audits()
    assert f"the last on {past[-1].date}" in page
    together = pooled(audit.score for audit in past)
    for found in (together.wrong, together.misleading):
        assert f"{100 * found.share:.1f} % &#40;95 % interval {100 * found.low:.1f} to" in page
    for score in (audit.score for audit in past):
        for found in (score.wrong, score.misleading):
            assert f"{100 * found.share:.1f} % &#40;{100 * found.low:.1f} to" in page
    for audit in past:
        assert f"{audit.date}, seed {audit.seed}" in page
    assert "older than 90 days" in page and "List prices of clouds" in page


def test_without_audit_and_prices_the_data_page_has_neither(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scripts.website.pages.data.audits", tuple)
    monkeypatch.setattr("scripts.website.pages.data.newest_prices", tuple)
    page = data_page()
    assert "is wrong" not in page and "List prices of clouds" not in page


def test_clouds_are_called_by_their_names() -> None:
    assert [cloud(name) for name in ("gcp", "hot-aisle", "aws")] == [
        "Google Cloud",
        "Hot Aisle",
        "AWS",
    ]
    shown = "".join(price_section(load_entry("nvidia/h100-sxm"), "accelerators/nvidia/h100-sxm.md"))
    assert '<th scope="row">Google Cloud</th>' in shown
    assert "--price-from aws" in shown  # the name on file is what the command takes
