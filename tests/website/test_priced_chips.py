"""What the landscape says of the price of an hour, beside the list prices on record."""

from __future__ import annotations

from flopbook.data.prices import ON_DEMAND, prices
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip

ASKED = {"model": "llama-3-70b", "tp": 8, "seq": 8192}
PRICED = {
    "nvidia/h100-sxm": "oracle",
    "nvidia/h200-sxm": "oracle",
    "nvidia/b200": "oracle",
    "amd/mi355x": "oracle",
    "google/tpu-v6e": "gcp",
}


def written(name: str, cloud: str) -> float:
    """The price of a million written tokens at the full batch."""
    return calculate("serving", chip=name, price_from=cloud, **ASKED)["usd_per_million_tokens"]


def hour(name: str, cloud: str) -> float:
    """The price of an hour of one chip."""
    rate = calculate("serving", chip=name, price_from=cloud, **ASKED)["tokens_per_s"]
    return written(name, cloud) * rate * 3600 / 1e6 / 8


def test_the_tpu_trains_and_reads_for_the_least() -> None:
    price_of_work = {
        name: hour(name, cloud) / chip(name).peak("bf16") for name, cloud in PRICED.items()
    }
    assert min(price_of_work, key=price_of_work.__getitem__) == "google/tpu-v6e"
    read = {
        name: hour(name, cloud) * calculate("prefill", chip=name, **ASKED)["seconds"]
        for name, cloud in PRICED.items()
    }
    assert min(read, key=read.__getitem__) == "google/tpu-v6e"


def test_an_h200_costs_as_much_by_the_hour_as_an_h100() -> None:
    assert round(hour("nvidia/h100-sxm", "oracle") / hour("nvidia/h200-sxm", "oracle"), 3) == 1


def test_eleven_sellers_of_one_chip_differ_by_more_than_the_chips_do() -> None:
    sellers = {
        price.provider
        for price in prices()
        if price.chip == "nvidia/h100-sxm" and price.terms == ON_DEMAND
    }
    asked = {seller: written("nvidia/h100-sxm", seller) for seller in sellers}
    assert len(asked) == 11
    assert min(asked, key=asked.__getitem__) == "hyperstack"
    assert max(asked, key=asked.__getitem__) == "azure"
    of_chips = [written(name, cloud) for name, cloud in PRICED.items()]
    assert max(asked.values()) / min(asked.values()) > max(of_chips) / min(of_chips)
    assert min(asked.values()) < min(of_chips)
