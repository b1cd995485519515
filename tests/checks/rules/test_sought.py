"""A chip that was looked for in vain has no entry, a price none that is new; else it is told."""

from __future__ import annotations

import datetime

import pytest

from flopbook.checks.rules import sought
from flopbook.checks.rules.base import Holdings
from flopbook.data.library import library, load_entry
from flopbook.data.prices import Price
from flopbook.data.sought import Searches, Sought, SoughtPrices

DAY = datetime.date(2026, 11, 20)
CHIP = Sought("A2", "Acme", DAY, "its site", "a picture", "accelerators/sought.yaml", 3)
H100 = "nvidia/h100-sxm"
PRICES = SoughtPrices((H100,), DAY, "a list", "an old one", "accelerators/sought.yaml", 9)


def messages(*chips: Sought) -> list[str]:
    entries = {"nvidia/h100-sxm": load_entry("nvidia/h100-sxm")}
    holdings = Holdings(library=library(), entries=entries, sought=Searches(chips))
    return [str(finding.problem) for finding in sought.check(holdings)]


def test_a_chip_without_an_entry_is_sound() -> None:
    assert messages(CHIP, CHIP._replace(name="A3")) == []


@pytest.mark.parametrize("name", ["H100 SXM", "h100-sxm"])
def test_a_chip_that_has_an_entry_is_told(name: str) -> None:
    (message,) = messages(CHIP._replace(maker="NVIDIA", name=name))
    assert message.startswith("accelerators/sought.yaml:3:1: sought: ")
    assert "drop the row: nvidia/h100-sxm has figures" in message


def test_nobody_looked_on_a_day_to_come() -> None:
    (message,) = messages(CHIP._replace(as_of=datetime.date(2999, 1, 1)))
    assert "found looked for on 2999-01-01" in message


def price_messages(row: SoughtPrices, asked: datetime.date) -> list[str]:
    price = Price(H100, "acme", "x1", 1, "any", "on-demand", 2, "USD/h", asked, "key2026a", DAY)
    holdings = Holdings(
        library=library(), entry_ids=(H100,), prices=(price,), sought=Searches(prices=(row,))
    )
    return [str(finding.problem) for finding in sought.check(holdings)]


@pytest.mark.parametrize("days", [91, 400])
def test_an_old_price_may_be_looked_for_in_vain(days: int) -> None:
    assert price_messages(PRICES, DAY - datetime.timedelta(days)) == []


@pytest.mark.parametrize("days", [0, 90])
def test_a_price_that_is_new_was_found(days: int) -> None:
    (message,) = price_messages(PRICES, DAY - datetime.timedelta(days))
    assert message.startswith("accelerators/sought.yaml:9:1: sought: ")
    assert f"'{H100}' with a price of" in message and "drop the id" in message


def test_a_price_of_a_chip_that_nobody_knows_is_told() -> None:
    (message,) = price_messages(PRICES._replace(chips=("acme/a2",)), DAY)
    assert "found 'acme/a2', expected the id of an entry" in message


def test_nobody_looked_for_a_price_on_a_day_to_come() -> None:
    (message,) = price_messages(PRICES._replace(as_of=datetime.date(2999, 1, 1)), DAY)
    assert "found looked for on 2999-01-01" in message
