"""Which readings are too old.

The usual number of days, the entry's own with its reason, and the day counted from.
"""

from __future__ import annotations

import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopbook.checks.staleness import USUAL_DAYS, USUAL_REASON, Stale, stale
from tests.support.samples import MODEL, READ, SOURCE, VENDOR, World, claim

OWN = '{days: 30, reason: "Its clock is still moving."}'
LONG = '{days: 3650, reason: "It is no longer made or changed."}'


def after(days: int) -> datetime.date:
    """So many days after the sample data were read."""
    return READ + datetime.timedelta(days=days)


def found(days_later: int, *more: int) -> dict[str, Stale]:
    """What is stale, by id."""
    return {reading.id: reading for reading in stale(after(days_later), *more)}


def test_nothing_is_stale_on_the_last_day(world: World) -> None:
    assert stale(after(USUAL_DAYS)) == [] and stale(READ) == []


def test_all_is_stale_the_day_after(world: World) -> None:
    reading = found(USUAL_DAYS + 1)["acme/one"]
    assert (reading.kind, reading.age, reading.days, reading.reason) == (
        "accelerator",
        181,
        USUAL_DAYS,
        USUAL_REASON,
    )
    assert (reading.oldest, reading.sources) == (
        READ,
        (SOURCE,),
    ) and reading.count == reading.total >= 2


def test_only_old_readings_are_counted(world: World) -> None:
    world.entry(
        "one",
        claim(as_of=after(-200)),
        claim(value=99),
        claim("memory", source="bolt2020one", as_of=after(-300)),
    )
    reading = found(0)["acme/one"]
    assert (reading.count, reading.total, reading.oldest, reading.age) == (2, 4, after(-300), 300)
    assert reading.sources == (SOURCE, "bolt2020one")


def test_an_entry_has_its_own_number_and_reason(world: World) -> None:
    world.entry("fast", stale_after=OWN)
    world.entry("old", stale_after=LONG)
    assert set(found(31)) == {"acme/fast"} and found(30) == {}
    assert found(31)["acme/fast"].reason == "Its clock is still moving."
    assert "acme/old" not in found(2000)


def test_days_replaces_the_usual_number_only(world: World) -> None:
    world.entry("fast", stale_after=OWN)
    assert set(found(31, 1000)) == {"acme/fast"} and set(found(10, 5)) == {"acme/one", "tiny-1b"}


def test_models_and_vendors_are_read_again_too(world: World) -> None:
    fact = f"{{field: founded, value: 2020, source: {SOURCE}, as_of: 2026-11-21, locator: page 1}}"
    world.write("accelerators/acme/vendor.yaml", f"{VENDOR}facts: [{fact}]\n")
    kinds = {reading.id: (reading.kind, reading.file) for reading in stale(after(200))}
    assert kinds["acme"] == ("vendor", "accelerators/acme/vendor.yaml")
    assert kinds["tiny-1b"][0] == "model" and MODEL


def test_the_most_overdue_comes_first(world: World) -> None:
    world.entry("older", claim(as_of=after(-400)))
    world.entry("fast", stale_after=OWN)
    ids = [reading.id for reading in stale(after(190))]
    assert ids[:2] == ["acme/older", "acme/fast"] and set(ids[2:]) == {"acme/one", "tiny-1b"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(later=st.integers(0, 2000), days=st.integers(1, 2000))
def test_more_days_leave_less_stale(world: World, later: int, days: int) -> None:
    few, many = (
        {reading.id for reading in stale(after(later), days)},
        {reading.id for reading in stale(after(later), days + 1)},
    )
    assert many <= few and bool(few) == (later > days)


@pytest.mark.parametrize("years", [0, 1, 20])
def test_the_real_data_can_be_asked_on_any_day(years: int) -> None:
    items = stale(datetime.date(2026 + years, 12, 31))
    assert all(
        reading.age > reading.days and reading.reason and 0 < reading.count <= reading.total
        for reading in items
    )


PRICES = """prices:
  - {chip: acme/one, provider: cloud, offer: big, chips: 1, region: any, terms: on-demand, value: 2,
     unit: USD/h, date: 2026-09-01, source: acme2026one, as_of: 2026-11-21, locator: row 1}
  - {chip: acme/one, provider: cloud, offer: big, chips: 1, region: any, terms: on-demand, value: 3,
     unit: USD/h, date: 2026-11-01, source: acme2026one, as_of: 2026-11-21, locator: row 2}
"""


def test_a_list_price_is_stale_90_days_after_it_was_asked(world: World) -> None:
    """By its own day, not by that of reading, and only where no newer one is on record."""
    world.write("accelerators/prices.yaml", PRICES)
    name, asked = "acme/one at cloud:any, on-demand", datetime.date(2026, 11, 1)
    last = asked + datetime.timedelta(days=90)
    assert name not in {reading.id for reading in stale(last)}
    due = {reading.id: reading for reading in stale(last + datetime.timedelta(days=1))}[name]
    assert (due.kind, due.age, due.days, due.count, due.oldest) == ("price", 91, 90, 1, asked)
    assert (due.file, due.sources) == ("accelerators/prices.yaml", (SOURCE,))
