"""A list price of something unknown, of a day to come, or out of range is told with its line."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from flopbook.checks.rules import listed
from flopbook.checks.rules.base import Holdings
from flopbook.data.library import library
from flopbook.data.prices import Price
from tests.support.samples import PRICE


def messages(*prices: Price, **more: Any) -> list[str]:
    references: Any = {"acme2026one": None}  # its keys are enough
    fields = {"references": references, "entry_ids": ("acme/one",), **more}
    holdings = Holdings(library=library(), prices=prices, **fields)
    return [str(finding.problem) for finding in listed.check(holdings)]


def test_a_sound_price_is_sound() -> None:
    assert messages(PRICE, PRICE._replace(region="south-1")) == []


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"chip": "acme/two"}, "found chip 'acme/two'"),
        ({"source": "nobody2026"}, "found source 'nobody2026'"),
        ({"date": datetime.date(2026, 11, 23)}, "expected a day up to 2026-11-22"),
        ({"value": 481}, "found 60.125 USD/h for one chip"),
        ({"value": 0.39}, "expected 0.05 to 60 USD/h"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(changes: dict[str, Any], found: str) -> None:
    (message,) = messages(PRICE._replace(**changes))
    assert message.startswith("accelerators/prices.yaml:7:1: price: ") and found in message


@pytest.mark.parametrize("value", [480, 0.4])
def test_the_ends_of_the_range_are_within(value: float) -> None:
    assert messages(PRICE._replace(value=value)) == []


def test_the_day_of_reading_is_no_day_to_come() -> None:
    assert messages(PRICE._replace(date=PRICE.as_of)) == []


def test_the_same_offer_has_one_price_a_day() -> None:
    (message,) = messages(PRICE, PRICE._replace(value=88, line=9))
    assert ":9:1: price: " in message and "line 7 has it; keep one" in message
    assert messages(PRICE, PRICE._replace(date=datetime.date(2026, 11, 8))) == []


def test_sources_are_not_missed_where_none_could_be_read() -> None:
    assert messages(PRICE, references={}, unreadable=frozenset({"references"})) == []
