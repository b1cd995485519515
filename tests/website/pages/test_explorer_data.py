"""The cells of the explorer.

The values that the calculators use, never mixed, with what a reader must know.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.library import entry_ids, load_entry
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip
from flopbook.hardware.parts import settled_totals
from flopbook.hardware.picked import Picked
from scripts.website.pages.quantities import (
    COLUMN_UNITS,
    HALVED,
    LARGE,
    NOT_RECORDED,
    QUANTITIES,
    RATIOS,
    cells,
    missing,
    peak_id,
    shown_claims,
    value_of,
    year_of,
)
from tests.support.cases import every
from tests.support.samples import World, claim

ENTRIES = {name: load_entry(name) for name in entry_ids()}
CHIPS = [name for name, entry in ENTRIES.items() if entry.kind == "package"]
WHOLES = [name for name, entry in ENTRIES.items() if settled_totals(entry)]


def cells_of(name: str) -> dict[str, Picked | str]:
    entry = load_entry(name)
    return cells(entry, shown_claims(entry))


@every("name", CHIPS)
def test_cells_hold_what_the_calculators_take(name: str) -> None:
    """Memory, bandwidth, links and power of a chip are one value everywhere."""
    chip, recorded = Chip(ENTRIES[name]), cells_of(name)
    ways = {
        "memory": chip.memory,
        "memory_bandwidth": chip.memory_bandwidth,
        "scaleup_bandwidth": chip.scaleup_bandwidth,
        "power": chip.power,
    }
    for quantity, take in ways.items():
        try:
            value: float | None = take()
        except FlopbookError:
            value = None
        assert value_of(recorded, quantity) == value, quantity


@every("name", CHIPS)
def test_a_peak_cell_has_the_conditions_of_its_id(name: str) -> None:
    for key, cell in cells_of(name).items():
        if key.startswith("peak:") and isinstance(cell, Picked):
            one = cell.claim
            assert key == peak_id(one.dtype, one.engine, one.sparsity)
            assert cell.value == one.si_value and not one.known_error


@every("name", WHOLES)
def test_totals_of_a_whole_are_derived(name: str) -> None:
    recorded = cells_of(name)
    for total in settled_totals(ENTRIES[name]):
        made = total.of_parts
        if made.field == "peak":
            cell = recorded[peak_id(made.dtype, made.engine, made.sparsity)]
            assert isinstance(cell, Picked) and ("derived" in cell.notes) == total.is_sum


@every("name", sorted(ENTRIES))
def test_every_cell_is_shown_on_the_page_of_its_entry(name: str) -> None:
    entry = ENTRIES[name]
    shown = shown_claims(entry)
    places = {id(one) for one in shown}
    for key, cell in cells(entry, shown).items():
        if isinstance(cell, Picked):
            assert id(cell.claim) in places, key
            assert ("estimated" in cell.notes) == (cell.claim.basis == "estimated")
        else:
            assert cell in ("none", "not published")


def peak(sparsity: str, value: float | str) -> dict[str, object]:
    return claim("peak", sparsity=sparsity, value=value)


def test_a_sparse_or_unstated_peak_never_stands_for_a_dense_one(world: World) -> None:
    world.entry("one", peak("2:4", 200), peak("unstated", 150))
    recorded = cells_of("acme/one")
    dense = peak_id("bf16", "tensor", "dense")
    assert dense not in recorded and value_of(recorded, dense) is None
    assert missing(recorded, dense) == "only 2:4 sparse, sparsity unstated"
    assert value_of(recorded, peak_id("bf16", "tensor", "2:4")) == 200e12
    assert missing(recorded, peak_id("fp8", "tensor", "dense")) == NOT_RECORDED


def test_an_unstated_peak_that_is_missing_points_to_the_stated_one(world: World) -> None:
    world.entry("one", peak("dense", 100))
    assert (
        missing(cells_of("acme/one"), peak_id("bf16", "tensor", "unstated")) == "stated, see dense"
    )


@pytest.mark.parametrize(("value", "words"), [("not published", "not published"), ("none", "none")])
def test_absent_values_say_which_kind_of_absent(world: World, value: str, words: str) -> None:
    world.entry(
        "one", claim("peak"), claim("memory", value=value), claim("scaleup_bandwidth", value=value)
    )
    recorded = cells_of("acme/one")
    assert recorded["memory"] == words and recorded["scaleup_bandwidth"] == words
    assert missing(recorded, "memory") == words and missing(recorded, "power") == NOT_RECORDED


def test_links_are_one_way_and_say_when_they_were_halved(world: World) -> None:
    world.entry("one", claim("peak"), claim("scaleup_bandwidth", direction="both", value=900))
    cell = cells_of("acme/one")["scaleup_bandwidth"]
    assert isinstance(cell, Picked) and cell.value == 450e9 and HALVED in cell.notes
    world.entry("one", claim("peak"), claim("scaleup_bandwidth", direction="one-way", value=450))
    cell = cells_of("acme/one")["scaleup_bandwidth"]
    assert isinstance(cell, Picked) and cell.value == 450e9 and HALVED not in cell.notes
    world.entry("one", claim("peak"), claim("scaleup_bandwidth", direction="unstated", value=900))
    assert "scaleup_bandwidth" not in cells_of("acme/one"), (
        "without a direction there is nothing to compare"
    )


def test_estimates_and_kinds_of_power_are_marked(world: World) -> None:
    note = "From the cooling."
    world.entry(
        "one", claim("peak"), claim("power", of="design", basis="estimated", note=note, value=300)
    )
    cell = cells_of("acme/one")["power"]
    assert isinstance(cell, Picked) and cell.notes == ("estimated",) and cell.kind == "design"


def test_the_announcement_stands_in_for_a_launch_and_says_so(world: World) -> None:
    world.entry("one", claim("peak"), claim("announced", value="2022-03"))
    cell = cells_of("acme/one")["date"]
    assert isinstance(cell, Picked) and cell.notes == ("announced",) and cell.kind == "2022-03"
    world.entry(
        "one",
        claim("peak"),
        claim("launched", value="2022-09-22"),
        claim("announced", value="2022-03"),
    )
    cell = cells_of("acme/one")["date"]
    assert isinstance(cell, Picked) and cell.notes == () and 2022.7 < cell.value < 2022.75


@given(st.dates())
def test_dates_become_years_in_order(day: object) -> None:
    text = str(day)
    year = int(text[:4])
    assert year <= year_of(text) < year + 1
    assert year_of(text[:4]) == year + 0.5
    assert abs(year_of(text[:7]) - year_of(text)) <= 1 / 12


def test_words_of_quantities() -> None:
    named = {q.id: q for q in (*QUANTITIES, *RATIOS)}
    assert named["die_area"].words(814e-6) == "814 mm2"
    assert named["transistors"].words(8e10) == "80 billion"
    assert named["date"].words(2022.9) == "2022"
    assert named["intensity"].words(1193.2) == "1,193"
    assert named["scaleup_domain"].words(72) == "72 chips"
    assert len(named) == len(QUANTITIES) + len(RATIOS), "ids are unique"


@given(st.floats(1e6, 1e21), st.sampled_from(("package", "card", "node", "pod")))
def test_the_unit_of_a_column_depends_on_the_kind_alone(value: float, kind: str) -> None:
    for quantity in QUANTITIES:
        units = COLUMN_UNITS.get(quantity.id)
        if units:
            amount, name = quantity.in_column(value, kind).split(" ")
            assert name == units[kind in LARGE] and "e" not in amount.partition("e-")[0]


def test_memory_of_an_unnamed_kind_is_not_called_hbm() -> None:
    """The only source of the BW200 names 64 GB and no kind."""
    entry = load_entry("hygon/bw200")
    memory = cells(entry, shown_claims(entry))["memory"]
    assert isinstance(memory, Picked) and memory.kind == "kind not stated"
