"""Which list price is used: on demand, then the newest, then the cheapest; and what is said."""

from __future__ import annotations

import datetime

import pytest

from flopbook.data.prices import Price
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware import prices as choosing
from flopbook.hardware.chip import Chip, chip
from flopbook.hardware.prices import pick_price
from tests.support import samples

PRICE = samples.PRICE._replace(
    chip="nvidia/h100-sxm", source="nvidia2022hopper", locator="row 1", file="", line=1
)
OLDER = PRICE._replace(date=datetime.date(2026, 1, 1), value=8)
DEARER = PRICE._replace(value=88)
RESERVED = PRICE._replace(terms="reserved-1y", value=1, date=datetime.date(2026, 11, 20))
SOUTH = PRICE._replace(region="south-1", value=160)


@pytest.fixture
def h100() -> Chip:
    return chip("h100-sxm")


def on_record(monkeypatch: pytest.MonkeyPatch, *listed: Price) -> None:
    monkeypatch.setattr(choosing, "prices", lambda: listed)


@pytest.mark.parametrize(
    ("listed", "usd_per_hour"),
    [
        ([PRICE], 10),
        ([OLDER, PRICE], 10),
        ([DEARER, PRICE], 10),
        ([RESERVED, PRICE], 10),
        ([RESERVED, OLDER], 1),
        ([RESERVED], 0.125),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_price_on_demand_that_is_newest_and_then_cheapest(
    monkeypatch: pytest.MonkeyPatch,
    h100: Chip,
    listed: list[Price],
    usd_per_hour: float,
    turned: bool,
) -> None:
    on_record(monkeypatch, *(reversed(listed) if turned else listed))
    picked = pick_price(h100, "cloud")
    assert picked.value * 3600 == pytest.approx(usd_per_hour) and picked.unit == "USD/s"


@pytest.mark.parametrize("asked", ["cloud:south-1", " Cloud:SOUTH-1 "])
def test_a_region_may_be_named(monkeypatch: pytest.MonkeyPatch, h100: Chip, asked: str) -> None:
    on_record(monkeypatch, PRICE, SOUTH)
    assert pick_price(h100, asked).value * 3600 == pytest.approx(20)


def test_a_price_for_all_regions_holds_in_each(monkeypatch: pytest.MonkeyPatch, h100: Chip) -> None:
    on_record(monkeypatch, PRICE._replace(region="any"))
    picked = pick_price(h100, "cloud:south-1")
    assert " in " not in picked.notes[0].partition(" on 2026")[0]


def test_the_note_has_offer_region_day_and_sum(monkeypatch: pytest.MonkeyPatch, h100: Chip) -> None:
    on_record(monkeypatch, PRICE)
    assert pick_price(h100, "cloud").notes == (
        "price is the on-demand list price of cloud big.8 in north-1 on 2026-11-09: 80 USD/h for "
        "8 chips, with their share of the host",
    )
    on_record(monkeypatch, PRICE._replace(chips=1, region="unstated"))
    (note,) = pick_price(h100, "cloud").notes
    assert "big.8, region not stated on" in note and "80 USD/h, with their share" in note


def test_the_lowest_price_is_that_of_the_provider_who_asks_least(
    monkeypatch: pytest.MonkeyPatch, h100: Chip
) -> None:
    cheap = PRICE._replace(provider="heap", value=PRICE.value / 2)
    on_record(monkeypatch, PRICE, cheap)
    picked = pick_price(h100, "Lowest")
    assert picked == pick_price(h100, "heap") and picked.value * 3600 == pytest.approx(5)
    on_record(monkeypatch, PRICE._replace(chip="acme/one"))
    with pytest.raises(FlopbookError, match="no list price of nvidia/h100-sxm is on record"):
        pick_price(h100, "lowest")


@pytest.mark.parametrize("asked", ["nobody", "cloud:west-9", ":north-1", "aws\nrm"])
def test_an_unknown_cloud_is_refused_with_those_on_record(
    monkeypatch: pytest.MonkeyPatch, h100: Chip, asked: str
) -> None:
    on_record(monkeypatch, PRICE, SOUTH)
    with pytest.raises(FlopbookError, match="there is one from cloud:north-1, cloud:south-1"):
        pick_price(h100, asked)


def test_a_chip_that_nobody_rents_out_says_so(monkeypatch: pytest.MonkeyPatch, h100: Chip) -> None:
    on_record(monkeypatch, PRICE._replace(chip="acme/one"))
    with pytest.raises(FlopbookError, match=r"no list price of nvidia/h100-sxm is on record; give"):
        pick_price(h100, "cloud")


RUN = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": 64, "mfu": 0.4}


def test_a_run_costs_what_the_typed_price_would(monkeypatch: pytest.MonkeyPatch) -> None:
    on_record(monkeypatch, PRICE)
    listed = calculate("training-time", **RUN, price_from="cloud")
    typed = calculate("training-time", **RUN, price="10USD/h")
    assert listed.outputs["cost"] == pytest.approx(typed.outputs["cost"])
    used = listed.inputs["price"]
    assert (used.source, used.origin) == ("nvidia2022hopper", "cloud big.8")
    assert any("on 2026-11-09" in note for note in listed.notes)
    assert not any("list price" in note for note in typed.notes)


def test_tokens_cost_what_the_typed_price_would(monkeypatch: pytest.MonkeyPatch) -> None:
    on_record(monkeypatch, PRICE)
    asked = {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 8192}
    listed = calculate("serving", **asked, price_from="cloud")
    typed = calculate("serving", **asked, price="10USD/h")
    cost = "usd_per_million_tokens"
    assert listed.outputs[cost] == pytest.approx(typed.outputs[cost])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**RUN, "price": "2USD/h"}, "give --price or --price-from, not both"),
        ({"chips": 8}, "--price-from needs --chip"),
    ],
)
def test_a_list_price_stands_alone_and_for_a_chip(options: dict[str, object], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        calculate("training-time", **options, price_from="aws")


def test_a_calculator_without_a_price_does_not_take_it() -> None:
    with pytest.raises(FlopbookError, match="price_from"):
        calculate("min-batch", chip="h100-sxm", price_from="aws")
