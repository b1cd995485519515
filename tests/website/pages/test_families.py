"""Families of accelerators: every entry and maker has one, and the longest beginning decides."""

from __future__ import annotations

import pytest

from flopbook.data.claims import Claim
from flopbook.data.library import entry_ids, vendor_ids
from flopbook.hardware.picked import Picked
from scripts.website.pages.explorer import items
from scripts.website.pages.families import (
    FAMILIES,
    SERVERS,
    by_family,
    chips,
    family_of,
    makers,
    peak16,
    ridge,
)
from scripts.website.pages.quantities import Cells, peak_id
from tests.support.samples import READ


def cell(value: float) -> Picked:
    return Picked(value, "FLOP/s", Claim("peak", value, "acme2026one", READ))


def test_every_entry_is_in_one_family() -> None:
    grouped = by_family(items())
    assert [*grouped] == [one.id for one in FAMILIES]
    listed = sorted(row.entry.id for group in grouped.values() for row in group)
    assert listed == sorted(entry_ids()) and all(grouped.values())


def test_every_maker_is_listed_even_without_an_entry() -> None:
    """The founding notes name makers of which nothing but the name is public.

    They have their place too.
    """
    rows = items()
    listed = {name for family in FAMILIES for name in makers(rows, family)}
    assert listed == set(vendor_ids())
    other = makers(rows, FAMILIES[-1])
    assert {"rivos", "sapeon"} <= set(other) and "nvidia" not in other


def test_the_beginnings_name_something() -> None:
    """A beginning that no entry has any more is stale; a whole maker may stand without an entry."""
    for family in FAMILIES:
        for start in family.members:
            known = any(name.startswith(start) for name in entry_ids())
            assert known or start.removesuffix("/") in vendor_ids(), start


def test_no_beginning_stands_twice() -> None:
    starts = [start for family in FAMILIES for start in family.members]
    assert len(starts) == len(set(starts)) and len({one.id for one in FAMILIES}) == len(FAMILIES)
    assert set(SERVERS) < {one.id for one in FAMILIES}


@pytest.mark.parametrize(
    ("entry_id", "family"),
    [
        ("nvidia/h100-sxm", "gpu"),
        ("nvidia/rtx-4090", "desk"),
        ("nvidia/rtx-pro-6000-blackwell-server", "gpu"),
        ("nvidia/rtx-pro-6000-blackwell", "desk"),
        ("nvidia/groq-3-lpu", "sram"),
        ("nvidia/jetson-agx-thor", "edge"),
        ("google/tpu-v5p", "tpu"),
        ("google/edge-tpu", "edge"),
        ("intel/gaudi-3", "other"),
        ("intel/max-1550", "gpu"),
        ("rebellions/ion", "edge"),
        ("rebellions/atom", "other"),
        ("acme/one", "other"),
        ("", "other"),
    ],
)
def test_the_longest_beginning_decides(entry_id: str, family: str) -> None:
    """A maker that is not named yet has a place, the last one."""
    assert family_of(entry_id).id == family


def test_chips_are_what_computes() -> None:
    rows = items()
    every = chips(rows)
    assert {row.entry.kind for row in every} <= {"package", "die", "card"}
    assert all(not row.entry.contains for row in every if row.entry.kind == "card")
    assert sum(len(chips(rows, (family.id,))) for family in FAMILIES) == len(every)
    assert chips([], SERVERS) == []


def test_a_dense_peak_goes_before_one_of_unstated_sparsity() -> None:
    dense, fp16, unstated = (
        peak_id("bf16", "tensor", "dense"),
        peak_id("fp16", "tensor", "dense"),
        peak_id("bf16", "tensor", "unstated"),
    )
    both: Cells = {unstated: cell(4e14), fp16: cell(1e14)}
    assert peak16(both) == cell(1e14) and peak16(both | {dense: cell(2e14)}) == cell(2e14)
    assert peak16({unstated: cell(4e14)}) == cell(4e14)
    assert peak16({}) is None and peak16({dense: "not published"}) is None
    assert peak16({peak_id("bf16", "tensor", "2:4"): cell(9e14)}) is None, (
        "a sparse peak stands for no chip"
    )


def test_the_ridge_needs_both() -> None:
    dense = peak_id("bf16", "tensor", "dense")
    assert ridge({dense: cell(1e15), "memory_bandwidth": cell(2e12)}) == 500
    assert ridge({dense: cell(1e15)}) is None and ridge({"memory_bandwidth": cell(2e12)}) is None
