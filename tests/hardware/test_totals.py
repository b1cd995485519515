"""What a system is shown to have: the sum of its parts, or its vendor's own total with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks import lint as checker
from flopbook.data.claims import Claim
from flopbook.data.library import load_entries, load_entry
from flopbook.export.records import entry_record
from flopbook.hardware.chip import chip
from flopbook.hardware.choice import MOST_ROUNDING, choose_total
from flopbook.hardware.key_figures import key_figures
from flopbook.hardware.parts import reason_of, settled_totals, totals
from flopbook.hardware.shown import chosen_claims
from tests.support.samples import READ, World, bib, claim

WHY = "The vendor does not say why."
TIERS = {"vendor2026a": "vendor", "press2026a": "press"}
LINK = claim("scaleup_bandwidth")


def whole(value: float, unit: str = "GB", source: str = "vendor2026a", **more: Any) -> Claim:
    given = {"per": "node", "tier": "hbm", **more}
    return Claim("memory", value, source, READ, unit, **given)


def shown(sum_of_parts: float, *printed: Claim) -> float | str | None:
    return choose_total(whole(sum_of_parts, basis="derived"), printed, TIERS).value


@pytest.mark.parametrize(
    ("printed", "sum_of_parts", "expected"),
    [
        (1400.0, 1584.0, 1400.0),  # nvidia2026verarubin against 72 x 22 TB/s
        (216.0, 259.2, 216.0),  # the same page against 72 x 3.6 TB/s
        (1.5, 1.536, 1.536),  # two digits of the same number
        (6.0, 5.76, 5.76),  # one digit
        (3.0, 2.456, 3.0),  # no rounding leads there
        (234.9, 235.008, 235.008),  # what is added up is rounded, too
        (1000.0, 1400.0, 1000.0),  # trailing zeros hide no such distance
    ],
)
def test_the_vendors_total_wins_beyond_rounding(
    printed: float, sum_of_parts: float, expected: float
) -> None:
    assert shown(sum_of_parts, whole(printed)) == expected


@given(st.floats(1, 1e6), st.integers(1, 6))
def test_a_total_printed_to_some_digits_leaves_the_sum(exact: float, digits: int) -> None:
    rounded = float(f"{exact:.{digits}g}")
    distance = abs(rounded / exact - 1)
    assert shown(exact, whole(rounded)) == (exact if distance <= MOST_ROUNDING else rounded)


def test_only_the_vendor_overrules_the_sum() -> None:
    assert shown(100, whole(80, source="press2026a")) == 100
    assert shown(100, whole(80, basis="reported")) == 100
    assert shown(100, whole(80, known_error=True)) == 100
    assert shown(100, whole(80, per="pod")) == 100
    assert shown(100, whole(80, tier="lpddr")) == 100
    assert shown(100, whole(80), whole(100.2)) == 100, "one of its figures agrees"
    assert shown(100, whole(0.08, "TB")) == 0.08


def test_links_are_compared_one_way() -> None:
    links: dict[str, Any] = {"tier": "", "aggregate": "domain", "unit": "TB/s"}
    both = whole(260, direction="both", basis="derived", **links)
    assert choose_total(both, [whole(130, direction="one-way", **links)], TIERS) is both
    slower = whole(108, direction="one-way", **links)
    assert choose_total(both, [slower], TIERS) is slower
    assert choose_total(both, [whole(216, direction="unstated", **links)], TIERS) is both
    of_one = {**links, "aggregate": "chip"}
    assert choose_total(both, [whole(2, direction="both", **of_one)], TIERS) is both


def box(world: World, *claims: dict[str, Any], count: int = 8) -> None:
    world.entry("one", claim(), claim("memory"), claim("memory_bandwidth"), LINK)
    world.entry("box", *claims, kind="node", parts={"acme/one": count})


def test_every_face_shows_the_same_total_and_why(world: World) -> None:
    box(world, claim("memory", value=500, per="node", note=WHY))
    entry = load_entry("acme/box")
    assert chip("acme/box").total("memory") == 500e9
    figure = key_figures(entry)["memory"]
    assert not isinstance(figure, str) and figure.value == 500e9
    assert id(entry.claims[0]) in chosen_claims(entry)
    rows = [row for row in entry_record(entry)["claims"] if row["field"] == "memory"]
    assert [(row["value"], row["chosen"]) for row in rows] == [(500, True), (640, False)]
    assert rows[1]["note"] == WHY and rows[1]["formula"] == "8 x 80 GB"
    assert rows[1]["conflicts_with"] == "500 GB is what the vendor has for the node"


def test_a_total_that_overrules_the_sum_says_why(world: World) -> None:
    """The totals of the Vera Rubin NVL72 named the sum that they contradict, and no reason."""
    mute = claim("memory", value=500, per="node", conflicts_with="8 x 80 GB")
    box(world, mute)
    (problem,) = [one for one in checker.lint() if one.rule == "system"]
    assert problem.found == "500 GB without a reason, while 8 x 80 GB is 640 GB"
    box(world, {**mute, "note": WHY})
    assert not [one for one in checker.lint() if one.rule == "system"]
    world.write("bibliography/all.bib", bib(tier="press"))
    box(world, mute)
    assert not [one for one in checker.lint() if one.rule == "system"]


def test_a_chip_that_is_alone_has_no_links_to_add_up(world: World) -> None:
    """The DGX Station has one GPU, whose NVLink joins it to no other."""
    box(world, claim("power", per="node"), count=1)
    assert {total.field for total in totals(load_entry("acme/box"))} == {
        "peak",
        "memory",
        "memory_bandwidth",
    }


def test_the_one_gpu_of_a_dgx_station_is_alone() -> None:
    assert "scaleup_bandwidth" not in {t.field for t in totals(load_entry("nvidia/dgx-station"))}


def test_a_card_carries_the_links_of_its_chip(world: World) -> None:
    world.entry("one", claim(), LINK)
    world.entry("card", claim("power", per="card"), kind="card", parts={"acme/one": 1})
    assert "scaleup_bandwidth" in {total.field for total in totals(load_entry("acme/card"))}


def test_the_rack_of_72_rubin_has_what_nvidia_prints() -> None:
    """nvidia2026verarubin, specification table: 1,400 TB/s of HBM4, 216 TB/s of NVLink."""
    rack = chip("nvidia/vera-rubin-nvl72")
    assert rack.total("memory_bandwidth") == 1400e12
    assert rack.total("scaleup_bandwidth") == 108e12
    sums = {total.of_parts.formula for total in settled_totals(rack.entry) if not total.is_sum}
    assert {"72 x 22 TB/s", "72 x 3.6 TB/s"} <= sums


def test_the_largest_pod_of_huawei_has_the_memory_of_its_roadmap() -> None:
    """huawei2025keynote: 1,152 TB for 8,192 chips; the sum of today's 96 GB stands beside it."""
    assert chip("huawei/atlas-950-superpod").total("memory") == 1152e12


def test_every_total_that_overrules_a_sum_says_why() -> None:
    settled = [total for entry in load_entries().values() for total in settled_totals(entry)]
    overruled = [total for total in settled if not total.is_sum]
    assert len(overruled) >= 10 and all(reason_of(total.shown) for total in overruled)
