"""List prices: the file, what is refused of a price, and what one chip costs of an offer."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from flopbook.data.library import entry_ids, reference_keys
from flopbook.data.prices import prices, read_prices
from flopbook.errors import DataError
from tests.support.samples import assert_clean

ROW = {
    "chip": "acme/one",
    "provider": "cloud",
    "offer": "big.8",
    "chips": "8",
    "region": "north-1",
    "terms": "on-demand",
    "value": "80",
    "unit": "USD/h",
    "date": "2026-11-09",
    "source": "acme2026one",
    "as_of": "2026-11-22",
    "locator": "row 1",
}


def written(folder: Path, **changes: str | None) -> Path:
    """A file with one price, less the fields that are None."""
    row = {name: content for name, content in (ROW | changes).items() if content is not None}
    inside = ", ".join(f"{name}: {content}" for name, content in row.items())
    path = folder / "prices.yaml"
    path.write_text(f"prices:\n  - {{{inside}}}\n", encoding="utf-8")
    return path


def test_a_price_is_read_with_its_place(tmp_path: Path) -> None:
    (price,) = read_prices(written(tmp_path))
    assert (price.provider, price.line, price.per_chip) == ("cloud", 2, 10)
    assert price.date == datetime.date(2026, 11, 9) and price.as_of == datetime.date(2026, 11, 22)


@pytest.mark.parametrize("chips", [1, 4, 16])
def test_the_claim_is_that_of_one_chip(tmp_path: Path, chips: int) -> None:
    (price,) = read_prices(written(tmp_path, chips=str(chips)))
    claim = price.claim
    assert claim.si_value == pytest.approx(80 / chips / 3600) and claim.si_unit == "USD/s"
    assert (claim.source, claim.locator) == ("acme2026one", "row 1")
    assert claim.place.endswith("prices.yaml:2") and claim.name == "cloud big.8"


@pytest.mark.parametrize("missing", [name for name in ROW if name != "locator"])
def test_a_price_without_a_field_is_refused_in_one_line(tmp_path: Path, missing: str) -> None:
    with pytest.raises(DataError, match=f"expected a '{missing}'") as refused:
        read_prices(written(tmp_path, **{missing: None}))
    assert_clean(refused.value)
    assert len(refused.value.problems) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"locator": None},
        {"date": "yesterday"},
        {"date": "2026-13-01"},
        {"value": "0"},
        {"value": "cheap"},
        {"chips": "0"},
        {"unit": "EUR/h"},
        {"terms": "spot"},
        {"provider": "Cloud"},
        {"chip": "one"},
        {"region": '""'},
        {"colour": "red"},
    ],
)
def test_a_price_that_is_none_is_refused(tmp_path: Path, changes: dict[str, str | None]) -> None:
    with pytest.raises(DataError) as refused:
        read_prices(written(tmp_path, **changes))
    assert_clean(refused.value)


def test_a_quote_stands_for_a_locator(tmp_path: Path) -> None:
    path = written(tmp_path, locator=None, quote="80 dollars an hour")
    assert read_prices(path)[0].quote == "80 dollars an hour"


def test_a_library_without_the_file_has_no_prices(tmp_path: Path) -> None:
    assert read_prices(tmp_path / "prices.yaml") == ()


def test_the_prices_on_record_are_of_chips_and_sources_that_exist() -> None:
    """At least 25 chips that clouds rent, most of them from more than one cloud."""
    assert len({price.chip for price in prices()}) >= 25
    assert len({price.provider for price in prices()}) >= 8
    for price in prices():
        assert price.chip in entry_ids() and price.source in reference_keys()
        assert price.date <= price.as_of and (price.locator or price.quote)
